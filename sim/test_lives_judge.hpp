// What a started broker shows its clients, compared with what they know (broker_lives_sim_test): topics and their ids,
// their settings, records, log starts, committed offsets. From then on what it showed is what they know.
#pragma once

#include "protocol/gen/fetch.hpp"
#include "protocol/gen/list_offsets.hpp"
#include "protocol/gen/metadata.hpp"
#include "protocol/gen/offset_fetch.hpp"
#include "sim/sim_producer.hpp"
#include "sim/test_lives_topics.hpp"

namespace weir::sim {

class LivesJudge {
 public:
  LivesJudge(World& world, Known& known, log::Left left, Millis latest_wall_ms)
      : world_(world), known_(known), left_(left), latest_wall_ms_(latest_wall_ms) {}

  // The first promise that is broken goes to known.why.
  void go() {
    world_.network().set_faults({});
    auto opened = world_.connect();
    if (!opened) {
      known_.broken("nobody can connect: " + to_string(opened.error()));
      return;
    }
    connection_ = std::move(*opened);
    judge_topics();
    for (auto& topic : known_.topics) {
      for (std::size_t i = 0; i < topic.parts.size() && topic.fate == Fate::there && known_.why.empty(); ++i) {
        judge_part(topic, static_cast<std::int32_t>(i));
      }
    }
    for (const auto* group : {"group 0", "group 1", "group 2"}) {
      if (known_.why.empty()) {
        judge_group(group);
      }
    }
    connection_->close();
  }

 private:
  // Null after a word in known.why.
  template <class Response, class Request>
  std::optional<client::Answered<Response>> ask(const std::string& what, const Request& request, std::int16_t version) {
    auto answer = std::make_shared<std::optional<Result<client::Answered<Response>>>>();
    connection_->call_version<Request, Response>(
        request, version, [answer](Result<client::Answered<Response>> got) { *answer = std::move(got); });
    if (!world_.run_until([&] { return answer->has_value(); }, World::kPatienceMs)) {
      known_.broken("after the start " + what + " is not answered");
      return std::nullopt;
    }
    if (!**answer) {
      known_.broken("after the start " + what + ": " + to_string((*answer)->error()));
      return std::nullopt;
    }
    return std::move(***answer);
  }

  void judge_topics() {
    protocol::MetadataRequest request;
    request.topics = std::nullopt;
    request.allow_auto_topic_creation = false;
    const auto answer = ask<protocol::MetadataResponse>("Metadata", request, 12);
    if (!answer) {
      return;
    }
    std::map<std::string, const protocol::MetadataResponse::MetadataResponseTopic*> shown;
    for (const auto& topic : answer->response.topics) {
      if (!topic.is_internal && topic.name != protocol::Text{"probe"}) {
        shown.emplace(topic.name.value_or("").str(), &topic);
      }
    }
    for (auto& topic : known_.topics) {
      if (topic.fate == Fate::gone) {
        continue;
      }
      const auto found = shown.find(topic.name);
      const auto* one = found != shown.end() ? found->second : nullptr;
      judge_topic(topic, one);
      if (topic.fate == Fate::there && one != nullptr) {
        shown.erase(found);
      }
    }
    for (const auto& [name, topic] : shown) {
      known_.broken("topic " + name + " was deleted, or never made, and is there");
    }
  }
  void judge_topic(BrokerTopic& topic, const protocol::MetadataResponse::MetadataResponseTopic* shown) {
    const bool is_there = shown != nullptr && (topic.id == Uuid{} || topic.id == shown->topic_id);
    if (topic.fate == Fate::there && !is_there) {
      known_.broken("topic " + topic.name + " was made and is " + (shown != nullptr ? "another" : "gone"));
      return;
    }
    topic.fate = is_there ? Fate::there : Fate::gone;
    topic.refused_deletions = 0;
    if (!is_there) {
      return;
    }
    topic.id = shown->topic_id;
    if (shown->partitions.size() != topic.parts.size()) {
      known_.broken("topic " + topic.name + " has " + std::to_string(shown->partitions.size()) + " partitions");
      return;
    }
    for (const auto& partition : shown->partitions) {
      auto& part = known_.part(topic.number, partition.partition_index);
      if (partition.leader_epoch < part.leader_epoch) {
        known_.broken("topic " + topic.name + ": the leader epoch went back");
      }
      part.epoch_was_raised = partition.leader_epoch > part.leader_epoch;
      part.leader_epoch = partition.leader_epoch;
    }
    judge_rules(topic);
  }
  void judge_rules(BrokerTopic& topic) {
    const auto& services = world_.broker().services();
    const auto image = services.controller.image();
    const auto& found = image->find_topic(topic.id);
    if (!found) {
      known_.broken("topic " + topic.name + " is told, and not there");
      return;
    }
    const auto rules = services.topics.of(*found)->rules;
    const bool is_old = are_same_rules(rules, topic.rules);
    if (!is_old && !(topic.wanted && are_same_rules(rules, *topic.wanted))) {
      known_.broken("topic " + topic.name + " is " + log::to_text(rules) + ", and was " + log::to_text(topic.rules));
    }
    topic.rules = rules;
    topic.wanted.reset();
    ++topic.rules_changes;
    topic.changes_at_start = topic.rules_changes;
  }

