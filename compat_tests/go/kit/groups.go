package kit

import (
	"fmt"
	"maps"
	"slices"
)

const third = 3_000

// reader is a member and what it has read.
type reader struct {
	Member
	reads []Record
}

func (k *Kit) join(config MemberConfig) *reader { return &reader{Member: get(k.Join(config))} }

func (r *reader) poll() { r.reads = append(r.reads, get(r.Poll())...) }

func (r *reader) leave() { must(r.Leave()) }

func share(one, other *reader) bool {
	return len(one.Assigned()) == Partitions/2 && len(other.Assigned()) == Partitions/2
}

// joinShareLeaveResume: three members in turn read three thirds; nothing is read twice or left out.
func (k *Kit) joinShareLeaveResume(cooperative bool) {
	name := map[bool]string{false: "grouped", true: "cooperative"}[cooperative]
	config := MemberConfig{Group: name, Topic: name, Cooperative: cooperative}
	numbers := ProducerConfig{Topic: name, Idempotent: true, Acks: -1}
	k.createTopic(name, Partitions, nil)
	k.produceNumbers(numbers, 0, third, Partitions)
	first := k.join(config)
	// It stops in the middle: what it has read is committed, what it has not is for the next members.
	until("the first member has read 2,000", func() bool { return len(first.reads) >= 2_000 }, first.poll)
	first.leave()
	second, last := k.join(config), k.join(config)
	total := func() int { return len(first.reads) + len(second.reads) + len(last.reads) }
	until("two members share 3 and 3", func() bool { return share(second, last) }, second.poll, last.poll)
	k.produceNumbers(numbers, third, third, Partitions)
	until("two thirds are read", func() bool { return total() >= 2*third }, second.poll, last.poll)
	require(len(second.reads) > 0 && len(last.reads) > 0, "one of the two members read nothing")
	last.leave()
	until("the member that stays has all", func() bool { return len(second.Assigned()) == Partitions }, second.poll)
	k.produceNumbers(numbers, 2*third, third, Partitions)
	until("all is read", func() bool { return total() >= 3*third }, second.poll)
	second.leave()
	times := make([]int, 3*third)
	for _, record := range slices.Concat(first.reads, second.reads, last.reads) {
		times[numberIn(record)]++
	}
	for number, n := range times {
		require(n == 1, "%d was read %d times; %d reads of %d", number, n, total(), 3*third)
	}
}

// committedPositionsAreResumed commits behind what was read, in some partitions only: the next member begins there.
func (k *Kit) committedPositionsAreResumed() {
	config := MemberConfig{Group: "resuming", Topic: "resumed"}
	k.createTopic("resumed", Partitions, nil)
	k.produceNumbers(ProducerConfig{Topic: "resumed", Acks: -1}, 0, 600, Partitions)
	first := k.join(config)
	until("all is read", func() bool { return len(first.reads) == 600 }, first.poll)
	wanted := map[int32]int64{0: 7, 1: 50, 2: 100}
	first.Set(wanted)
	must(first.Commit())
	first.leave()
	told := get(k.GroupOffsets("resuming", "resumed"))
	require(maps.Equal(told, wanted), "committed %v", told)
	next := k.join(config)
	const rest = 600 - 7 - 50 - 100
	until("the rest is read", func() bool { return len(next.reads) >= rest }, next.poll)
	starts := map[int32]int64{}
	for _, record := range next.reads {
		if at, seen := starts[record.Partition]; !seen || record.Offset < at {
			starts[record.Partition] = record.Offset
		}
	}
	require(maps.Equal(starts, map[int32]int64{0: 7, 1: 50, 3: 0, 4: 0, 5: 0}), "begins at %v", starts)
	require(len(next.reads) == rest, "%d reads", len(next.reads))
	next.leave()
}

// staticMemberKeepsItsPartitions: one that comes back within its session gets the same share without a rebalance.
func (k *Kit) staticMemberKeepsItsPartitions() {
	k.createTopic("static", Partitions, nil)
	join := func(name string) *reader {
		return k.join(MemberConfig{Group: "static-group", Topic: "static", InstanceID: name})
	}
	one, two := join("one"), join("two")
	until("both have 3", func() bool { return share(one, two) }, one.poll, two.poll)
	before := fmt.Sprint(one.Assigned(), two.Assigned())
	two.leave()
	again := join("two")
	until("it has its partitions again", func() bool { return fmt.Sprint(one.Assigned(), again.Assigned()) == before }, again.poll)
	one.leave()
	again.leave()
}
