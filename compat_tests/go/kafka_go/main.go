// The kafka-go client under test: Writer, Reader for single partitions, ConsumerGroup, and Client for the admin calls.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/segmentio/kafka-go"

	"weir/compat/kit"
)

var (
	background = context.Background()
	codecs     = map[string]kafka.Compression{"gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd}
	address    = kafka.TCP(kit.Broker)
)

type client struct{ *kafka.Client }

func main() {
	kit.Main(client{&kafka.Client{Addr: address, Timeout: time.Minute}}, kit.Limits{
		Without:         []string{"group_cooperative_members_share", "group_static_member_keeps_its_partitions", "admin_delete_records"},
		ReadsEmptyAsNil: true,
	})
}

func (client) Codecs() []string { return []string{"none", "gzip", "snappy", "lz4", "zstd"} }

func (client) Code(err error) int {
	var known kafka.Error
	errors.As(err, &known)
	return int(known)
}

type producer struct{ *kafka.Writer }

// ticket goes with a message to its completion.
type ticket struct {
	partition int32
	done      func(int32, int64, error)
}

func (client) Producer(config kit.ProducerConfig) (kit.Producer, error) {
	keyed := kafka.Murmur2Balancer{}
	return producer{&kafka.Writer{
		Addr: address, Topic: config.Topic, Compression: codecs[config.Codec], RequiredAcks: kafka.RequiredAcks(config.Acks),
		Async: true, BatchSize: 1_000, BatchTimeout: 5 * time.Millisecond, MaxAttempts: 100,
		Balancer: kafka.BalancerFunc(func(message kafka.Message, partitions ...int) int {
			if wanted := message.WriterData.(ticket).partition; wanted != kit.Any {
				return int(wanted)
			}
			return keyed.Balance(message, partitions...)
		}),
		Completion: func(messages []kafka.Message, err error) {
			for _, message := range messages {
				message.WriterData.(ticket).done(int32(message.Partition), message.Offset, err)
			}
		},
	}}, nil
}

func (p producer) Send(record kit.Record, done func(int32, int64, error)) {
	message := kafka.Message{Key: record.Key, Value: record.Value, WriterData: ticket{record.Partition, done}}
	for _, header := range record.Headers {
		message.Headers = append(message.Headers, kafka.Header(header))
	}
	if err := p.WriteMessages(background, message); err != nil {
		done(kit.Any, -1, err)
	}
}

func fromMessage(message kafka.Message) kit.Record {
	record := kit.Record{Partition: int32(message.Partition), Offset: message.Offset, Key: message.Key, Value: message.Value, Time: message.Time}
	for _, header := range message.Headers {
		record.Headers = append(record.Headers, kit.Header(header))
	}
	return record
}

func newReader(topic string, partition int, from int64) *kafka.Reader {
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{kit.Broker}, Topic: topic, Partition: partition, MaxWait: 50 * time.Millisecond})
	if err := reader.SetOffset(from); err != nil {
		panic(err)
	}
	return reader
}

func (client) Read(topic string, ranges []kit.Range, each func(kit.Record)) error {
	limited, stop := context.WithTimeout(background, time.Minute)
	defer stop()
	for _, part := range ranges {
		reader := newReader(topic, int(part.Partition), part.From)
		for at := part.From; at < part.To; {
			message, err := reader.ReadMessage(limited)
			if err != nil {
				return fmt.Errorf("partition %d: read up to %d of %d: %w", part.Partition, at, part.To, err)
			}
			at = message.Offset + 1
			each(fromMessage(message))
		}
		if err := reader.Close(); err != nil {
			return err
		}
	}
	return nil
}

// member follows the generations of a ConsumerGroup. (The Reader of a group does not tell its partitions.)
type member struct {
	*kit.Feed
	group      *kafka.ConsumerGroup
	topic      string
	generation chan *kafka.Generation // holds the generation while there is one
	ended      chan struct{}
}

func (client) Join(wanted kit.MemberConfig) (kit.Member, error) {
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: wanted.Group, Brokers: []string{kit.Broker}, Topics: []string{wanted.Topic}, HeartbeatInterval: 200 * time.Millisecond,
		JoinGroupBackoff: 200 * time.Millisecond, Dialer: &kafka.Dialer{ClientID: wanted.ClientID, Timeout: 10 * time.Second},
	})
	if err != nil {
		return nil, err
	}
	m := &member{kit.NewFeed(), group, wanted.Topic, make(chan *kafka.Generation, 1), make(chan struct{})}
	go m.follow()
	return m, nil
}

func (m *member) follow() {
	defer close(m.ended)
	for {
		generation, err := m.group.Next(background)
		if errors.Is(err, kafka.ErrGroupClosed) {
			return
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "group:", err)
			continue
		}
		m.generation <- generation
		generation.Start(func(ended context.Context) {
			<-ended.Done()
			<-m.generation
		})
		for _, part := range generation.Assignments[m.topic] {
			m.Gained(int32(part.ID))
			generation.Start(func(ended context.Context) { m.read(ended, generation, part) })
		}
	}
}

func (m *member) read(ended context.Context, generation *kafka.Generation, part kafka.PartitionAssignment) {
	reader := newReader(m.topic, part.ID, part.Offset)
	defer reader.Close()
	for ended.Err() == nil {
		message, err := reader.ReadMessage(ended)
		if err == nil {
			m.Put(ended, fromMessage(message))
		}
	}
	if next, moved := m.Revoke(int32(part.ID)); moved {
		if err := m.commit(generation, map[int32]int64{int32(part.ID): next}); err != nil {
			fmt.Fprintln(os.Stderr, "commit:", err)
		}
	}
}

func (m *member) commit(generation *kafka.Generation, next map[int32]int64) error {
	offsets := map[int]int64{}
	for partition, offset := range next {
		offsets[int(partition)] = offset
	}
	return generation.CommitOffsets(map[string]map[int]int64{m.topic: offsets})
}

func (m *member) Commit() error {
	generation := <-m.generation
	defer func() { m.generation <- generation }()
	return m.commit(generation, m.Take())
}

func (m *member) Leave() error {
	err := m.group.Close()
	<-m.ended
	return err
}
