// Groups: members join, share, leave; what is committed is where the next member goes on.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "librdkafka/admin_client.hpp"
#include "librdkafka/support.hpp"

namespace compat {

namespace {

constexpr int kThird = 3'000;

struct Read {
  std::int32_t partition;
  std::int64_t offset;
  int number;
};

// A consumer that commits all it has read when partitions are taken from it, and as it leaves.
class Member : public RdKafka::RebalanceCb {
 public:
  std::set<std::int32_t> assigned;
  std::vector<Read> reads;

  Member(const std::string& group, std::string topic, const Options& options = {}) : topic_(std::move(topic)) {
    Options all{{"group.id", group},
                {"auto.offset.reset", "earliest"},
                {"heartbeat.interval.ms", "200"},
                {"session.timeout.ms", "6000"}};
    all.insert(all.end(), options.begin(), options.end());
    consumer_ = make_consumer(all, this);
    EXPECT_EQ(consumer_->subscribe({topic_}), RdKafka::ERR_NO_ERROR);
  }

  void rebalance_cb(RdKafka::KafkaConsumer* consumer, RdKafka::ErrorCode code,
                    std::vector<RdKafka::TopicPartition*>& parts) override {
    assigned.clear();
    if (code == RdKafka::ERR__ASSIGN_PARTITIONS) {
      for (const auto* part : parts) {
        assigned.insert(part->partition());
      }
      consumer->assign(parts);
    } else {
      commit(*consumer);
      consumer->unassign();
    }
  }

  // Takes what comes within 50 ms.
  void poll() {
    for (int left = 200; left > 0; --left) {
      const std::unique_ptr<RdKafka::Message> message(consumer_->consume(left == 200 ? 50 : 0));
      if (message->err() == RdKafka::ERR__TIMED_OUT) {
        return;
      }
      if (message->err() != RdKafka::ERR_NO_ERROR) {
        throw Refused("not read: " + message->errstr());
      }
      reads.push_back({message->partition(), message->offset(), std::stoi(value(*message).value())});
      next_[message->partition()] = message->offset() + 1;
    }
  }

  void commit() { commit(*consumer_); }

  // Commits these and forgets what was read, so that leaving commits nothing more.
  void commit_instead(const std::map<std::int32_t, std::int64_t>& offsets) {
    next_ = offsets;
    commit();
  }

  std::map<std::int32_t, std::int64_t> committed() {
    const auto owned = partitions({{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}});
    auto parts = pointers(owned);
    EXPECT_EQ(consumer_->committed(parts, kWaitMs), RdKafka::ERR_NO_ERROR);
    std::map<std::int32_t, std::int64_t> found;
    for (const auto* part : parts) {
      if (part->offset() >= 0) {
        found[part->partition()] = part->offset();
      }
    }
    return found;
  }

  void leave() {
    commit();
    close();
  }

  void close() { EXPECT_EQ(consumer_->close(), RdKafka::ERR_NO_ERROR); }

 private:
  using Owned = std::vector<std::unique_ptr<RdKafka::TopicPartition>>;

  Owned partitions(const std::map<std::int32_t, std::int64_t>& offsets) const {
    Owned owned;
    for (const auto& [partition, offset] : offsets) {
      owned.emplace_back(RdKafka::TopicPartition::create(topic_, partition, offset));
    }
    return owned;
  }

  static std::vector<RdKafka::TopicPartition*> pointers(const Owned& owned) {
    std::vector<RdKafka::TopicPartition*> parts;
    for (const auto& part : owned) {
      parts.push_back(part.get());
    }
    return parts;
  }

  void commit(RdKafka::KafkaConsumer& consumer) {
    if (next_.empty()) {
      return;
    }
    const auto owned = partitions(next_);
    auto parts = pointers(owned);
    EXPECT_EQ(consumer.commitSync(parts), RdKafka::ERR_NO_ERROR);
    next_.clear();
  }

