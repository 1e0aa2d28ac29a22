#include "coordinator/explain_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace weir::group {
namespace {

constexpr Millis kStillMs = 60'000;  // auto-commit comes every 5 s; who commits less often than this gets the doubt
constexpr Millis kRebalanceWindowMs = 300'000;
constexpr std::size_t kManyRebalances = 3;  // in the window: a group that grows to its size makes one or two
constexpr std::size_t kNamedMembers = 3;
constexpr std::size_t kSentencesOfACause = 3;
constexpr std::size_t kNamedPartitions = 5;
constexpr std::size_t kNameBytesMax = 120;  // a client may call itself anything, up to 32 KB

// What a client said, fit for one line of a terminal.
std::string shown(std::string_view text) {
  auto cut = std::min(text.size(), kNameBytesMax);
  while (cut > 0 && cut < text.size() && (static_cast<unsigned char>(text[cut]) & 0xc0U) == 0x80U) {
    --cut;  // not in the middle of a character
  }
  auto line = std::string{text.substr(0, cut)} + (cut < text.size() ? "..." : "");
  std::ranges::replace_if(line, [](char c) { return static_cast<unsigned char>(c) < 0x20U || c == '\x7f'; }, '?');
  return line;
}

std::string count_of(std::int64_t count, std::string_view one, std::string_view many) {
  return grouped_digits(count) + " " + std::string{count == 1 ? one : many};
}
std::string members_text(std::int64_t count) {
  return count_of(count, "member", "members");
}
std::string records_wait(std::int64_t count) {
  return grouped_digits(count) + (count == 1 ? " record waits" : " records wait");
}

// One cause and the partitions (or topics) that it holds up: the worst with a sentence each, the others by name.
class Cause {
 public:
  explicit Cause(std::string noun = "partition") : noun_(std::move(noun)) {}
  void add(std::int64_t weight, std::string name, std::string sentence) {
    cases_.push_back({weight, std::move(name), std::move(sentence)});
  }
  void tell(std::vector<std::string>& out) {
    std::ranges::stable_sort(cases_, std::ranges::greater{}, &Case::weight);
    const auto told = std::min(cases_.size(), kSentencesOfACause);
    for (std::size_t i = 0; i < told; ++i) {
      out.push_back(std::move(cases_[i].sentence));
    }
    if (cases_.size() == told) {
      return;
    }
    std::string names;
    const auto named = std::min(cases_.size(), told + kNamedPartitions);
    for (auto i = told; i < named; ++i) {
      names += (names.empty() ? "" : ", ") + cases_[i].name;
    }
    const auto more = static_cast<std::int64_t>(cases_.size() - told);
    out.push_back(fmt::format("The same holds for {}: {}{}.", count_of(more, "more " + noun_, "more " + noun_ + "s"),
                              names, named < cases_.size() ? " and so on" : ""));
  }

 private:
  struct Case {
    std::int64_t weight;
    std::string name;
    std::string sentence;
  };
  const std::string noun_;
  std::vector<Case> cases_;
};

class Explanation {
 public:
  Explanation(const GroupStanding& group, Now now) : group_(group), facts_(group.facts), now_(now) {}

  std::vector<std::string> run() {
    switch (facts_.state) {
      case GroupState::empty: empty(); break;
      case GroupState::preparing_rebalance: preparing(); break;
      case GroupState::completing_rebalance: completing(); break;
      case GroupState::stable: stable(); break;
      case GroupState::dead: return {"There is no such group."};
    }
    topics();
    rebalances();
    sum();
    return std::move(told_);
  }

 private:
  template <class... Args>
  void tell(fmt::format_string<Args...> form, Args&&... args) {
    told_.push_back(fmt::format(form, std::forward<Args>(args)...));
  }

