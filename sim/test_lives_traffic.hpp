// What the clients of broker_lives_sim_test do: produce, read, commit, make, change and delete topics, delete records.
// Nothing here waits: what is heard goes to `Known`. Lives in the world.
#pragma once

#include <functional>

#include "protocol/gen/create_topics.hpp"
#include "protocol/gen/delete_records.hpp"
#include "protocol/gen/delete_topics.hpp"
#include "protocol/gen/fetch.hpp"
#include "protocol/gen/find_coordinator.hpp"
#include "protocol/gen/incremental_alter_configs.hpp"
#include "protocol/gen/offset_commit.hpp"
#include "protocol/gen/offset_fetch.hpp"
#include "sim/sim_producer.hpp"
#include "sim/test_lives_producer.hpp"

namespace weir::sim {

class LivesTraffic {
 public:
  using Tell = std::function<void(const std::string&)>;
  LivesTraffic(World& world, Known& known, Random& random, Tell tell)
      : world_(world), known_(known), random_(random), tell_(std::move(tell)) {
    for (int i = 0; i < 3; ++i) {
      producers_.push_back(std::make_unique<LivesProducer>(world, known, random, i, i != 2));
    }
  }

  // The process has ended: what it had not answered, nobody knows.
  void process_ended() {
    for (auto& producer : producers_) {
      producer->client().close();
    }
    admin_.close();
    group_.close();
    trimmer_.close();
  }
  void connect() {
    for (auto& producer : producers_) {
      producer->client().connect();
    }
    admin_.connect();
    group_.connect();
    trimmer_.connect();
  }
  [[nodiscard]] std::size_t unanswered() const {
    auto count = admin_.unanswered() + group_.unanswered() + trimmer_.unanswered();
    for (const auto& producer : producers_) {
      count += producer->client().unanswered();
    }
    return count;
  }
  // What waits for longer than a minute, or "".
  [[nodiscard]] std::string forgotten() const {
    auto why = admin_.forgotten();
    for (const auto* client : {&group_, &trimmer_}) {
      why = why.empty() ? client->forgotten() : why;
    }
    for (const auto& producer : producers_) {
      why = why.empty() ? producer->client().forgotten() : why;
    }
    return why;
  }
  void clock_jumped() {
    for (auto& producer : producers_) {
      producer->forget();  // the broker may have, too
    }
  }

