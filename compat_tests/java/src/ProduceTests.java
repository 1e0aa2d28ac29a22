import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.PartitionInfo;

/** Metadata, and the records with each codec: content is compared here, the order by the checker of the harness. */
final class ProduceTests {
  private ProduceTests() {}

  static void runAll() {
    Support.test("metadata", ProduceTests::metadata);
    for (String codec : new String[] {"none", "gzip", "snappy", "lz4", "zstd"}) {
      Support.test("codec_" + codec, () -> codec(codec));
    }
    Support.test("empty_and_null_values", ProduceTests::emptyAndNullValues);
    Support.test("plain_acks_0", () -> plainAcks("0"));
    Support.test("plain_acks_1", () -> plainAcks("1"));
  }

  static void metadata() {
    final DescribeClusterResult told = Support.ADMIN.describeCluster();
    Support.require(!Support.get(told.clusterId()).isEmpty(), "no cluster id");
    final var nodes = List.copyOf(Support.get(told.nodes()));
    Support.require(nodes.size() == 1 && (nodes.get(0).host() + ":" + nodes.get(0).port()).equals(Support.BROKER), "nodes " + nodes);
    Support.require(Support.get(told.controller()).id() == nodes.get(0).id(), "controller " + Support.get(told.controller()));
    Support.createTopic("metadata", 3, Map.of());
    try (KafkaProducer<byte[], byte[]> producer = Support.producer(Map.of())) {
      final List<PartitionInfo> parts = producer.partitionsFor("metadata");
      Support.require(parts.size() == 3 && parts.stream().allMatch(part -> part.leader().id() == nodes.get(0).id()), "parts " + parts);
    }
  }

  static void codec(String codec) throws Exception {
    final String topic = "codec-" + codec;
    Support.createTopic(topic);
    final List<Future<RecordMetadata>> sent = new ArrayList<>();
    final Map<String, String> config = Map.of("compression.type", codec, "linger.ms", "5");
    try (KafkaProducer<byte[], byte[]> producer = Support.producer(config)) {
      for (int id = 0; id < Support.COUNT; id++) {
        sent.add(producer.send(Records.make(topic, id, codec)));
      }
    }
    try (Writer acks = Files.newBufferedWriter(Support.OUT.resolve("acks-" + topic + ".txt"))) {
      for (int id = 0; id < Support.COUNT; id++) {
        final RecordMetadata told = sent.get(id).get();
        acks.write(Records.line(told.partition(), told.offset(), id));
      }
    }
    final Map<String, Integer> partitionOfKey = new HashMap<>();
    try (Writer reads = Files.newBufferedWriter(Support.OUT.resolve("reads-" + topic + ".txt"))) {
      Support.readAll(topic, Support.PARTITIONS, record -> {
        final int id = Records.check(record, codec);
        if (record.key() != null) {
          final Integer known = partitionOfKey.putIfAbsent(Support.text(record.key()), record.partition());
          Support.require(known == null || known == record.partition(), "key " + Support.text(record.key()) + " is in two partitions");
        }
        write(reads, Records.line(record.partition(), record.offset(), id));
      });
    }
    Support.require(new HashSet<>(partitionOfKey.values()).size() == Support.PARTITIONS, "the keys do not reach all partitions");
  }

  /** A tombstone, an empty value and an empty key stay what they are: null and empty are not the same. */
  static void emptyAndNullValues() {
    Support.createTopic("nulls", 1, Map.of());
    try (KafkaProducer<byte[], byte[]> producer = Support.producer(Map.of())) {
      producer.send(new ProducerRecord<>("nulls", Support.bytes("key"), null));
      producer.send(new ProducerRecord<>("nulls", Support.bytes("key"), new byte[0]));
      producer.send(new ProducerRecord<>("nulls", new byte[0], Support.bytes("value")));
      producer.send(new ProducerRecord<>("nulls", null, Support.bytes("value")));
    }
    final List<String> read = new ArrayList<>();
    Support.readAll("nulls", 1, record -> read.add(Support.text(record.key()) + "=" + Support.text(record.value())));
    Support.require(read.equals(List.of("key=null", "key=", "=value", "null=value")), "read " + read);
  }

  /** acks=1 and acks=0 without idempotence bring everything too. */
  static void plainAcks(String acks) {
    final String topic = "acks-" + acks;
    Support.createTopic(topic, 1, Map.of());
    try (KafkaProducer<byte[], byte[]> producer = Support.producer(Map.of("acks", acks, "enable.idempotence", "false"))) {
      for (int number = 0; number < 500; number++) {
        producer.send(new ProducerRecord<>(topic, Support.bytes(Integer.toString(number))));
      }
    }
    // With acks=0 the client is done when the bytes are in its socket; the broker may still be reading them.
    Support.until("all 500 are there", () -> Support.readAll(topic, 1).size() == 500, Support::pause);
    final List<Integer> read = Support.readAll(topic, 1).stream().map(r -> Integer.parseInt(Support.text(r.value()))).toList();
    for (int number = 0; number < 500; number++) {
      Support.require(read.get(number) == number, "record " + number + " is " + read.get(number));
    }
  }

  static void write(Writer out, String line) {
    try {
      out.write(line);
    } catch (IOException failed) {
      throw new IllegalStateException(failed);
    }
  }
}
