package kit

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Position knows what a member has handed out and not committed. Any goroutine.
type Position struct {
	mu       sync.Mutex
	next     map[int32]int64
	assigned []int32
}

func (p *Position) Moved(partition int32, next int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == nil {
		p.next = map[int32]int64{}
	}
	p.next[partition] = next
}

// Take returns the offsets to commit, and forgets them.
func (p *Position) Take() map[int32]int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.next
	p.next = nil
	return next
}

func (p *Position) Set(next map[int32]int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = next
}

func (p *Position) Assigned() []int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(slices.Values(p.assigned))
}

func (p *Position) Gained(partitions ...int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.assigned = append(p.assigned, partitions...)
}

func (p *Position) Lost(partitions ...int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.assigned = slices.DeleteFunc(p.assigned, func(one int32) bool { return slices.Contains(partitions, one) })
}

// Feed is the Position and the records of a member whose client pushes them. What nobody has polled was not handed out.
type Feed struct {
	Position
	turn    sync.Mutex // polling, or being revoked
	records chan Record
	kept    []Record // came out of the channel while another partition was revoked
}

const (
	feedRoom = 100
	pollTime = 50 * time.Millisecond
)

func NewFeed() *Feed { return &Feed{records: make(chan Record, feedRoom)} }

// Put waits for room; false when the context ended first.
func (f *Feed) Put(ctx context.Context, record Record) bool {
	select {
	case f.records <- record:
		return true
	case <-ctx.Done():
		return false
	}
}

func (f *Feed) Poll() ([]Record, error) {
	f.turn.Lock()
	defer f.turn.Unlock()
	got := f.kept
	f.kept = nil
	for _, record := range got {
		f.Moved(record.Partition, record.Offset+1)
	}
	for timeout := time.After(pollTime); len(got) == 0 || len(f.records) > 0; {
		select {
		case record := <-f.records:
			f.Moved(record.Partition, record.Offset+1)
			got = append(got, record)
		case <-timeout:
			return got, nil
		}
	}
	return got, nil
}

// Revoke ends the assignment of a partition, after its last Put; it returns the offset to commit, if there is one.
func (f *Feed) Revoke(partition int32) (next int64, moved bool) {
	f.turn.Lock()
	defer f.turn.Unlock()
	for range len(f.records) {
		f.kept = append(f.kept, <-f.records)
	}
	f.kept = slices.DeleteFunc(f.kept, func(one Record) bool { return one.Partition == partition })
	f.Lost(partition)
	f.mu.Lock()
	defer f.mu.Unlock()
	next, moved = f.next[partition]
	delete(f.next, partition)
	return next, moved
}