  [[nodiscard]] std::string ago(Millis monotonic_ms) const {
    return duration_text(now_.monotonic_ms - monotonic_ms) + " ago";
  }
  [[nodiscard]] std::string left(Millis until_monotonic_ms) const {
    return duration_text(until_monotonic_ms - now_.monotonic_ms);
  }
  [[nodiscard]] std::string remaining() const { return left(facts_.deadline_ms); }
  [[nodiscard]] std::string heard(const MemberFacts& member) const {
    return member.heard_ms < 0 ? "not heard of since the broker started" : "last heard of " + ago(member.heard_ms);
  }
  // Clients heartbeat three times in a session timeout.
  [[nodiscard]] bool heartbeats(const MemberFacts& member) const {
    return member.heard_ms >= 0 && now_.monotonic_ms - member.heard_ms <= member.session_timeout_ms / 2;
  }
  static std::string name_of(const MemberFacts& member) {
    return member.instance_id ? fmt::format("{} (static {})", shown(member.member_id), shown(*member.instance_id))
                              : shown(member.member_id);
  }
  [[nodiscard]] std::string portrait(const MemberFacts& member) const {
    return fmt::format("member {}, client {} at {}, {}", name_of(member), shown(member.client_id),
                       shown(member.client_host), heard(member));
  }
  [[nodiscard]] const MemberFacts* find(const std::string& member_id) const {
    const auto found = std::ranges::find(facts_.members, member_id, &MemberFacts::member_id);
    return found == facts_.members.end() ? nullptr : &*found;
  }
  [[nodiscard]] std::string since() const {
    return facts_.state_since_ms < 0 ? "" : " since " + duration_text(now_.wall_ms - facts_.state_since_ms);
  }

  // --- states ---

  void empty() {
    if (facts_.protocol_type.empty() && facts_.pending_members == 0) {
      return tell("Nobody ever joined: this group only stores offsets.");
    }
    if (facts_.last_departure) {
      const auto& last = *facts_.last_departure;
      tell("No member: nobody reads. The last one, {}, left {}: {}.", shown(last.member_id), ago(last.at_ms),
           shown(last.reason));
    } else {
      tell("No member: nobody reads{}.", since());
    }
    pending();
  }

  void pending() {
    if (facts_.pending_members > 0) {
      tell("{} given a member id and did not come back with it yet.",
           facts_.pending_members == 1 ? "1 client was" : grouped_digits(facts_.pending_members) + " clients were");
    }
  }

  void preparing() {
    if (facts_.in_initial_delay) {
      tell(
          "The group is new: it waits {} more for others before its first rebalance "
          "(group.initial.rebalance.delay.ms); {} here.",
          remaining(),
          std::ssize(facts_.members) == 1 ? "1 member is" : members_text(std::ssize(facts_.members)) + " are");
      return pending();
    }
    std::vector<const MemberFacts*> missing;
    for (const auto& member : facts_.members) {
      if (!member.waits_in_join) {
        missing.push_back(&member);
      }
    }
    if (missing.empty()) {
      tell("The group rebalances{}: all its members have joined again{}.", since(),
           facts_.pending_members > 0 ? ", and it waits for a new one; it goes on in " + remaining() : "");
      return pending();
    }
    std::string names;
    for (std::size_t i = 0; i < std::min(missing.size(), kNamedMembers); ++i) {
      names += (i == 0 ? "" : "; ") + portrait(*missing[i]);
    }
    if (missing.size() > kNamedMembers) {
      names += fmt::format("; and {} more", missing.size() - kNamedMembers);
    }
    const bool all_static =
        std::ranges::all_of(missing, [](const auto* member) { return member->instance_id.has_value(); });
    tell("The group waits for {} of {} to join again ({}); it goes on {} in {} at the latest.", missing.size(),
         members_text(std::ssize(facts_.members)), names,
         all_static            ? "and keeps the places of static members"
         : missing.size() == 1 ? "without it"
                               : "without them",
         remaining());
    for (std::size_t i = 0; i < std::min(missing.size(), kNamedMembers); ++i) {
      const auto& member = *missing[i];
      const auto began = facts_.rebalances.empty() ? now_.monotonic_ms : facts_.rebalances.back().at_ms;
      if (member.heard_ms > began) {
        tell(
            "Member {} has heartbeat since the rebalance began and does not join: its application is busy with records "
            "and does not poll.",
            name_of(member));
      } else {
        tell(
            "Nothing has come from member {} since the rebalance began {}: it hangs, is stopped, or cannot reach this "
            "broker{}.",
            name_of(member), ago(began),
            member.session_end_ms == kNever ? "" : "; its session ends in " + left(member.session_end_ms));
      }
    }
    pending();
  }