  std::optional<std::int64_t> earliest(const BrokerTopic& topic, std::int32_t index) {
    protocol::ListOffsetsRequest request;
    request.replica_id = -1;
    auto& asked = request.topics.emplace_back();
    asked.name = topic.name;
    asked.partitions.push_back({.partition_index = index, .timestamp = -2});
    const auto answer = ask<protocol::ListOffsetsResponse>("ListOffsets", request, 7);
    if (!answer) {
      return std::nullopt;
    }
    const auto& part = answer->response.topics.at(0).partitions.at(0);
    if (part.error_code != 0) {
      known_.broken(known_.part_name(topic.number, index) + ": ListOffsets says " + std::to_string(part.error_code));
      return std::nullopt;
    }
    return part.offset;
  }
  struct Shown {
    std::int16_t error = 0;
    std::int64_t end = 0;
    std::vector<ReadBack> records;
  };
  Shown read_from(const BrokerTopic& topic, std::int32_t index, std::int64_t start) {
    Shown shown;
    for (auto at = start; known_.why.empty();) {
      protocol::FetchRequest request;
      request.max_bytes = 1 << 20;
      auto& asked = request.topics.emplace_back();
      asked.topic_id = topic.id;
      asked.partitions.push_back({.partition = index,
                                  .current_leader_epoch = known_.part(topic.number, index).leader_epoch,
                                  .fetch_offset = at,
                                  .partition_max_bytes = 1 << 20});
      const auto answer = ask<protocol::FetchResponse>("Fetch", request, 13);
      if (!answer) {
        break;
      }
      const auto& data = answer->response.responses.at(0).partitions.at(0);
      shown.error = data.error_code;
      shown.end = data.high_watermark;
      if (data.error_code != 0 || at >= data.high_watermark) {
        break;
      }
      const auto bytes = data.records ? data.records->flatten() : std::vector<std::byte>{};
      const auto next = take_records(bytes, at, shown.records);
      if (next == at) {
        known_.broken(known_.part_name(topic.number, index) + ": nothing at " + std::to_string(at) +
                      " below the high watermark " + std::to_string(data.high_watermark));
      }
      at = next;
    }
    return shown;
  }
  void judge_part(BrokerTopic& topic, std::int32_t index) {
    constexpr int kTries = 5;  // retention moves the start between the two; an index is made again
    std::optional<std::int64_t> start;
    Shown shown;
    for (int i = 0; i < kTries && known_.why.empty(); ++i) {
      start = earliest(topic, index);
      if (start) {
        shown = read_from(topic, index, *start);
        if (shown.error == 0) {
          break;
        }
        world_.queue().run_for(200);
      }
    }
    const auto name = known_.part_name(topic.number, index);
    if (shown.error != 0) {
      known_.broken(name + " cannot be read: " + std::to_string(shown.error));
    }
    if (!known_.why.empty()) {
      return;
    }
    std::map<std::int64_t, std::string> stored;
    for (auto& record : shown.records) {
      stored.emplace(record.offset, std::move(record.value));
    }
    auto& part = known_.part(topic.number, index);
    if (const auto why = log::judge_shown(part, std::move(stored), *start, shown.end, left_, latest_wall_ms_);
        !why.empty()) {
      known_.broken(name + ": " + why);
    }
  }

  void judge_group(const std::string& group) {
    protocol::OffsetFetchRequest request;
    auto& asked = request.groups.emplace_back();
    asked.group_id = group;
    std::vector<GroupKey> keys;
    bool has_committed = false;
    for (auto& [key, committed] : known_.commits) {
      const auto& [of, number, index] = key;
      if (of == group && known_.topics[number].fate == Fate::there) {
        keys.push_back(key);
        has_committed = has_committed || committed.answered >= 0;
        asked.topics->push_back({.topic_id = known_.topics[number].id, .partition_indexes = {index}});
      }
    }
    if (!has_committed) {  // perhaps nobody has made the coordinator's topic yet
      return;
    }
    const auto answer = ask_loaded(group, request);
    for (std::size_t i = 0; answer && i < keys.size(); ++i) {
      const auto shown = committed_in(answer->response.groups.at(0), keys[i]);
      auto& committed = known_.commits[keys[i]];
      if (!committed.may_be(shown)) {
        known_.broken(group + " committed " + std::to_string(committed.answered) + " of " +
                      known_.part_name(std::get<1>(keys[i]), std::get<2>(keys[i])) + " and hears " +
                      std::to_string(shown));
      }
      committed.answered = shown;
      committed.unknown.clear();
      committed.is_under_way = false;
    }
  }
  std::int64_t committed_in(const protocol::OffsetFetchResponse::OffsetFetchResponseGroup& group, const GroupKey& key) {
    const auto& [name, number, index] = key;
    for (const auto& topic : group.topics) {
      for (const auto& partition : topic.partitions) {
        if (topic.topic_id == known_.topics[number].id && partition.partition_index == index) {
          return partition.error_code == 0 ? partition.committed_offset : -2;
        }
      }
    }
    return -2;
  }
  std::optional<client::Answered<protocol::OffsetFetchResponse>> ask_loaded(
      const std::string& group, const protocol::OffsetFetchRequest& request) {
    std::int16_t code = 0;
    const auto until = world_.queue().clock().monotonic_ms() + World::kPatienceMs;
    while (known_.why.empty() && world_.queue().clock().monotonic_ms() < until) {
      auto answer = ask<protocol::OffsetFetchResponse>("OffsetFetch", request, 10);
      if (!answer) {
        return std::nullopt;
      }
      code = answer->response.groups.at(0).error_code;
      if (code == 0) {
        return answer;
      }
      world_.queue().run_for(50);
    }
    known_.broken(group + " cannot be read a minute after the start: " + std::to_string(code));
    return std::nullopt;
  }

  World& world_;
  Known& known_;
  log::Left left_;
  Millis latest_wall_ms_;
  std::shared_ptr<client::Connection> connection_;
};

}  // namespace weir::sim
