// Package kit holds the tests that every Go client runs, and what a client must offer for them. The line protocol with the
// harness, and the settings in the environment, are told in harness/program.py.
package kit

import "time"

// Partitions is the number of partitions of the topics here.
const Partitions = 6

// Any lets the client choose the partition by its own partitioner.
const Any = int32(-1)

// Offset asks for these two besides times in milliseconds, as on the wire.
const (
	Latest   = int64(-1)
	Earliest = int64(-2)
)

type Header struct {
	Key   string
	Value []byte
}

// Record is what is sent and read. Partition is Any where the client shall choose.
type Record struct {
	Partition  int32
	Offset     int64
	Key, Value []byte
	Headers    []Header
	Time       time.Time
}

// Client is one client library, as the tests use it. One broker address, shared by all that it makes.
type Client interface {
	Codecs() []string
	Code(err error) int // Kafka's error code inside an error of this client; 0 if there is none
	Producer(config ProducerConfig) (Producer, error)
	// Read calls each with every record of the ranges, in the order of each partition.
	Read(topic string, ranges []Range, each func(Record)) error
	Join(config MemberConfig) (Member, error)

	Cluster() (Cluster, error)
	PartitionsOf(topic string) (int, error) // 0 if there is no such topic
	CreateTopic(topic string, partitions int, configs map[string]string, validateOnly bool) error
	AddPartitions(topic string, total int) error
	DeleteTopic(topic string) error
	TopicConfigs(topic string) (map[string]Config, error)
	AlterTopic(topic string, changes []Change) error
	Offset(topic string, partition int32, at int64) (int64, error)
	DeleteRecords(topic string, partition int32, before int64) error
	Groups() ([]string, error)
	DescribeGroup(group string) (Group, error)
	GroupOffsets(group, topic string) (map[int32]int64, error)
	SetGroupOffset(group, topic string, partition int32, offset int64) error
	DeleteGroupOffset(group, topic string, partition int32) error
	DeleteGroup(group string) error
}

type ProducerConfig struct {
	Topic      string
	Codec      string // empty is none
	Idempotent bool   // where the client has it
	Acks       int    // 0, 1 or -1; only -1 goes with Idempotent
}

// Producer sends to one topic. Records of one partition are sent in the order of Send.
type Producer interface {
	// Send may wait for room; done is called once, from any goroutine.
	Send(record Record, done func(partition int32, offset int64, err error))
	// Close returns when all is sent and answered.
	Close() error
}

// Range is the part of a partition from one offset to before another.
type Range struct {
	Partition int32
	From, To  int64
}

type MemberConfig struct {
	Group, Topic, ClientID string
	InstanceID             string // a static member, where the client has it
	Cooperative            bool   // keeps what stays its own, where the client has it
}

// Member reads as part of a group from the start of the topic. It commits what it has handed out when partitions are taken
// from it and when it leaves. One goroutine calls it.
type Member interface {
	Assigned() []int32
	Poll() ([]Record, error) // waits 50 ms at most for the first record
	Commit() error
	Leave() error
	Set(next map[int32]int64) // commits these instead of what was handed out
}

type Cluster struct {
	Brokers       []string
	HasController bool
}

type Config struct {
	Value     string
	IsDefault bool
}

// Change is one step of IncrementalAlterConfigs: set, delete, append or subtract.
type Change struct{ Name, Op, Value string }

type Group struct {
	State   string
	Members []GroupMember
}

type GroupMember struct {
	ClientID   string
	Partitions []int32
}