  void completing() {
    if (facts_.writes_assignments) {
      return tell("The group rebalances: the assignments of its leader {} are being written to the log.",
                  shown(facts_.leader));
    }
    const auto* leader = find(facts_.leader);
    tell(
        "The group waits{} for the assignments of its leader ({}); without them it rebalances again in {} at the "
        "latest.",
        since(), leader == nullptr ? "member " + shown(facts_.leader) : portrait(*leader), remaining());
  }

  void stable() {
    tell("The group is stable{}, generation {}, with {}.", since(), facts_.generation,
         members_text(std::ssize(facts_.members)));
    for (const auto& member : facts_.members) {
      if (member.heard_ms >= 0 && !heartbeats(member)) {
        tell("Member {} was last heard of {}; its session ends in {}.", name_of(member), ago(member.heard_ms),
             left(member.session_end_ms));
      }
    }
    if (facts_.protocol_type != "consumer") {
      return tell("Its protocol is '{}': who reads which partition is not known here.", shown(facts_.protocol_type));
    }
    std::set<std::int32_t> readers;
    for (const auto& topic : group_.topics) {
      for (const auto& part : topic.partitions) {
        readers.insert(part.member);
      }
    }
    readers.erase(-1);
    if (const auto idle = std::ssize(facts_.members) - std::ssize(readers); idle > 0) {
      tell("{} of {} no partition.", idle, members_text(std::ssize(facts_.members)) + (idle == 1 ? " has" : " have"));
    }
    pending();
  }

  // --- partitions ---

  void topics() {
    for (const auto& topic : group_.topics) {
      if (!topic.exists) {
        missing_.add(0, shown(topic.topic),
                     topic.subscribed
                         ? fmt::format("Topic {} is subscribed but does not exist.", shown(topic.topic))
                         : fmt::format("Topic {} does not exist any more: what was committed for it says nothing.",
                                       shown(topic.topic)));
        continue;
      }
      for (const auto& part : topic.partitions) {
        partition(topic, part);
      }
      if (!topic.subscribed && facts_.state == GroupState::stable && facts_.protocol_type == "consumer") {
        unwanted_.add(0, topic.topic,
                      fmt::format("Topic {} has commits, but no member subscribes to it.", topic.topic));
      }
    }
    for (auto* cause :
         {&missing_, &beyond_, &below_, &unassigned_, &stuck_, &silent_, &no_commit_, &unwanted_, &moving_}) {
      cause->tell(told_);
    }
  }

  void partition(const TopicStanding& topic, const PartitionStanding& part) {
    const auto name = fmt::format("{}-{}", topic.topic, part.partition);
    const bool settled = facts_.state == GroupState::stable && facts_.protocol_type == "consumer";
    const bool has_reader = part.member >= 0;
    if (part.log_start < 0) {
      return beyond_.add(0, name, fmt::format("Partition {} does not exist.", name));
    }
    if (part.lag == LagState::unknown) {
      return beyond_.add(
          part.committed, name,
          fmt::format("The committed offset {} of {} lies beyond the end {} of the partition, so what it has read is "
                      "unknown; a consumer goes on where auto.offset.reset says.",
                      part.committed, name, part.high_watermark));
    }
    if (part.lag == LagState::number && part.committed < part.log_start) {
      below_.add(part.behind, name,
                 fmt::format("The committed offset {} of {} lies below the log start {}: those records are gone; a "
                             "consumer goes on where auto.offset.reset says.",
                             part.committed, name, part.log_start));
    }
    if (settled && topic.subscribed && !has_reader) {
      return unassigned_.add(part.behind, name, fmt::format("Partition {} is assigned to nobody.", name));
    }
    const auto there = part.high_watermark - part.log_start;
    if (part.lag == LagState::no_commit) {
      if (there > 0) {
        no_commit_.add(
            there, name,
            fmt::format("Partition {} has no commit: {}; whoever starts there begins where "
                        "auto.offset.reset says.",
                        name, has_reader ? "its member " + reader(part) + " has not committed" : "nobody committed"));
      }
      return;
    }
    if (part.behind == 0 || !settled || !has_reader || part.committed < part.log_start) {
      return;
    }
    if (part.still_ms <= kStillMs) {
      moving_.add(part.behind, name,
                  fmt::format("Partition {} moves: its offset changed {} ago; {}.", name, duration_text(part.still_ms),
                              records_wait(part.behind)));
    } else if (part.commit_age_ms <= kStillMs) {
      stuck_.add(
          part.behind, name,
          fmt::format("Partition {} does not move: its member {} commits, but offset {} has been the same for {} "
                      "while {}; it is paused, or stuck at one record.",
                      name, reader(part), part.committed, duration_text(part.still_ms), records_wait(part.behind)));
    } else {
      const auto& member = facts_.members[static_cast<std::size_t>(part.member)];
      silent_.add(part.behind, name,
                  fmt::format("Partition {} does not move: its member {} {}, but the last commit is {} old while {}.",
                              name, reader(part), heartbeats(member) ? "heartbeats" : "is in the group",
                              duration_text(part.commit_age_ms), records_wait(part.behind)));
    }
  }

