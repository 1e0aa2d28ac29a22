package kit

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// The formulas are those of harness/records.py.

var letters = strings.Repeat("abcdefghijklmnopqrstuvwxyz", 13)

func keyOf(id int) []byte {
	if id%50 == 49 {
		return nil
	}
	return fmt.Appendf(nil, "key-%d", id*31%499)
}

func valueOf(id int) []byte {
	first := id % 26
	return fmt.Appendf(nil, "value-%d-%s", id, letters[first:first+(id*7919+seed)%300])
}

func headersOf(id int, codec string) []Header {
	return []Header{
		{"id", []byte(strconv.Itoa(id))},
		{"codec", []byte(codec)},
		{"same", []byte("first")},
		{"same", []byte("second")},
		{"empty", []byte{}},
		{"null", nil},
	}
}

func recordOf(id int, codec string) Record {
	return Record{Partition: Any, Key: keyOf(id), Value: valueOf(id), Headers: headersOf(id, codec)}
}

// same tells null and empty apart, where the client does.
func (k *Kit) same(read, sent []byte) bool {
	return ((read == nil) == (sent == nil) || k.limits.ReadsEmptyAsNil) && bytes.Equal(read, sent)
}

// check returns the id of a record whose key, value and headers are those that this id must have.
func (k *Kit) check(record Record, codec string) int {
	parts := strings.SplitN(string(record.Value), "-", 3)
	require(len(parts) == 3, "not one of our values: %q", record.Value)
	id, _ := strconv.Atoi(parts[1])
	require(k.same(record.Key, keyOf(id)), "record %d has the key %q", id, record.Key)
	require(bytes.Equal(record.Value, valueOf(id)), "record %d has the value %q", id, record.Value)
	require(!record.Time.IsZero() && record.Time.UnixMilli() > 0, "record %d has no timestamp", id)
	wanted := headersOf(id, codec)
	require(len(record.Headers) == len(wanted), "record %d has the headers %q", id, record.Headers)
	for i, header := range record.Headers {
		require(header.Key == wanted[i].Key && k.same(header.Value, wanted[i].Value), "record %d has the header %s=%#v", id, header.Key, header.Value)
	}
	return id
}

// places is a file of lines `partition offset id`, and what went wrong first while it was written. Any goroutine.
type places struct {
	mu     sync.Mutex
	file   *os.File
	lines  *bufio.Writer
	failed error
	count  int
}

func newPlaces(name string) *places {
	file := get(os.Create(filepath.Join(out, name+".txt")))
	return &places{file: file, lines: bufio.NewWriter(file)}
}

// add returns how many lines there are.
func (p *places) add(partition int32, offset int64, id int, err error) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		if p.failed == nil {
			p.failed = fmt.Errorf("record %d was not sent: %w", id, err)
		}
		return p.count
	}
	fmt.Fprintln(p.lines, partition, offset, id)
	p.count++
	return p.count
}

func (p *places) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	must(p.failed)
	must(p.lines.Flush())
	must(p.file.Close())
}

// readAll calls each with every record from the topic's start to the ends seen now.
func (k *Kit) readAll(topic string, partitions int, each func(Record)) {
	var ranges []Range
	for partition := range int32(partitions) {
		from := get(k.Offset(topic, partition, Earliest))
		to := get(k.Offset(topic, partition, Latest))
		if to > from {
			ranges = append(ranges, Range{partition, from, to})
		}
	}
	must(k.Read(topic, ranges, each))
}

func (k *Kit) createTopic(topic string, partitions int, configs map[string]string) {
	must(k.CreateTopic(topic, partitions, configs, false))
	// Kafka's controller has answered, but its broker may learn of the topic a moment later.
	until(fmt.Sprintf("%s has %d partitions", topic, partitions), func() bool { return get(k.PartitionsOf(topic)) == partitions })
}
