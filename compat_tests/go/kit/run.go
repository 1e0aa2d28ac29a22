package kit

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	waitTime  = 60 * time.Second
	pauseTime = 20 * time.Millisecond
)

var (
	Broker = os.Getenv("WEIR_BROKER")
	out    = os.Getenv("WEIR_OUT")
	seed   = number("WEIR_SEED")
	count  = number("WEIR_COUNT")
)

func number(name string) int {
	value, _ := strconv.Atoi(os.Getenv(name))
	return value
}

type test struct {
	name string
	body func()
}

// wrong is what a test has to say when it fails; any other panic is shown with its place.
type wrong string

func require(condition bool, format string, arguments ...any) {
	if !condition {
		panic(wrong(fmt.Sprintf(format, arguments...)))
	}
}

func must(err error) {
	if err != nil {
		panic(wrong(fmt.Sprintf("%v at %s", err, caller())))
	}
}

func get[T any](value T, err error) T {
	must(err)
	return value
}

// caller names the line of the tests that called must or get.
func caller() string {
	lines := strings.Split(string(debug.Stack()), "\n")
	for i := 1; i < len(lines); i++ {
		if strings.Contains(lines[i], "kit/") && !strings.Contains(lines[i], "kit/run.go") {
			return filepath.Base(strings.Fields(lines[i])[0])
		}
	}
	return "?"
}

// until repeats work until the condition holds; too late is a failure that says the sentence.
func until(sentence string, condition func() bool, work ...func()) {
	for end := time.Now().Add(waitTime); !condition(); {
		require(time.Now().Before(end), "not within %v: %s", waitTime, sentence)
		if len(work) == 0 {
			time.Sleep(pauseTime) // a poll of the broker, bounded by the deadline
		}
		for _, step := range work {
			step()
		}
	}
}

func (t test) run() (ok bool) {
	start := time.Now()
	defer func() {
		detail := ""
		if failed := recover(); failed != nil {
			if _, known := failed.(wrong); !known {
				failed = fmt.Sprintf("%v %s", failed, debug.Stack())
			}
			detail = " " + strings.ReplaceAll(fmt.Sprint(failed), "\n", " | ")
		}
		ok = detail == ""
		word := map[bool]string{true: "PASS", false: "FAIL"}[ok]
		fmt.Printf("TEST %s %s %.1f%s\n", t.name, word, time.Since(start).Seconds(), detail)
	}()
	t.body()
	return
}

// Limits is what a client does not have.
type Limits struct {
	Without         []string // tests that it cannot run
	ReadsEmptyAsNil bool     // it reads null and empty keys, values and headers alike
}

// Kit is the tests, over one client.
type Kit struct {
	Client
	limits Limits
}

// Main runs all tests that the client can run, or the crash run, as the first argument says.
func Main(client Client, limits Limits) {
	kit := &Kit{client, limits}
	tests := kit.tests()
	if os.Args[1] == "crash" {
		tests = []test{{"crash_client", kit.crash}}
	}
	code := 0
	for _, test := range tests {
		if !slices.Contains(limits.Without, test.name) && !test.run() {
			code = 1
		}
	}
	os.Exit(code)
}

func (k *Kit) tests() []test {
	all := []test{{"metadata", k.metadata}}
	for _, codec := range k.Codecs() {
		all = append(all, test{"codec_" + codec, func() { k.codec(codec) }})
	}
	return append(all,
		test{"empty_and_null_values", k.emptyAndNullValues},
		test{"plain_acks_0", func() { k.plainAcks(0) }},
		test{"plain_acks_1", func() { k.plainAcks(1) }},
		test{"group_join_share_leave_resume", func() { k.joinShareLeaveResume(false) }},
		test{"group_cooperative_members_share", func() { k.joinShareLeaveResume(true) }},
		test{"group_committed_positions_are_resumed", k.committedPositionsAreResumed},
		test{"group_static_member_keeps_its_partitions", k.staticMemberKeepsItsPartitions},
		test{"admin_topics", k.adminTopics},
		test{"admin_configs", k.adminConfigs},
		test{"admin_groups", k.adminGroups},
		test{"admin_group_offset_delete", k.adminGroupOffsetDelete},
		test{"admin_offsets", k.adminOffsets},
		test{"admin_delete_records", k.adminDeleteRecords},
	)
}