  void one_step() {
    connect();
    const auto topic = some_topic();
    const auto choice = random_.below(40);
    if (!topic || choice == 28) {
      make_topic();
    } else if (choice < 17) {
      constexpr std::array<std::size_t, 4> kSizes{100, 1'000, 10'000, 60'000};
      const auto size_max = kSizes[random_.below(kSizes.size())];
      auto& producer = *producers_[random_.below(producers_.size())];
      for (auto count = 1 + random_.below(4); count > 0; --count) {
        producer.produce(*topic, some_part(*topic), size_max);
      }
    } else if (choice < 22) {
      read_some(*topic, some_part(*topic));
    } else if (choice < 26) {
      commit(*topic, some_part(*topic));
    } else if (choice == 26) {
      delete_records(*topic, some_part(*topic));
    } else if (choice == 27) {
      ask_committed(*topic, some_part(*topic));
    } else if (choice == 29 && random_.chance(3)) {
      delete_topic(*topic);
    } else if (choice == 30) {
      change_rules(*topic);
    }
  }
  // Beside a stop: changes of all kinds at once.
  void burst() {
    for (auto count = random_.below(8); count > 0; --count) {
      const auto topic = some_topic();
      const auto choice = topic ? random_.below(7) : 0;
      switch (choice) {
        case 0:
        case 1: make_topic(); break;
        case 2:
          if (random_.chance(3)) {
            delete_topic(*topic);
          }
          break;
        case 3: delete_records(*topic, some_part(*topic)); break;
        case 4: change_rules(*topic); break;
        case 5: commit(*topic, some_part(*topic)); break;
        default:
          for (auto& producer : producers_) {
            producer->produce(*topic, some_part(*topic), 20'000);
          }
      }
    }
  }

  // Null if there is none.
  std::optional<std::size_t> some_topic() {
    std::vector<std::size_t> there;
    for (const auto& topic : known_.topics) {
      if (topic.fate == Fate::there || (topic.fate == Fate::leaving && topic.refused_deletions > 0)) {
        there.push_back(topic.number);
      }
    }
    return there.empty() ? std::nullopt : std::optional{there[random_.below(there.size())]};
  }
  std::int32_t some_part(std::size_t topic) {
    return static_cast<std::int32_t>(random_.below(known_.topics[topic].parts.size()));
  }

  void make_topic() {
    const auto name = free_name();
    if (!admin_.ready() || name.empty()) {
      return;
    }
    BrokerTopic topic;
    topic.number = known_.topics.size();
    topic.name = name;
    topic.rules = log::draw_rules(random_);
    topic.parts.resize(1 + random_.below(2));
    const auto stamps =
        random_.chance(2) ? log::Stamps::now : static_cast<log::Stamps>(random_.below(log::kStampKinds));
    for (auto& part : topic.parts) {
      part.number = static_cast<int>(topic.number);
      part.stamps = stamps;
    }
    topic.may_become(topic.rules);
    topic.changes_at_start = topic.rules_changes;
    tell_("make " + name + " (" + std::to_string(topic.number) + "), " + log::to_text(topic.rules));
    protocol::CreateTopicsRequest request;
    request.timeout_ms = 30'000;
    auto& wanted = request.topics.emplace_back();
    wanted.name = name;
    wanted.num_partitions = static_cast<std::int32_t>(topic.parts.size());
    wanted.replication_factor = 1;
    const auto configs = configs_of(topic.rules);
    for (const auto& [key, value] : configs) {
      wanted.configs.push_back({.name = key, .value = protocol::Text{value}});
    }
    known_.topics.push_back(std::move(topic));
    const auto number = known_.topics.size() - 1;
    admin_.ask<protocol::CreateTopicsRequest, protocol::CreateTopicsResponse>(
        "make topic " + name, request, 7, [this, number](const protocol::CreateTopicsResponse* answer) {
          if (answer != nullptr) {
            made(known_.topics[number], answer->topics.at(0));
          }
        });
  }
  void delete_topic(std::size_t number) {
    auto& topic = known_.topics[number];
    if (!admin_.ready()) {
      return;
    }
    tell_("delete " + topic.name + " (" + std::to_string(number) + ")");
    topic.fate = Fate::leaving;
    protocol::DeleteTopicsRequest request;
    request.timeout_ms = 30'000;
    request.topics.push_back({.name = std::nullopt, .topic_id = topic.id, .unknown_tags = {}});
    admin_.ask<protocol::DeleteTopicsRequest, protocol::DeleteTopicsResponse>(
        "delete topic " + topic.name, request, 6, [this, number](const protocol::DeleteTopicsResponse* answer) {
          const auto code = answer != nullptr ? answer->responses.at(0).error_code : std::int16_t{kTimedOut};
          if (code == 0) {
            known_.topics[number].fate = Fate::gone;
          } else if (code == kStorageFailed) {
            ++known_.topics[number].refused_deletions;
          } else if (code == kUnknownTopicId) {
            known_.broken("topic " + known_.topics[number].name + " is there, and cannot be deleted: it is unknown");
          }
        });
  }
  void change_rules(std::size_t number) {
    auto& topic = known_.topics[number];
    if (!admin_.ready() || topic.wanted) {
      return;
    }
    topic.wanted = log::draw_rules(random_);
    topic.may_become(*topic.wanted);
    tell_(topic.name + " shall become " + log::to_text(*topic.wanted));
    protocol::IncrementalAlterConfigsRequest request;
    auto& resource = request.resources.emplace_back();
    resource.resource_type = 2;
    resource.resource_name = topic.name;
    const auto configs = configs_of(*topic.wanted);
    for (const auto& [key, value] : configs) {
      resource.configs.push_back(
          {.name = key, .config_operation = 0, .value = protocol::Text{value}, .unknown_tags = {}});
    }
    ++topic.under_name;
    admin_.ask<protocol::IncrementalAlterConfigsRequest, protocol::IncrementalAlterConfigsResponse>(
        "change topic " + topic.name, request, 1,
        [this, number](const protocol::IncrementalAlterConfigsResponse* answer) {
          auto& of = known_.topics[number];
          --of.under_name;
          if (answer != nullptr && answer->responses.at(0).error_code == 0) {
            of.rules = *of.wanted;
            of.wanted.reset();
            ++of.rules_changes;
          }
        });
  }
  void delete_records(std::size_t number, std::int32_t index) {
    auto& topic = known_.topics[number];
    auto& part = known_.part(number, index);
    if (!trimmer_.ready()) {
      return;
    }
    const auto range = static_cast<std::uint64_t>(std::max<std::int64_t>(0, part.seen_end - part.start));
    const auto target = part.start + static_cast<std::int64_t>(random_.below(range / 4 + 1));
    tell_(known_.part_name(number, index) + " shall start at " + std::to_string(target));
    part.start_asked = std::max(part.start_asked, target);
    protocol::DeleteRecordsRequest request;
    request.timeout_ms = 3'000;  // a connection has its requests answered one by one, and all within a minute
    auto& asked = request.topics.emplace_back();
    asked.name = topic.name;
    asked.partitions.push_back({.partition_index = index, .offset = target});
    ++topic.under_name;
    trimmer_.ask<protocol::DeleteRecordsRequest, protocol::DeleteRecordsResponse>(
        "delete records of " + topic.name, request, 2,
        [this, number, index, target](const protocol::DeleteRecordsResponse* answer) {
          --known_.topics[number].under_name;
          if (answer == nullptr || answer->topics.at(0).partitions.at(0).error_code != 0) {
            return;
          }
          auto& of = known_.part(number, index);
          if (answer->topics[0].partitions[0].low_watermark < target) {
            known_.broken("records deleted up to " + std::to_string(target) + ", the answer says less");
          }
          of.start = std::max(of.start, target);
        });
  }
  void read_some(std::size_t number, std::int32_t index) {
    auto& client = producers_[random_.below(producers_.size())]->client();
    if (!client.ready()) {
      return;
    }
    const auto& topic = known_.topics[number];
    const auto& part = known_.part(number, index);
    const auto range = static_cast<std::uint64_t>(std::max<std::int64_t>(0, part.seen_end - part.start));
    const auto from = part.start + static_cast<std::int64_t>(random_.below(range + 1));
    protocol::FetchRequest request;
    request.max_wait_ms = static_cast<std::int32_t>(random_.below(300));
    request.min_bytes = 1;
    request.max_bytes = 1 << 20;
    auto& asked = request.topics.emplace_back();
    asked.topic_id = topic.id;
    asked.partitions.push_back({.partition = index,
                                .fetch_offset = from,
                                .partition_max_bytes = static_cast<std::int32_t>(1 + random_.below(200'000))});
    client.ask<protocol::FetchRequest, protocol::FetchResponse>(
        "fetch " + topic.name, request, 13,
        [this, number, index, from, seen = part.seen_end,
         was_safe = topic.was_always_safe()](const protocol::FetchResponse* answer) {
          if (answer != nullptr && answer->error_code == 0) {
            heard_records(number, index, from, seen, was_safe, answer->responses.at(0).partitions.at(0));
          }
        });
  }
  void commit(std::size_t number, std::int32_t index) {
    const auto group = "group " + std::to_string(random_.below(3));
    auto& committed = known_.commits[{group, number, index}];
    if (!group_.ready() || committed.is_under_way) {
      return;
    }
    if (random_.chance(4)) {
      find_coordinator(group);
    }
    const auto offset = committed.next++;
    committed.is_under_way = true;
    committed.unknown.insert(offset);
    protocol::OffsetCommitRequest request;
    request.group_id = group;
    auto& topic = request.topics.emplace_back();
    topic.topic_id = known_.topics[number].id;
    topic.partitions.push_back({.partition_index = index, .committed_offset = offset, .committed_metadata = "m"});
    group_.ask<protocol::OffsetCommitRequest, protocol::OffsetCommitResponse>(
        "commit of " + group, request, 10,
        [this, group, number, index, offset](const protocol::OffsetCommitResponse* answer) {
          auto& of = known_.commits[{group, number, index}];
          of.is_under_way = false;
          if (answer != nullptr && answer->topics.at(0).partitions.at(0).error_code == 0) {
            of.answered = offset;
            of.unknown.erase(offset);
            ++known_.counts["commits answered"];
          }
        });
  }
  // So that the coordinator's topic is made.
  void find_coordinator(const std::string& group) {
    protocol::FindCoordinatorRequest request;
    request.coordinator_keys = {group};
    group_.ask<protocol::FindCoordinatorRequest, protocol::FindCoordinatorResponse>(
        "for the coordinator", request, 4, [](const protocol::FindCoordinatorResponse*) {});
  }
  void ask_committed(std::size_t number, std::int32_t index) {
    const auto group = "group " + std::to_string(random_.below(3));
    if (!group_.ready()) {
      return;
    }
    protocol::OffsetFetchRequest request;
    auto& asked = request.groups.emplace_back();
    asked.group_id = group;
    asked.topics = {{.topic_id = known_.topics[number].id, .partition_indexes = {index}}};
    group_.ask<protocol::OffsetFetchRequest, protocol::OffsetFetchResponse>(
        "commits of " + group, request, 10, [this, group, number, index](const protocol::OffsetFetchResponse* answer) {
          if (answer == nullptr || answer->groups.at(0).error_code != 0) {
            return;
          }
          const auto& part = answer->groups[0].topics.at(0).partitions.at(0);
          const auto& committed = known_.commits[{group, number, index}];
          if (part.error_code == 0 && known_.topics[number].fate == Fate::there &&
              !committed.may_be(part.committed_offset)) {
            known_.broken(group + " committed " + std::to_string(committed.answered) + " of " +
                          known_.part_name(number, index) + " and hears " + std::to_string(part.committed_offset));
          }
        });
  }

 private:
  static std::map<std::string, std::string> configs_of(const log::PartitionRules& rules) {
    return {{"mq.flush", rules.flush == log::FlushMode::async ? "async" : "sync"},
            {"retention.ms", std::to_string(rules.retention_ms)},
            {"retention.bytes", std::to_string(rules.retention_bytes)},
            {"message.timestamp.after.max.ms", "9223372036854775807"}};
  }
  // Of those that no topic has or may have.
  std::string free_name() {
    constexpr std::uint64_t kNames = 6;
    std::set<std::string> taken;
    for (const auto& topic : known_.topics) {
      if (topic.fate != Fate::gone || topic.under_name > 0) {
        taken.insert(topic.name);
      }
    }
    const auto first = random_.below(kNames);
    for (std::uint64_t i = 0; i < kNames; ++i) {
      auto name = "t" + std::to_string((first + i) % kNames);
      if (!taken.contains(name)) {
        return name;
      }
    }
    return "";
  }
  void made(BrokerTopic& topic, const protocol::CreateTopicsResponse::CreatableTopicResult& answer) {
    constexpr std::int16_t kExists = 36;
    if (answer.error_code == 0) {
      topic.id = answer.topic_id;
      topic.fate = topic.fate == Fate::asked ? Fate::there : topic.fate;
    } else if (answer.error_code == kExists) {
      known_.broken("the name " + topic.name + " is free, and making it hears that it is not");
    }
  }
  void heard_records(std::size_t number, std::int32_t index, std::int64_t from, std::int64_t seen, bool was_safe,
                     const protocol::FetchResponse::PartitionData& data) {
    auto& topic = known_.topics[number];
    if (data.error_code != 0) {
      if (data.error_code == kUnknownTopicId && topic.fate == Fate::there) {
        known_.broken("topic " + topic.name + " is there, and a reader hears that it is not");
      }
      return;
    }
    auto& part = known_.part(number, index);
    if (data.high_watermark < seen) {
      known_.broken(known_.part_name(number, index) + ": the high watermark went back to " +
                    std::to_string(data.high_watermark) + " from " + std::to_string(seen));
    }
    part.seen_end = std::max(part.seen_end, data.high_watermark);
    std::vector<ReadBack> records;
    const auto bytes = data.records ? data.records->flatten() : std::vector<std::byte>{};
    take_records(bytes, from, records);
    for (auto next = from; const auto& record : records) {
      if (record.offset != next++) {
        known_.broken(known_.part_name(number, index) + ": a gap before offset " + std::to_string(record.offset));
      }
      known_.learn(number, index, record.offset, record.value);
      ++known_.counts["records read"];
      if (was_safe && topic.was_always_safe()) {
        part.promised[record.offset] = record.value;
      }
    }
  }

  World& world_;
  Known& known_;
  Random& random_;
  Tell tell_;
  std::vector<std::unique_ptr<LivesProducer>> producers_;
  LivesClient admin_{world_, "admin"};
  LivesClient group_{world_, "consumer"};
  LivesClient trimmer_{world_, "trimmer"};  // apart from `admin_`: an answer waits for those before it
};

}  // namespace weir::sim
