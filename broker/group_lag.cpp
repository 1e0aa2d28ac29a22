#include "broker/group_lag.hpp"

#include <map>

#include "base/logging.hpp"
#include "base/metrics.hpp"

namespace weir::broker {
namespace {
using group::LagState;
using group::PartitionStanding;
using group::TopicStanding;

// One group against the image and the log. On the pool.
class Measuring {
 public:
  Measuring(const metadata::MetadataImage& image, const log::CommitLog& log, Millis wall_ms)
      : image_(image), log_(log), wall_ms_(wall_ms) {}

  group::GroupStanding run(group::InspectedGroup inspected) {
    commits(inspected.offsets);
    members(inspected.facts);
    group::GroupStanding standing{std::move(inspected.group_id), std::move(inspected.facts), {}};
    for (auto& [name, found] : topics_) {
      auto& topic = standing.topics.emplace_back(TopicStanding{name, found.topic != nullptr, found.subscribed, {}});
      topic.partitions.reserve(found.partitions.size());
      for (auto& [index, part] : found.partitions) {
        part.partition = index;
        if (found.topic != nullptr) {
          look_up(*found.topic, part);
        }
        topic.partitions.push_back(part);
      }
    }
    return standing;
  }

 private:
  struct Found {
    const metadata::Topic* topic = nullptr;  // null: it does not exist
    bool subscribed = false;
    std::map<std::int32_t, PartitionStanding> partitions;
  };

  Found& at(const std::string& name) {
    const auto [place, is_new] = topics_.try_emplace(name);
    if (is_new) {
      place->second.topic = image_.find_topic(name).get();
    }
    return place->second;
  }

  void commits(const std::vector<group::FetchedTopic>& offsets) {
    for (const auto& committed : offsets) {
      const auto& known = image_.find_topic(committed.topic);
      if (known && !committed.topic_id.is_zero() && committed.topic_id != known->id) {
        continue;  // of a deleted namesake
      }
      auto& topic = at(committed.topic);
      for (const auto& commit : committed.partitions) {
        auto& part = topic.partitions[commit.partition];
        part.committed = commit.offset;
        part.commit_age_ms = std::max<Millis>(wall_ms_ - commit.commit_ms, 0);
        part.still_ms = std::max<Millis>(wall_ms_ - commit.changed_ms, 0);
      }
    }
  }

  // What members say may name anything: only partitions that exist are taken from it.
  void members(const group::GroupFacts& facts) {
    if (facts.protocol_type != "consumer") {
      return;
    }
    for (std::size_t i = 0; i < facts.members.size(); ++i) {
      const auto& member = facts.members[i];
      if (const auto subscribed = group::subscribed_topics(member.subscription.view())) {
        for (const auto& name : *subscribed) {
          subscribe(at(name));
        }
      }
      if (const auto assigned = group::assigned_partitions(member.assignment.view())) {
        for (const auto& [name, partitions] : *assigned) {
          auto& topic = at(name);
          for (const auto index : partitions) {
            if (exists(topic, index)) {
              topic.partitions[index].member = static_cast<std::int32_t>(i);
            }
          }
        }
      }
    }
  }

  static bool exists(const Found& topic, std::int32_t index) {
    return topic.topic != nullptr && index >= 0 && std::cmp_less(index, topic.topic->partitions.size());
  }

  static void subscribe(Found& topic) {
    if (std::exchange(topic.subscribed, true) || topic.topic == nullptr) {
      return;
    }
    for (std::size_t i = 0; i < topic.topic->partitions.size(); ++i) {
      topic.partitions.try_emplace(static_cast<std::int32_t>(i));
    }
  }

  void look_up(const metadata::Topic& topic, PartitionStanding& part) const {
    const auto partition = log_.find({topic.id, part.partition});
    if (!partition) {
      return;
    }
    part.log_start = partition->log_start().value;
    part.high_watermark = partition->high_watermark().value;
    if (part.committed < 0) {
      part.lag = LagState::no_commit;
      return;
    }
    if (part.committed > part.high_watermark) {
      return;
    }
    const auto behind = log_.records_between(*partition, Offset{part.committed}, Offset{part.high_watermark});
    if (!behind) {
      WEIR_LOG(warn, "records of {}-{} cannot be counted: {}", topic.name, part.partition, to_string(behind.error()));
      return;
    }
    part.lag = LagState::number;
    part.behind = *behind;
  }

  const metadata::MetadataImage& image_;
  const log::CommitLog& log_;
  const Millis wall_ms_;
  std::map<std::string, Found> topics_;
};

void add_lines(const group::GroupStanding& standing, GroupLag::Lines& lines) {
  for (const auto& topic : standing.topics) {
    for (const auto& part : topic.partitions) {
      const auto index = std::to_string(part.partition);
      std::array<std::pair<std::string_view, std::string_view>, 4> labels{
          {{"group", standing.group_id}, {"topic", topic.topic}, {"partition", index}, {"state", ""}}};
      if (part.lag == LagState::number) {
        prometheus_line(lines.records_behind, "weir_group_records_behind", std::span{labels}.first(3), part.behind);
      } else {
        labels[3].second = part.lag == LagState::no_commit ? "no_commit" : "unknown";
        prometheus_line(lines.lag_state, "weir_group_lag_state", labels, 1);
      }
    }
  }
}

}  // namespace

void GroupLag::explain(std::string group_id, IoLoop& reply_on, UniqueFunction<void(Explained)> done) {
  groups_.inspect(
      std::move(group_id), reply_on,
      [this, &reply_on, done = std::move(done)](GroupService::Inspected inspected) mutable {
        if (inspected.error == protocol::ErrorCode::none && !inspected.group.facts.found) {
          inspected.error = protocol::ErrorCode::group_id_not_found;
        }
        if (inspected.error != protocol::ErrorCode::none) {
          return done({.error = inspected.error, .standing = {}, .reasons = {}});
        }
        runtime_.pool.post([this, &reply_on, done = std::move(done), group = std::move(inspected.group)]() mutable {
          const auto& clock = runtime_.clock;
          const group::Now now{.monotonic_ms = clock.monotonic_ms(), .wall_ms = clock.wall_ms()};
          Explained explained;
          explained.standing = Measuring{*controller_.image(), log_, now.wall_ms}.run(std::move(group));
          explained.reasons = group::explain_group(explained.standing, now);
          reply_on.post(
              [done = std::move(done), explained = std::move(explained)]() mutable { done(std::move(explained)); });
        });
      });
}

void GroupLag::measure(IoLoop& reply_on, UniqueFunction<void(Lines)> done) {
  groups_.inspect_all(
      reply_on, [this, &reply_on, done = std::move(done)](std::vector<group::InspectedGroup> groups) mutable {
        runtime_.pool.post([this, &reply_on, done = std::move(done), groups = std::move(groups)]() mutable {
          const auto image = controller_.image();
          const auto wall_ms = runtime_.clock.wall_ms();
          std::ranges::sort(groups, {}, &group::InspectedGroup::group_id);
          Lines lines;
          for (auto& group : groups) {
            add_lines(Measuring{*image, log_, wall_ms}.run(std::move(group)), lines);
          }
          reply_on.post([done = std::move(done), lines = std::move(lines)]() mutable { done(std::move(lines)); });
        });
      });
}

}  // namespace weir::broker
