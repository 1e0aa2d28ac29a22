#include "coordinator/metadata/image_builder.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "base/real_clock.hpp"
#include "protocol/gen/abort_transaction_record.hpp"
#include "protocol/gen/access_control_entry_record.hpp"
#include "protocol/gen/begin_transaction_record.hpp"
#include "protocol/gen/client_quota_record.hpp"
#include "protocol/gen/config_record.hpp"
#include "protocol/gen/end_transaction_record.hpp"
#include "protocol/gen/feature_level_record.hpp"
#include "protocol/gen/no_op_record.hpp"
#include "protocol/gen/partition_change_record.hpp"
#include "protocol/gen/producer_ids_record.hpp"
#include "protocol/gen/remove_access_control_entry_record.hpp"
#include "protocol/gen/remove_topic_record.hpp"
#include "protocol/gen/topic_record.hpp"

namespace weir::metadata {
namespace {

PartitionState partition_on(std::int32_t broker) {
  PartitionState state;
  state.leader = broker;
  state.replicas = {broker};
  state.isr = {broker};
  state.directories = {Random{9}.uuid()};
  return state;
}

class ImageBuilderTest : public testing::Test {
 protected:
  static protocol::TopicRecord topic_record(const std::string& name, const Uuid& id) {
    protocol::TopicRecord record;
    record.name = name;
    record.topic_id = id;
    return record;
  }
  static protocol::ConfigRecord config_record(const std::string& topic, const std::string& name,
                                              std::optional<std::string> value) {
    protocol::ConfigRecord record;
    record.resource_type = static_cast<std::int8_t>(ResourceType::topic);
    record.resource_name = topic;
    record.name = name;
    record.value = value ? std::optional<protocol::Text>{*value} : std::nullopt;
    return record;
  }
  static protocol::RemoveTopicRecord remove_record(const Uuid& id) {
    protocol::RemoveTopicRecord record;
    record.topic_id = id;
    return record;
  }
  Uuid add_topic(RecordList& records, const std::string& name, std::int32_t partitions) {
    const auto id = random_.uuid();
    records.add(topic_record(name, id), 0);
    for (std::int32_t i = 0; i < partitions; ++i) {
      add_partition(records, id, i, partition_on(1));
    }
    return id;
  }
  // The next image; the test goes on from it.
  ImageChanges apply(const RecordList& records) {
    ImageBuilder builder{*image_};
    EXPECT_TRUE(builder.apply_all(image_->end_offset(), records));
    ImageChanges changes;
    image_ = builder.build(&changes);
    return changes;
  }
  bool refuses(const RecordList& records) {
    ImageBuilder builder{*image_};
    return !builder.apply_all(image_->end_offset(), records).has_value();
  }
  Random random_{3};
  ImagePointer image_ = std::make_shared<const MetadataImage>();
};

TEST_F(ImageBuilderTest, ATopicIsFoundByNameAndByIdAndTheOldImageStaysAsItWas) {
  const auto before = image_;
  RecordList records;
  const auto id = add_topic(records, "orders", 3);
  const auto changes = apply(records);
  EXPECT_EQ(changes.topics_created, std::vector<Uuid>{id});
  ASSERT_NE(image_->find_topic("orders"), nullptr);
  EXPECT_EQ(image_->find_topic("orders"), image_->find_topic(id));
  EXPECT_EQ(image_->find_topic(id)->partitions.size(), 3U);
  EXPECT_EQ(image_->partition_count(), 3);
  EXPECT_EQ(image_->end_offset(), Offset{4});
  EXPECT_EQ(before->find_topic("orders"), nullptr);
  EXPECT_EQ(before->topic_count(), 0U);
}

TEST_F(ImageBuilderTest, ARemovedTopicLeavesNothingForALaterOneOfItsName) {
  RecordList first;
  const auto id = add_topic(first, "a.b", 2);
  first.add(config_record("a.b", "retention.ms", "5"), 0);
  apply(first);
  EXPECT_EQ(image_->names_that_collide_with("a_b"), std::set<std::string>{"a.b"});
  RecordList removal;
  removal.add(remove_record(id), 0);
  const auto changes = apply(removal);
  ASSERT_EQ(changes.topics_deleted.size(), 1U);
  EXPECT_EQ(changes.topics_deleted[0]->partitions.size(), 2U);
  EXPECT_TRUE(image_->names_that_collide_with("a_b").empty());
  EXPECT_EQ(image_->partition_count(), 0);
  RecordList again;
  add_topic(again, "a.b", 1);
  apply(again);
  EXPECT_TRUE(image_->find_topic("a.b")->overrides->empty());
}

TEST_F(ImageBuilderTest, OverridesFollowTheirTopicWhicheverRecordComesFirst) {
  RecordList records;
  records.add(config_record("late", "retention.ms", "1"), 0);
  add_topic(records, "late", 1);
  add_topic(records, "early", 1);
  records.add(config_record("early", "retention.ms", "2"), 0);
  apply(records);
  EXPECT_EQ(image_->find_topic("late")->overrides->at("retention.ms"), "1");
  EXPECT_EQ(image_->find_topic("early")->overrides->at("retention.ms"), "2");

  const auto before = image_->find_topic("early")->overrides;
  RecordList changed;
  changed.add(config_record("early", "retention.ms", std::nullopt), 0);
  const auto changes = apply(changed);
  EXPECT_EQ(changes.topic_configs_changed, std::vector<std::string>{"early"});
  EXPECT_TRUE(image_->find_topic("early")->overrides->empty());
  EXPECT_EQ(before->size(), 1U) << "an older image changed";
}

TEST_F(ImageBuilderTest, NamingALeaderBeginsANewEpochAndNotNamingOneDoesNot) {
  RecordList records;
  const auto id = add_topic(records, "t", 1);
  apply(records);
  protocol::PartitionChangeRecord change;
  change.topic_id = id;
  change.partition_id = 0;
  change.leader = 1;
  RecordList same_leader;
  same_leader.add(change, 1);
  EXPECT_EQ(apply(same_leader).topics_changed, std::vector<Uuid>{id});
  EXPECT_EQ(image_->find_topic(id)->partitions[0].leader_epoch, LeaderEpoch{1});
  EXPECT_EQ(image_->find_topic(id)->partitions[0].partition_epoch, 1);
  change.leader = -2;
  change.isr = std::vector<std::int32_t>{1, 2};
  RecordList wider;
  wider.add(change, 1);
  apply(wider);
  EXPECT_EQ(image_->find_topic(id)->partitions[0].leader_epoch, LeaderEpoch{1});
  EXPECT_EQ(image_->find_topic(id)->partitions[0].partition_epoch, 2);
  EXPECT_EQ(image_->find_topic(id)->partitions[0].isr, (std::vector<std::int32_t>{1, 2}));
}

TEST_F(ImageBuilderTest, RefusesRecordsAboutThingsThatAreNotThere) {
  RecordList unknown_topic;
  add_partition(unknown_topic, random_.uuid(), 0, partition_on(1));
  EXPECT_TRUE(refuses(unknown_topic));
  RecordList gap;
  const auto id = random_.uuid();
  gap.add(topic_record("t", id), 0);
  add_partition(gap, id, 1, partition_on(1));
  EXPECT_TRUE(refuses(gap)) << "partition 1 before partition 0";
  RecordList removal;
  removal.add(remove_record(id), 0);
  EXPECT_TRUE(refuses(removal));
  RecordList twice;
  twice.add(topic_record("t", id), 0);
  twice.add(topic_record("t", random_.uuid()), 0);
  EXPECT_TRUE(refuses(twice));
}

TEST_F(ImageBuilderTest, ProducerIdsNeverGoBack) {
  protocol::ProducerIdsRecord record;
  record.next_producer_id = 2000;
  RecordList ahead;
  ahead.add(record, 0);
  apply(ahead);
  record.next_producer_id = 1999;
  RecordList back;
  back.add(record, 0);
  EXPECT_TRUE(refuses(back));
}

TEST_F(ImageBuilderTest, RecordsOfATransactionCountAtItsEndOrNotAtAll) {
  RecordList kept;
  kept.add(protocol::BeginTransactionRecord{}, 0);
  add_topic(kept, "kept", 1);
  ImageBuilder open{*image_};
  ASSERT_TRUE(open.apply_all(Offset{0}, kept));
  EXPECT_TRUE(open.in_transaction());
  kept.add(protocol::EndTransactionRecord{}, 0);
  apply(kept);
  EXPECT_NE(image_->find_topic("kept"), nullptr);

  RecordList dropped;
  dropped.add(protocol::BeginTransactionRecord{}, 0);
  add_topic(dropped, "dropped", 1);
  dropped.add(protocol::AbortTransactionRecord{}, 0);
  apply(dropped);
  EXPECT_EQ(image_->find_topic("dropped"), nullptr);
  RecordList lonely;
  lonely.add(protocol::EndTransactionRecord{}, 0);
  EXPECT_TRUE(refuses(lonely));
}

TEST_F(ImageBuilderTest, RefusesKindsAndVersionsThatOnlyANewerBuildKnows) {
  const auto refusal = [&](std::initializer_list<int> bytes) {
    std::vector<std::byte> frame;
    for (const auto byte : bytes) {
      frame.push_back(static_cast<std::byte>(byte));
    }
    ImageBuilder builder{*image_};
    const auto result = builder.apply(Offset{0}, frame);
    return result ? std::optional<Errc>{} : result.error().code;
  };
  EXPECT_EQ(refusal({1, 99, 0}), Errc::unsupported);
  EXPECT_EQ(refusal({1, protocol::FeatureLevelRecord::kApiKey, 9}), Errc::unsupported);
  EXPECT_EQ(refusal({2, protocol::NoOpRecord::kApiKey, 0, 0}), Errc::corrupt) << "another frame version";
  EXPECT_EQ(refusal({1, protocol::NoOpRecord::kApiKey, 0, 0}), std::nullopt);
  EXPECT_EQ(refusal({1, protocol::NoOpRecord::kApiKey, 0, 0, 7}), Errc::corrupt) << "a byte too many";
  EXPECT_EQ(refusal({1}), Errc::corrupt);
}

TEST_F(ImageBuilderTest, SnapshotRecordsMakeTheSameImage) {
  RecordList records;
  protocol::FeatureLevelRecord feature;
  feature.name = "metadata.version";
  feature.feature_level = 33;
  records.add(feature, 0);
  BrokerRegistration broker;
  broker.id = 1;
  broker.epoch = 1;
  broker.endpoints = {{.listener = "PLAINTEXT", .host = "127.0.0.1", .port = 9092, .security_protocol = 0}};
  broker.features["metadata.version"] = {.min = 7, .max = 33};
  broker.directories = {random_.uuid()};
  add_broker(records, broker);
  add_topic(records, "plain", 2);
  auto elr = partition_on(1);
  elr.eligible_leaders = {2};
  const auto id = random_.uuid();
  records.add(topic_record("with.elr", id), 0);
  add_partition(records, id, 0, elr);
  records.add(config_record("plain", "retention.ms", "7"), 0);
  protocol::ProducerIdsRecord ids;
  ids.next_producer_id = 5000;
  records.add(ids, 0);
  protocol::AccessControlEntryRecord acl;
  acl.id = random_.uuid();
  acl.principal = "User:a";
  records.add(acl, 0);
  protocol::ClientQuotaRecord quota;
  quota.entity.push_back({.entity_type = "user", .entity_name = std::nullopt, .unknown_tags = {}});
  quota.key = "producer_byte_rate";
  quota.value = 1000;
  records.add(quota, 0);
  apply(records);

  const auto content = records_of(*image_);
  ImageBuilder builder{MetadataImage{}};
  ASSERT_TRUE(builder.apply_all(Offset{0}, content));
  builder.set_end_offset(image_->end_offset());
  EXPECT_TRUE(*builder.build() == *image_);

  protocol::RemoveAccessControlEntryRecord remove_acl;
  remove_acl.id = acl.id;
  quota.remove = true;
  RecordList removals;
  removals.add(remove_acl, 0);
  removals.add(quota, 0);
  apply(removals);
  EXPECT_EQ(records_of(*image_).size(), content.size() - 2) << "what was removed is not kept";
}

TEST_F(ImageBuilderTest, OneMoreTopicBesideTenThousandCostsLessThanAMillisecond) {
  RecordList many;
  for (int i = 0; i < 10'000; ++i) {
    add_topic(many, "topic-" + std::to_string(i), 1);
  }
  apply(many);
  const RealClock clock;
  std::vector<std::int64_t> times_ns;
  for (int i = 0; i < 21; ++i) {
    RecordList one;
    add_topic(one, "more-" + std::to_string(i), 1);
    const auto from = clock.monotonic_ns();
    apply(one);
    times_ns.push_back(clock.monotonic_ns() - from);
  }
  EXPECT_LT(*std::min_element(times_ns.begin(), times_ns.end()), 1'000'000)
      << "the fastest of 21: a busy machine does not count";
  EXPECT_EQ(image_->topic_count(), 10'021U);
}

}  // namespace
}  // namespace weir::metadata
