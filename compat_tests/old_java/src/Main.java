import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.ConsumerGroupState;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.GroupNotEmptyException;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.InvalidPartitionsException;
import org.apache.kafka.common.errors.OffsetOutOfRangeException;
import org.apache.kafka.common.errors.TopicExistsException;

/** kafka-clients 2.1 under test: the sources of ../java that it can compile, and its own admin calls. */
public final class Main {
  private Main() {}

  private static void refused(Class<? extends RuntimeException> with, KafkaFuture<?> future) {
    RuntimeException thrown = null;
    try {
      Support.get(future);
    } catch (RuntimeException refused) {
      thrown = refused;
    }
    Support.require(with.isInstance(thrown), "refused with " + thrown + " instead of " + with.getSimpleName());
  }

  private static void adminTopics() {
    final String topic = "admin-topic";
    Support.createTopic(topic, 3, Map.of("retention.ms", "86400000"));
    refused(TopicExistsException.class, Support.ADMIN.createTopics(List.of(new NewTopic(topic, 3, (short) 1))).all());
    Support.get(Support.ADMIN.createPartitions(Map.of(topic, NewPartitions.increaseTo(5))).all());
    Support.until("the topic has 5 partitions", () -> Support.partitionsOf(topic) == 5, Support::pause);
    refused(InvalidPartitionsException.class, Support.ADMIN.createPartitions(Map.of(topic, NewPartitions.increaseTo(5))).all());
    Support.get(Support.ADMIN.deleteTopics(List.of(topic)).all());
    Support.until("the topic is gone", () -> Support.partitionsOf(topic) == 0, Support::pause);
  }

  private static String config(ConfigResource resource, String name) {
    return Support.get(Support.ADMIN.describeConfigs(List.of(resource)).all()).get(resource).get(name).value();
  }

  private static KafkaFuture<Void> alter(ConfigResource resource, String name, String value) {
    return Support.ADMIN.alterConfigs(Map.of(resource, new Config(List.of(new ConfigEntry(name, value))))).all();
  }

  /** AlterConfigs, the only such call of its time: what is not named goes back to its default. */
  private static void adminConfigs() {
    Support.createTopic("configured", 1, Map.of("retention.ms", "86400000"));
    final ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, "configured");
    Support.require(config(topic, "retention.ms").equals("86400000"), "retention.ms is " + config(topic, "retention.ms"));
    Support.get(alter(topic, "max.message.bytes", "2000000"));
    Support.until("the new value is told", () -> config(topic, "max.message.bytes").equals("2000000"), Support::pause);
    Support.require(config(topic, "retention.ms").equals("604800000"), "retention.ms is " + config(topic, "retention.ms"));
    refused(InvalidConfigurationException.class, alter(topic, "max.message.bytes", "a lot"));
  }

  private static ConsumerGroupDescription described(String group) {
    return Support.get(Support.ADMIN.describeConsumerGroups(List.of(group)).all()).get(group);
  }

  private static void adminGroups() {
    final String topic = "admin-grouped";
    final String group = "admin-group";
    Support.createTopic(topic);
    GroupTests.produceNumbers(topic, 0, 60);
    final Member member = new Member(group, topic, Map.of("client.id", "the-member"));
    Support.until("all is read", () -> member.reads.size() == 60, member::poll);
    final ConsumerGroupDescription told = described(group);
    Support.require(told.state() == ConsumerGroupState.STABLE && told.members().size() == 1, "described " + told);
    Support.require(told.members().iterator().next().clientId().equals("the-member"), "described " + told);
    refused(GroupNotEmptyException.class, Support.ADMIN.deleteConsumerGroups(List.of(group)).all());
    member.leave();
    Support.until("the group is empty", () -> described(group).state() == ConsumerGroupState.EMPTY, Support::pause);
    final var offsets = Support.get(Support.ADMIN.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata());
    Support.require(offsets.size() == Support.PARTITIONS && offsets.values().stream().allMatch(at -> at.offset() == 10), "offsets " + offsets);
    Support.get(Support.ADMIN.deleteConsumerGroups(List.of(group)).all());
    final var listed = Support.get(Support.ADMIN.listConsumerGroups().all());
    Support.require(listed.stream().noneMatch(one -> one.groupId().equals(group)), "still listed: " + listed);
  }

  private static void adminDeleteRecords() {
    Support.createTopic("trimmed");
    GroupTests.produceNumbers("trimmed", 0, 600);
    final TopicPartition part = new TopicPartition("trimmed", 0);
    final var told = Support.ADMIN.deleteRecords(Map.of(part, RecordsToDelete.beforeOffset(40))).lowWatermarks().get(part);
    Support.require(Support.get(told).lowWatermark() == 40, "low watermark " + Support.get(told).lowWatermark());
    refused(OffsetOutOfRangeException.class, Support.ADMIN.deleteRecords(Map.of(part, RecordsToDelete.beforeOffset(101))).all());
    final int left = Support.readAll("trimmed", Support.PARTITIONS).size();
    Support.require(left == 560, left + " records are left");
  }

  public static void main(String[] unused) {
    ProduceTests.runAll();
    Support.test("group_join_share_leave_resume", GroupTests::joinShareLeaveResume);
    Support.test("group_committed_positions_are_resumed", GroupTests::committedPositionsAreResumed);
    Support.test("admin_topics", Main::adminTopics);
    Support.test("admin_configs", Main::adminConfigs);
    Support.test("admin_groups", Main::adminGroups);
    Support.test("admin_delete_records", Main::adminDeleteRecords);
    Support.ADMIN.close();
    System.exit(Support.failures == 0 ? 0 : 1);
  }
}
