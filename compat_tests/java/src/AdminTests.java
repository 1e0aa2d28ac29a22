import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.GroupNotEmptyException;
import org.apache.kafka.common.errors.GroupSubscribedToTopicException;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.InvalidPartitionsException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.OffsetOutOfRangeException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** The admin calls of the Java client. */
final class AdminTests {
  private AdminTests() {}

  private static void refused(Class<? extends RuntimeException> with, KafkaFuture<?> future) {
    try {
      final Object told = Support.get(future);
      throw new Support.Wrong("answered " + told + " instead of refusing with " + with.getSimpleName());
    } catch (Support.Wrong wrong) {
      throw wrong;
    } catch (RuntimeException refused) {
      Support.require(with.isInstance(refused), "refused with " + refused + " instead of " + with.getSimpleName());
    }
  }

  private static KafkaFuture<Void> create(NewTopic topic) {
    return Support.ADMIN.createTopics(List.of(topic)).all();
  }

  static void topics() {
    final String topic = "admin-topic";
    final var created = Support.ADMIN.createTopics(List.of(new NewTopic(topic, 3, (short) 1).configs(Map.of("retention.ms", "86400000"))));
    Support.require(Support.get(created.numPartitions(topic)) == 3, "the answer tells another number of partitions");
    Support.require(Support.get(created.config(topic)).get("retention.ms").value().equals("86400000"), "the answer tells another config");
    Support.until("the topic has 3 partitions", () -> Support.partitionsOf(topic) == 3, Support::pause);
    final var byId = Support.get(created.topicId(topic));
    final var described = Support.get(Support.ADMIN.describeTopics(List.of(topic)).topicNameValues().get(topic));
    Support.require(described.topicId().equals(byId) && !described.isInternal(), "described " + described);
    refused(TopicExistsException.class, create(new NewTopic(topic, 3, (short) 1)));
    refused(InvalidTopicException.class, create(new NewTopic("no/slash", 1, (short) 1)));
    refused(InvalidConfigurationException.class, create(new NewTopic("odd", 1, (short) 1).configs(Map.of("no.such.key", "1"))));
    refused(InvalidPartitionsException.class, create(new NewTopic("none", 0, (short) 1)));
    Support.get(Support.ADMIN.createTopics(List.of(new NewTopic("only-asked", 1, (short) 1)), new CreateTopicsOptions().validateOnly(true)).all());
    Support.get(Support.ADMIN.createPartitions(Map.of(topic, NewPartitions.increaseTo(5))).all());
    Support.until("the topic has 5 partitions", () -> Support.partitionsOf(topic) == 5, Support::pause);
    refused(InvalidPartitionsException.class, Support.ADMIN.createPartitions(Map.of(topic, NewPartitions.increaseTo(5))).all());
    Support.get(Support.ADMIN.deleteTopics(List.of(topic)).all());
    Support.until("the topic is gone", () -> Support.partitionsOf(topic) == 0, Support::pause);
    refused(UnknownTopicOrPartitionException.class, Support.ADMIN.deleteTopics(List.of(topic)).all());
    refused(UnknownTopicOrPartitionException.class, Support.ADMIN.describeTopics(List.of(topic)).allTopicNames());
    Support.require(Support.partitionsOf("only-asked") == 0, "validateOnly made a topic");
  }

  private static Config config(ConfigResource resource) {
    return Support.get(Support.ADMIN.describeConfigs(List.of(resource)).values().get(resource));
  }

  private static KafkaFuture<Void> alter(ConfigResource resource, AlterConfigOp... ops) {
    return Support.ADMIN.incrementalAlterConfigs(Map.<ConfigResource, Collection<AlterConfigOp>>of(resource, List.of(ops))).all();
  }

  private static AlterConfigOp op(String name, String value, AlterConfigOp.OpType type) {
    return new AlterConfigOp(new ConfigEntry(name, value), type);
  }

  private static void requireEntry(ConfigResource resource, String name, String value, boolean isDefault) {
    final ConfigEntry entry = config(resource).get(name);
    Support.require(entry != null && entry.value().equals(value) && entry.isDefault() == isDefault, name + " is " + entry);
  }

