// The sarama client under test: async producer, consumer group with a handler, cluster admin.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"weir/compat/kit"
)

var codecs = map[string]sarama.CompressionCodec{
	"": sarama.CompressionNone, "none": sarama.CompressionNone, "gzip": sarama.CompressionGZIP,
	"snappy": sarama.CompressionSnappy, "lz4": sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD,
}

type client struct{ sarama.ClusterAdmin }

func main() {
	admin, err := sarama.NewClusterAdmin([]string{kit.Broker}, newConfig())
	if err != nil {
		panic(err)
	}
	kit.Main(client{admin}, kit.Limits{})
}

func newConfig() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.MaxVersion
	config.Consumer.MaxWaitTime = 50 * time.Millisecond // what the end of a reader waits for
	return config
}

func (client) Codecs() []string { return []string{"none", "gzip", "snappy", "lz4", "zstd"} }

func (client) Code(err error) int {
	var known sarama.KError
	errors.As(err, &known)
	return int(known)
}

type producer struct {
	sarama.AsyncProducer
	topic   string
	waiting *sync.WaitGroup // for answers
}

// partitioner is the client's default for records that name no partition.
type partitioner struct{ sarama.Partitioner }

func (p partitioner) Partition(message *sarama.ProducerMessage, partitions int32) (int32, error) {
	if message.Partition >= 0 {
		return message.Partition, nil
	}
	return p.Partitioner.Partition(message, partitions)
}

func (client) Producer(wanted kit.ProducerConfig) (kit.Producer, error) {
	config := newConfig()
	config.Producer.Compression = codecs[wanted.Codec]
	config.Producer.Return.Successes = true
	config.Producer.Partitioner = func(topic string) sarama.Partitioner { return partitioner{sarama.NewHashPartitioner(topic)} }
	config.Producer.RequiredAcks = sarama.RequiredAcks(wanted.Acks)
	config.Producer.Idempotent = wanted.Idempotent
	config.Net.MaxOpenRequests = 1
	// By default it gives up 300 ms after the first failure, or when it finds no leader within 750 ms.
	config.Producer.Retry.Max = 300
	config.Metadata.Retry.Max = 300
	made, err := sarama.NewAsyncProducer([]string{kit.Broker}, config)
	if err != nil {
		return nil, err
	}
	p := producer{made, wanted.Topic, &sync.WaitGroup{}}
	go func() {
		for told := range made.Successes() {
			p.answered(told, told.Partition, told.Offset, nil)
		}
	}()
	go func() {
		for failed := range made.Errors() {
			p.answered(failed.Msg, kit.Any, -1, failed.Err)
		}
	}()
	return p, nil
}

func (p producer) answered(message *sarama.ProducerMessage, partition int32, offset int64, err error) {
	message.Metadata.(func(int32, int64, error))(partition, offset, err)
	p.waiting.Done()
}

func encoder(bytes []byte) sarama.Encoder {
	if bytes == nil {
		return nil
	}
	return sarama.ByteEncoder(bytes)
}

func (p producer) Send(record kit.Record, done func(int32, int64, error)) {
	message := &sarama.ProducerMessage{
		Topic: p.topic, Partition: record.Partition, Key: encoder(record.Key), Value: encoder(record.Value), Metadata: done,
	}
	for _, header := range record.Headers {
		message.Headers = append(message.Headers, sarama.RecordHeader{Key: []byte(header.Key), Value: header.Value})
	}
	p.waiting.Add(1)
	p.Input() <- message
}

// Close waits first: a record that must be sent again while the producer closes is given up.
func (p producer) Close() error {
	p.waiting.Wait()
	p.AsyncClose()
	return nil
}

func fromMessage(message *sarama.ConsumerMessage) kit.Record {
	record := kit.Record{Partition: message.Partition, Offset: message.Offset, Key: message.Key, Value: message.Value, Time: message.Timestamp}
	for _, header := range message.Headers {
		record.Headers = append(record.Headers, kit.Header{Key: string(header.Key), Value: header.Value})
	}
	return record
}

func (client) Read(topic string, ranges []kit.Range, each func(kit.Record)) error {
	consumer, err := sarama.NewConsumer([]string{kit.Broker}, newConfig())
	if err != nil {
		return err
	}
	defer consumer.Close()
	limit := time.After(time.Minute)
	for _, part := range ranges {
		reader, err := consumer.ConsumePartition(topic, part.Partition, part.From)
		if err != nil {
			return err
		}
		for at := part.From; at < part.To; {
			select {
			case message := <-reader.Messages():
				at = message.Offset + 1
				each(fromMessage(message))
			case <-limit:
				return fmt.Errorf("partition %d: read up to %d of %d", part.Partition, at, part.To)
			}
		}
		reader.AsyncClose()
	}
	return nil
}

// member is the handler too. The client ends each claim before it gives the partition away.
type member struct {
	*kit.Feed
	group   sarama.ConsumerGroup
	topic   string
	session chan sarama.ConsumerGroupSession // holds the session while there is one
	stop    context.CancelFunc
	ended   chan struct{}
}

func (client) Join(wanted kit.MemberConfig) (kit.Member, error) {
	config := newConfig()
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.Return.Errors = true
	config.Consumer.Group.Heartbeat.Interval = 200 * time.Millisecond
	config.Consumer.Group.Rebalance.Retry.Backoff = 200 * time.Millisecond
	config.Consumer.Group.Session.Timeout = 30 * time.Second
	config.Consumer.Group.InstanceId = wanted.InstanceID
	if wanted.Cooperative {
		config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyCooperativeSticky()}
	}
	if wanted.ClientID != "" {
		config.ClientID = wanted.ClientID
	}
	group, err := sarama.NewConsumerGroup([]string{kit.Broker}, wanted.Group, config)
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(context.Background())
	m := &member{kit.NewFeed(), group, wanted.Topic, make(chan sarama.ConsumerGroupSession, 1), stop, make(chan struct{})}
	go func() {
		defer close(m.ended)
		for running.Err() == nil {
			if err := group.Consume(running, []string{wanted.Topic}, m); err != nil {
				fmt.Fprintln(os.Stderr, "consume:", err)
				return
			}
		}
	}()
	go func() {
		for err := range group.Errors() {
			fmt.Fprintln(os.Stderr, "group:", err)
		}
	}()
	return m, nil
}

func (m *member) Setup(session sarama.ConsumerGroupSession) error {
	m.session <- session
	return nil
}

func (m *member) Cleanup(sarama.ConsumerGroupSession) error {
	<-m.session
	return nil
}

func (m *member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	m.Gained(claim.Partition())
	for message := range claim.Messages() {
		if !m.Put(session.Context(), fromMessage(message)) {
			break
		}
	}
	if next, moved := m.Revoke(claim.Partition()); moved {
		session.MarkOffset(m.topic, claim.Partition(), next, "")
		session.Commit()
	}
	return nil
}

func (m *member) Commit() error {
	session := <-m.session
	defer func() { m.session <- session }()
	for partition, next := range m.Take() {
		session.MarkOffset(m.topic, partition, next, "")
	}
	session.Commit()
	return nil
}

func (m *member) Leave() error {
	m.stop()
	<-m.ended
	return m.group.Close()
}
