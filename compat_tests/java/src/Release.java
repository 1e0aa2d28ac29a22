import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;

/** Calls whose form changed between kafka-clients 2.1 and 4.4; old_java has its own of these. */
final class Release {
  /** Idempotence is the default. */
  static final Map<String, String> PRODUCER = Map.of();

  private Release() {}

  static KafkaFuture<TopicDescription> describeTopic(String topic) {
    return Support.ADMIN.describeTopics(List.of(topic)).topicNameValues().get(topic);
  }

  /** Null when nothing is committed. */
  static OffsetAndMetadata committed(KafkaConsumer<byte[], byte[]> consumer, TopicPartition part) {
    return consumer.committed(Set.of(part)).get(part);
  }
}