  std::string topic_;
  std::map<std::int32_t, std::int64_t> next_;
  std::unique_ptr<RdKafka::KafkaConsumer> consumer_;
};

void produce_numbers(const std::string& topic, int first, int count) {
  const auto producer = make_producer({{"enable.idempotence", "true"}}, nullptr);
  for (int number = first; number < first + count; ++number) {
    send(*producer, {.topic = topic, .partition = number % kPartitions, .value = std::to_string(number)});
  }
  flush(*producer);
}

bool share(const Member& one, const Member& two) {
  return one.assigned.size() == 3 && two.assigned.size() == 3;
}

TEST(Group, MembersJoinShareAndLeaveAndEveryRecordIsReadOnce) {
  const std::string topic = "grouped";
  AdminClient().create_topic_and_wait(topic);
  produce_numbers(topic, 0, kThird);
  // It stops in the middle: what it has read is committed, what it has not is for the next members.
  Member first("group", topic);
  until("the first member has read 2,000", [&] { return first.reads.size() >= 2'000; }, [&] { first.poll(); });
  first.leave();
  Member second("group", topic);
  Member third("group", topic);
  const auto poll_both = [&] {
    second.poll();
    third.poll();
  };
  const auto total = [&] { return first.reads.size() + second.reads.size() + third.reads.size(); };
  until("two members share 3 and 3", [&] { return share(second, third); }, poll_both);
  for (const auto partition : second.assigned) {
    EXPECT_FALSE(third.assigned.contains(partition)) << partition;
  }
  produce_numbers(topic, kThird, kThird);
  until("two thirds are read", [&] { return total() >= 2 * kThird; }, poll_both);
  EXPECT_FALSE(second.reads.empty() || third.reads.empty()) << "one of the two members read nothing";
  third.leave();
  until("the member that stays has all", [&] { return second.assigned.size() == kPartitions; }, [&] { second.poll(); });
  produce_numbers(topic, 2 * kThird, kThird);
  until("all is read", [&] { return total() >= 3 * kThird; }, [&] { second.poll(); });
  second.leave();
  std::vector<int> numbers;
  for (const auto* member : {&first, &second, &third}) {
    for (const auto& read : member->reads) {
      numbers.push_back(read.number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  std::vector<int> wanted(3 * kThird);
  std::iota(wanted.begin(), wanted.end(), 0);
  EXPECT_TRUE(numbers == wanted) << numbers.size() << " reads of " << wanted.size();
}

TEST(Group, TheNextMemberBeginsAtTheCommittedPositionsAndNowhereElse) {
  const std::string topic = "resumed";
  AdminClient().create_topic_and_wait(topic);
  produce_numbers(topic, 0, 600);
  Member first("resuming", topic);
  until("all is read", [&] { return first.reads.size() == 600; }, [&] { first.poll(); });
  const std::map<std::int32_t, std::int64_t> committed{{0, 7}, {1, 50}, {2, 100}};
  first.commit_instead(committed);
  first.leave();
  Member next("resuming", topic);
  EXPECT_EQ(next.committed(), committed);
  constexpr std::size_t kRest = 93 + 50 + 0 + 300;
  until("the rest is read", [&] { return next.reads.size() >= kRest; }, [&] { next.poll(); });
  EXPECT_EQ(next.reads.size(), kRest);
  std::map<std::int32_t, std::int64_t> starts;
  for (const auto& read : next.reads) {
    starts.try_emplace(read.partition, read.offset);
  }
  EXPECT_EQ(starts, (std::map<std::int32_t, std::int64_t>{{0, 7}, {1, 50}, {3, 0}, {4, 0}, {5, 0}}));
  next.leave();
}

TEST(Group, AStaticMemberThatComesBackGetsTheSameShare) {
  const std::string topic = "static";
  AdminClient().create_topic_and_wait(topic);
  const auto options = [](const std::string& name) {
    return Options{{"group.instance.id", name}, {"session.timeout.ms", "30000"}};
  };
  Member one("static-group", topic, options("one"));
  const auto had = [&] {
    Member two("static-group", topic, options("two"));
    until(
        "both have 3", [&] { return share(one, two); },
        [&] {
          one.poll();
          two.poll();
        });
    const auto assigned = two.assigned;
    two.close();
    return assigned;
  }();
  const auto one_had = one.assigned;
  Member again("static-group", topic, options("two"));
  until("it has its partitions again", [&] { return again.assigned == had; }, [&] { again.poll(); });
  one.poll();
  EXPECT_EQ(one.assigned, one_had);
  one.leave();
  again.leave();
}

TEST(Admin, ListsDescribesChangesAndDeletesGroups) {
  const std::string topic = "admin-grouped";
  const std::string group = "admin-group";
  AdminClient admin;
  admin.create_topic_and_wait(topic);
  produce_numbers(topic, 0, 60);
  Member member(group, topic);
  until("all is read", [&] { return member.reads.size() == 60; }, [&] { member.poll(); });
  member.commit();
  EXPECT_TRUE(admin.list_groups().contains(group));
  const auto stable = admin.describe_group(group);
  EXPECT_EQ(stable.state, RD_KAFKA_CONSUMER_GROUP_STATE_STABLE);
  EXPECT_EQ(stable.partitions_of_members, std::vector<std::size_t>{kPartitions});
  EXPECT_EQ(admin.delete_group(group), RD_KAFKA_RESP_ERR_NON_EMPTY_GROUP);
  EXPECT_EQ(admin.delete_group_offset(group, topic, 0), RD_KAFKA_RESP_ERR_GROUP_SUBSCRIBED_TO_TOPIC);
  member.leave();
  until(
      "the group is empty", [&] { return admin.describe_group(group).state == RD_KAFKA_CONSUMER_GROUP_STATE_EMPTY; },
      [] {});
  EXPECT_EQ(admin.group_offsets(group),
            (std::map<int, std::int64_t>{{0, 10}, {1, 10}, {2, 10}, {3, 10}, {4, 10}, {5, 10}}));
  EXPECT_EQ(admin.alter_group_offset(group, topic, 2, 4), RD_KAFKA_RESP_ERR_NO_ERROR);
  EXPECT_EQ(admin.group_offsets(group).at(2), 4);
  EXPECT_EQ(admin.delete_group_offset(group, topic, 2), RD_KAFKA_RESP_ERR_NO_ERROR);
  EXPECT_FALSE(admin.group_offsets(group).contains(2));
  EXPECT_EQ(admin.delete_group(group), RD_KAFKA_RESP_ERR_NO_ERROR);
  EXPECT_FALSE(admin.list_groups().contains(group));
  EXPECT_EQ(admin.delete_group(group), RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND);
}

}  // namespace

}  // namespace compat
