// The franz-go client under test: pkg/kgo, and pkg/kadm for the admin calls.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"weir/compat/kit"
)

var (
	background = context.Background()
	codecs     = map[string]kgo.CompressionCodec{
		"": kgo.NoCompression(), "none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
)

type client struct{ *kadm.Client }

func main() {
	kit.Main(client{kadm.NewClient(newClient())}, kit.Limits{})
}

// newClient asks for metadata when it needs it: by default it waits five seconds between two times, and caches as long.
func newClient(options ...kgo.Opt) *kgo.Client {
	made, err := kgo.NewClient(append(options, kgo.SeedBrokers(kit.Broker), kgo.MetadataMinAge(50*time.Millisecond))...)
	if err != nil {
		panic(err)
	}
	return made
}

func (client) Codecs() []string { return []string{"none", "gzip", "snappy", "lz4", "zstd"} }

func (client) Code(err error) int {
	var known *kerr.Error
	if errors.As(err, &known) {
		return int(known.Code)
	}
	return 0
}

type producer struct{ *kgo.Client }

func (client) Producer(config kit.ProducerConfig) (kit.Producer, error) {
	options := []kgo.Opt{
		kgo.DefaultProduceTopic(config.Topic), kgo.ProducerBatchCompression(codecs[config.Codec]),
		kgo.RecordPartitioner(partitioner{kgo.StickyKeyPartitioner(nil)}),
	}
	if !config.Idempotent {
		acks := map[int]kgo.Acks{0: kgo.NoAck(), 1: kgo.LeaderAck(), -1: kgo.AllISRAcks()}[config.Acks]
		options = append(options, kgo.DisableIdempotentWrite(), kgo.RequiredAcks(acks), kgo.MaxProduceRequestsInflightPerBroker(1))
	}
	return producer{newClient(options...)}, nil
}

// partitioner is the client's default for records that name no partition.
type partitioner struct{ kgo.Partitioner }

type topicPartitioner struct{ kgo.TopicPartitioner }

func (p partitioner) ForTopic(topic string) kgo.TopicPartitioner {
	return topicPartitioner{p.Partitioner.ForTopic(topic)}
}

func (p topicPartitioner) RequiresConsistency(record *kgo.Record) bool {
	return record.Partition >= 0 || p.TopicPartitioner.RequiresConsistency(record)
}

func (p topicPartitioner) Partition(record *kgo.Record, partitions int) int {
	if record.Partition >= 0 {
		return int(record.Partition)
	}
	return p.TopicPartitioner.Partition(record, partitions)
}

func (p producer) Send(record kit.Record, done func(int32, int64, error)) {
	sent := &kgo.Record{Partition: record.Partition, Key: record.Key, Value: record.Value}
	for _, header := range record.Headers {
		sent.Headers = append(sent.Headers, kgo.RecordHeader(header))
	}
	p.Produce(background, sent, func(told *kgo.Record, err error) { done(told.Partition, told.Offset, err) })
}

func (p producer) Close() error {
	defer p.Client.Close()
	return p.Flush(background)
}

func fromRecord(record *kgo.Record) kit.Record {
	read := kit.Record{Partition: record.Partition, Offset: record.Offset, Key: record.Key, Value: record.Value, Time: record.Timestamp}
	for _, header := range record.Headers {
		read.Headers = append(read.Headers, kit.Header(header))
	}
	return read
}

func (client) Read(topic string, ranges []kit.Range, each func(kit.Record)) error {
	left := int64(0)
	from, to := map[int32]kgo.Offset{}, map[int32]int64{}
	for _, part := range ranges {
		left += part.To - part.From
		from[part.Partition], to[part.Partition] = kgo.NewOffset().At(part.From), part.To
	}
	reader := newClient(kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}), kgo.ConsumeResetOffset(kgo.NoResetOffset()))
	defer reader.Close()
	limited, stop := context.WithTimeout(background, time.Minute)
	defer stop()
	for left > 0 {
		fetches := reader.PollRecords(limited, 1_000)
		if err := fetches.Err(); err != nil {
			return err
		}
		fetches.EachRecord(func(record *kgo.Record) {
			if record.Offset < to[record.Partition] {
				left--
				each(fromRecord(record))
			}
		})
	}
	return nil
}

// member commits within the callbacks, which the client calls between two polls only.
type member struct {
	kit.Position
	*kgo.Client
	topic string
}

func (client) Join(config kit.MemberConfig) (kit.Member, error) {
	joined := &member{topic: config.Topic}
	taken := func(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
		_ = joined.Commit() // what fails here is read twice, which the test sees
		joined.Lost(lost[config.Topic]...)
	}
	balancer := kgo.RangeBalancer()
	if config.Cooperative {
		balancer = kgo.CooperativeStickyBalancer()
	}
	options := []kgo.Opt{
		kgo.ConsumerGroup(config.Group), kgo.ConsumeTopics(config.Topic), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(),
		kgo.Balancers(balancer), kgo.HeartbeatInterval(200 * time.Millisecond), kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, added map[string][]int32) {
			joined.Gained(added[config.Topic]...)
		}),
		kgo.OnPartitionsRevoked(taken), kgo.OnPartitionsLost(taken),
	}
	if config.ClientID != "" {
		options = append(options, kgo.ClientID(config.ClientID))
	}
	if config.InstanceID != "" {
		options = append(options, kgo.InstanceID(config.InstanceID))
	}
	joined.Client = newClient(options...)
	return joined, nil
}

func (m *member) Poll() ([]kit.Record, error) {
	limited, stop := context.WithTimeout(background, 50*time.Millisecond)
	defer stop()
	fetches := m.PollRecords(limited, 200)
	defer m.AllowRebalance()
	var records []kit.Record
	fetches.EachRecord(func(record *kgo.Record) {
		m.Moved(record.Partition, record.Offset+1)
		records = append(records, fromRecord(record))
	})
	for _, failed := range fetches.Errors() {
		if !errors.Is(failed.Err, context.DeadlineExceeded) {
			return nil, failed.Err
		}
	}
	return records, nil
}

func (m *member) Commit() error {
	offsets := map[int32]kgo.EpochOffset{}
	for partition, next := range m.Take() {
		offsets[partition] = kgo.EpochOffset{Epoch: -1, Offset: next}
	}
	if len(offsets) == 0 {
		return nil
	}
	failed := make(chan error, 1)
	m.CommitOffsetsSync(background, map[string]map[int32]kgo.EpochOffset{m.topic: offsets}, commitDone(failed))
	return <-failed
}

func (m *member) Leave() error {
	err := m.Commit()
	m.CloseAllowingRebalance()
	return err
}