  static void configs() {
    Support.createTopic("configured", 1, Map.of("retention.ms", "86400000"));
    final ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, "configured");
    requireEntry(topic, "retention.ms", "86400000", false);
    requireEntry(topic, "cleanup.policy", "delete", true);
    Support.get(alter(topic, op("max.message.bytes", "2000000", AlterConfigOp.OpType.SET),
        op("retention.ms", null, AlterConfigOp.OpType.DELETE), op("cleanup.policy", "compact", AlterConfigOp.OpType.APPEND)));
    Support.until("the new values are told", () -> config(topic).get("max.message.bytes").value().equals("2000000"), Support::pause);
    requireEntry(topic, "retention.ms", "604800000", true);
    requireEntry(topic, "cleanup.policy", "delete,compact", false);
    Support.get(alter(topic, op("cleanup.policy", "delete", AlterConfigOp.OpType.SUBTRACT)));
    Support.until("the list is shorter", () -> config(topic).get("cleanup.policy").value().equals("compact"), Support::pause);
    refused(InvalidConfigurationException.class, alter(topic, op("max.message.bytes", "a lot", AlterConfigOp.OpType.SET)));
    final ConfigResource unknown = new ConfigResource(ConfigResource.Type.TOPIC, "no-such-topic");
    refused(UnknownTopicOrPartitionException.class, Support.ADMIN.describeConfigs(List.of(unknown)).all());
    final int node = Support.get(Support.ADMIN.describeCluster().controller()).id();
    requireEntry(new ConfigResource(ConfigResource.Type.BROKER, Integer.toString(node)), "node.id", Integer.toString(node), false);
  }

  private static boolean listed(String group) {
    return Support.get(Support.ADMIN.listGroups().all()).stream().anyMatch(one -> one.groupId().equals(group));
  }

  static void groups() {
    final String topic = "admin-grouped";
    final String group = "admin-group";
    Support.createTopic(topic);
    GroupTests.produceNumbers(topic, 0, 60);
    final Member member = new Member(group, topic, Map.of("client.id", "the-member"));
    Support.until("all is read", () -> member.reads.size() == 60, member::poll);
    member.commit();
    Support.require(listed(group), "the group is not listed");
    final var classic = Support.get(Support.ADMIN.describeClassicGroups(List.of(group)).all()).get(group);
    Support.require(classic.state().toString().equals("Stable") && classic.protocol().equals("consumer"), "described " + classic);
    final var told = Support.get(Support.ADMIN.describeConsumerGroups(List.of(group)).all()).get(group);
    Support.require(told.groupState() == GroupState.STABLE && told.members().size() == 1, "described " + told);
    final var one = told.members().iterator().next();
    Support.require(one.clientId().equals("the-member") && one.assignment().topicPartitions().size() == Support.PARTITIONS, "member " + one);
    refused(GroupNotEmptyException.class, Support.ADMIN.deleteConsumerGroups(List.of(group)).all());
    refused(GroupSubscribedToTopicException.class,
        Support.ADMIN.deleteConsumerGroupOffsets(group, java.util.Set.of(new TopicPartition(topic, 0))).partitionResult(new TopicPartition(topic, 0)));
    member.leave();
    Support.until("the group is empty", () -> Support.get(Support.ADMIN.describeConsumerGroups(List.of(group)).all()).get(group).groupState() == GroupState.EMPTY, Support::pause);
    Support.require(offsets(group).values().stream().allMatch(at -> at.offset() == 10), "offsets " + offsets(group));
    Support.get(Support.ADMIN.alterConsumerGroupOffsets(group, Map.of(new TopicPartition(topic, 2), new OffsetAndMetadata(4, "by hand"))).all());
    final OffsetAndMetadata altered = offsets(group).get(new TopicPartition(topic, 2));
    Support.require(altered.offset() == 4 && altered.metadata().equals("by hand"), "after the change " + altered);
    Support.get(Support.ADMIN.deleteConsumerGroupOffsets(group, java.util.Set.of(new TopicPartition(topic, 2))).all());
    Support.require(!offsets(group).containsKey(new TopicPartition(topic, 2)), "the offset is still there");
    Support.get(Support.ADMIN.deleteConsumerGroups(List.of(group)).all());
    Support.require(!listed(group), "the group is still listed");
    refused(GroupIdNotFoundException.class, Support.ADMIN.deleteConsumerGroups(List.of(group)).all());
  }

  private static Map<TopicPartition, OffsetAndMetadata> offsets(String group) {
    return Support.get(Support.ADMIN.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata());
  }

  private static long offset(int partition, OffsetSpec spec) {
    final TopicPartition part = new TopicPartition("trimmed", partition);
    final ListOffsetsResultInfo info = Support.get(Support.ADMIN.listOffsets(Map.of(part, spec)).partitionResult(part));
    return info.offset();
  }

  static void offsetsAndDeleteRecords() {
    Support.createTopic("trimmed");
    GroupTests.produceNumbers("trimmed", 0, 600);
    Support.require(offset(0, OffsetSpec.earliest()) == 0 && offset(0, OffsetSpec.latest()) == 100, "bounds before");
    Support.require(offset(0, OffsetSpec.forTimestamp(1)) == 0, "a time before all records");
    Support.require(offset(0, OffsetSpec.forTimestamp(System.currentTimeMillis() + 86_400_000)) == -1, "a time after all records");
    Support.require(offset(0, OffsetSpec.maxTimestamp()) >= 0, "no record has the largest timestamp");
    final TopicPartition part = new TopicPartition("trimmed", 0);
    final long low = Support.get(Support.ADMIN.deleteRecords(Map.of(part, RecordsToDelete.beforeOffset(40))).lowWatermarks().get(part)).lowWatermark();
    Support.require(low == 40, "low watermark " + low);
    Support.require(offset(0, OffsetSpec.earliest()) == 40 && offset(0, OffsetSpec.latest()) == 100, "bounds after");
    Support.require(offset(1, OffsetSpec.earliest()) == 0, "another partition was trimmed too");
    refused(OffsetOutOfRangeException.class, Support.ADMIN.deleteRecords(Map.of(part, RecordsToDelete.beforeOffset(101))).all());
    final long read = Support.readAll("trimmed", Support.PARTITIONS).size();
    Support.require(read == 560, read + " records are left");
  }

  static void logDirs() {
    Support.createTopic("sized", 1, Map.of());
    final int node = Support.get(Support.ADMIN.describeCluster().controller()).id();
    final var dirs = Support.get(Support.ADMIN.describeLogDirs(List.of(node)).allDescriptions()).get(node);
    final boolean known = dirs.values().stream().anyMatch(dir -> dir.replicaInfos().containsKey(new TopicPartition("sized", 0)));
    Support.require(known, "no log dir has the partition: " + dirs.keySet());
  }
}
