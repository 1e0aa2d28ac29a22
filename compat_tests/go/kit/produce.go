package kit

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
)

const (
	crashWindow = 10_000
	ackStep     = 500
)

func (k *Kit) metadata() {
	cluster := get(k.Cluster())
	require(slices.Equal(cluster.Brokers, []string{Broker}), "brokers %v", cluster.Brokers)
	require(cluster.HasController, "no controller")
	require(get(k.PartitionsOf("not-there")) == 0, "a topic that is not there has partitions")
}

func (k *Kit) codec(codec string) {
	topic := "codec-" + codec
	k.createTopic(topic, Partitions, nil)
	producer := get(k.Producer(ProducerConfig{Topic: topic, Codec: codec, Idempotent: true, Acks: -1}))
	acks := newPlaces("acks-" + topic)
	for id := range count {
		producer.Send(recordOf(id, codec), func(partition int32, offset int64, err error) { acks.add(partition, offset, id, err) })
	}
	must(producer.Close())
	acks.close()
	partitionOf := map[string]int32{}
	k.readBack(topic, codec, func(record Record) {
		if record.Key != nil {
			known, found := partitionOf[string(record.Key)]
			require(!found || known == record.Partition, "key %q is in two partitions", record.Key)
			partitionOf[string(record.Key)] = record.Partition
		}
	})
}

// readBack writes the reads file of a topic and checks each record.
func (k *Kit) readBack(topic, codec string, each func(Record)) {
	reads := newPlaces("reads-" + topic)
	seen := map[int32]bool{}
	k.readAll(topic, Partitions, func(record Record) {
		reads.add(record.Partition, record.Offset, k.check(record, codec), nil)
		seen[record.Partition] = true
		each(record)
	})
	reads.close()
	require(len(seen) == Partitions, "the keys do not reach all partitions")
}

// emptyAndNullValues: a tombstone, an empty value and an empty key stay what they are.
func (k *Kit) emptyAndNullValues() {
	k.createTopic("nulls", 1, nil)
	sent := [][2][]byte{{[]byte("key"), nil}, {[]byte("key"), {}}, {{}, []byte("value")}, {nil, []byte("value")}}
	producer := get(k.Producer(ProducerConfig{Topic: "nulls", Idempotent: true, Acks: -1}))
	acks := newPlaces("nulls")
	for id, pair := range sent {
		producer.Send(Record{Partition: 0, Key: pair[0], Value: pair[1]}, func(partition int32, offset int64, err error) { acks.add(partition, offset, id, err) })
	}
	must(producer.Close())
	acks.close()
	at := 0
	k.readAll("nulls", 1, func(record Record) {
		require(k.same(record.Key, sent[at][0]) && k.same(record.Value, sent[at][1]), "record %d is %#v=%#v", at, record.Key, record.Value)
		at++
	})
	require(at == len(sent), "%d records", at)
}

// plainAcks: acks=1 and acks=0 (which is never answered) bring everything too.
func (k *Kit) plainAcks(acks int) {
	topic := fmt.Sprintf("acks-%d", acks)
	k.createTopic(topic, 1, nil)
	k.produceNumbers(ProducerConfig{Topic: topic, Acks: acks}, 0, 500, 1)
	// With acks=0 the client is done when the bytes are in its socket; the broker may still be reading them.
	until("all 500 are there", func() bool { return get(k.Offset(topic, 0, Latest)) == 500 })
	at := 0
	k.readAll(topic, 1, func(record Record) {
		require(numberIn(record) == at, "record %d is %q", at, record.Value)
		at++
	})
}

func numberIn(record Record) int { return get(strconv.Atoi(string(record.Value))) }

// produceNumbers sends the numbers as values, each to the partition that is its remainder.
func (k *Kit) produceNumbers(config ProducerConfig, first, count, partitions int) {
	producer := get(k.Producer(config))
	acks := newPlaces("numbers")
	for number := first; number < first+count; number++ {
		record := Record{Partition: int32(number % partitions), Value: []byte(strconv.Itoa(number))}
		producer.Send(record, func(partition int32, offset int64, err error) { acks.add(partition, offset, number, err) })
	}
	must(producer.Close())
	acks.close()
}

// crash is the producer of the crash run, and the reading back.
func (k *Kit) crash() {
	total, gate := number("WEIR_CRASH_TOTAL"), number("WEIR_CRASH_GATE")
	k.createTopic("crash", Partitions, nil)
	producer := get(k.Producer(ProducerConfig{Topic: "crash", Codec: "lz4", Idempotent: true, Acks: -1}))
	acks := newPlaces("acks-crash")
	window := make(chan struct{}, crashWindow)
	for id := range total {
		if id == gate {
			line := get(bufio.NewReader(os.Stdin).ReadString('\n'))
			require(line == "KILLED\n", "the harness said %q", line)
		}
		window <- struct{}{}
		producer.Send(recordOf(id, "lz4"), func(partition int32, offset int64, err error) {
			<-window
			if told := acks.add(partition, offset, id, err); told%ackStep == 0 {
				fmt.Println("ACKED", told)
			}
		})
	}
	must(producer.Close())
	acks.close()
	k.readBack("crash", "lz4", func(Record) {})
}
