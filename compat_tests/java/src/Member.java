import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** A consumer that commits all it has read when partitions are taken from it, and as it leaves. One thread. */
final class Member implements ConsumerRebalanceListener {
  record Read(int partition, long offset, int number) {}

  final KafkaConsumer<byte[], byte[]> consumer;
  final Set<Integer> assigned = new TreeSet<>();
  final Set<Integer> lost = new TreeSet<>();
  final List<Read> reads = new ArrayList<>();
  private final Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
  private final String topic;

  Member(String group, String topic, Map<String, String> config) {
    this.topic = topic;
    final Map<String, String> all = new HashMap<>(Map.of("group.id", group, "auto.offset.reset", "earliest",
        "heartbeat.interval.ms", "200", "session.timeout.ms", "6000"));
    all.putAll(config);
    consumer = Support.consumer(all);
    consumer.subscribe(List.of(topic), this);
  }

  static int total(Member... members) {
    return Stream.of(members).mapToInt(member -> member.reads.size()).sum();
  }

  void poll() {
    consumer.poll(Duration.ofMillis(50)).forEach(record -> {
      reads.add(new Read(record.partition(), record.offset(), Integer.parseInt(Support.text(record.value()))));
      next.put(new TopicPartition(topic, record.partition()), new OffsetAndMetadata(record.offset() + 1));
    });
  }

  void commit() {
    consumer.commitSync(next);
    next.clear();
  }

  /** Commits these and forgets what was read, so that leaving commits nothing more. */
  void commitInstead(Map<Integer, Long> offsets) {
    next.clear();
    offsets.forEach((partition, at) -> next.put(new TopicPartition(topic, partition), new OffsetAndMetadata(at)));
    commit();
  }

  void leave() {
    commit();
    consumer.close();
  }

  @Override
  public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
    partitions.forEach(part -> assigned.add(part.partition()));
  }

  @Override
  public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
    commit();
    partitions.forEach(part -> {
      assigned.remove(part.partition());
      lost.add(part.partition());
    });
  }
}
