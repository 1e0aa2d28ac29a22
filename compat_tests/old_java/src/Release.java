import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;

/** The forms that kafka-clients 2.1 has. */
final class Release {
  /** What keeps the order through retries without idempotence. */
  static final Map<String, String> PRODUCER = Map.of("acks", "all", "max.in.flight.requests.per.connection", "1");

  private Release() {}

  static KafkaFuture<TopicDescription> describeTopic(String topic) {
    return Support.ADMIN.describeTopics(List.of(topic)).values().get(topic);
  }

  /** Null when nothing is committed. */
  static OffsetAndMetadata committed(KafkaConsumer<byte[], byte[]> consumer, TopicPartition part) {
    return consumer.committed(part);
  }
}