  [[nodiscard]] std::string reader(const PartitionStanding& part) const {
    return name_of(facts_.members[static_cast<std::size_t>(part.member)]);
  }

  // --- what else is worth knowing ---

  void rebalances() {
    if (facts_.rebalances.empty()) {
      return;
    }
    const auto& last = facts_.rebalances.back();
    const auto recent = static_cast<std::size_t>(std::ranges::count_if(
        facts_.rebalances, [&](const Rebalance& one) { return now_.monotonic_ms - one.at_ms <= kRebalanceWindowMs; }));
    if (recent < kManyRebalances) {
      return tell("It last rebalanced {}: {}.", ago(last.at_ms), shown(last.reason));
    }
    tell("It has rebalanced {}{} times in {}; the last time {}: {}.", recent == kRebalancesKept ? "at least " : "",
         recent, duration_text(kRebalanceWindowMs), ago(last.at_ms), shown(last.reason));
  }

  void sum() {
    std::int64_t behind = 0;
    std::int64_t late = 0;
    std::int64_t partitions = 0;
    bool is_known = true;
    for (const auto& topic : group_.topics) {
      is_known = is_known && topic.exists;
      for (const auto& part : topic.partitions) {
        ++partitions;
        if (part.lag == LagState::number) {
          behind += part.behind;
          late += part.behind > 0 ? 1 : 0;
        } else {
          is_known = is_known && part.lag == LagState::no_commit && part.high_watermark == part.log_start;
        }
      }
    }
    if (late > 0) {
      tell("{} in {}.", records_wait(behind), count_of(late, "partition", "partitions"));
    } else if (partitions > 0 && is_known) {
      tell("Everything is read.");
    }
  }

  const GroupStanding& group_;
  const GroupFacts& facts_;
  const Now now_;
  std::vector<std::string> told_;
  Cause missing_{"topic"}, unwanted_{"topic"};
  Cause beyond_, below_, unassigned_, stuck_, silent_, no_commit_, moving_;
};

}  // namespace

std::string duration_text(Millis duration_ms) {
  constexpr Millis kSecond = 1000;
  constexpr Millis kMinute = 60 * kSecond;
  constexpr Millis kHour = 60 * kMinute;
  constexpr Millis kDay = 24 * kHour;
  const auto ms = std::max<Millis>(duration_ms, 0);
  if (ms < 2 * kMinute) {
    return fmt::format("{} s", (ms + kSecond / 2) / kSecond);
  }
  if (ms < 2 * kHour) {
    return fmt::format("{} min", ms / kMinute);
  }
  return ms < 2 * kDay ? fmt::format("{} h", ms / kHour) : fmt::format("{} days", ms / kDay);
}

std::string grouped_digits(std::int64_t number) {
  auto text = std::to_string(number);
  const auto first = static_cast<std::ptrdiff_t>(number < 0 ? 1 : 0);
  for (auto at = std::ssize(text) - 3; at > first; at -= 3) {
    text.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return text;
}

std::vector<std::string> explain_group(const GroupStanding& group, Now now) {
  return Explanation{group, now}.run();
}

}  // namespace weir::group
