// A GroupShard with a log, a clock and a client in memory, for tests. Appends become durable at once, or when the test
// says so (hold), or never (refuse).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "coordinator/group_shard.hpp"

namespace weir::group {

inline SharedBytes blob(std::string_view text) {
  return SharedBytes::copy_of(as_bytes(text));
}
inline std::string text_of(const SharedBytes& bytes) {
  return std::string{as_text(bytes.view())};
}

// Metadata of the consumer protocol, version 1, that names these topics.
inline SharedBytes subscription(const std::vector<std::string>& topics) {
  std::string bytes{"\0\1", 2};
  const auto number = [&](std::int32_t value, int size) {
    for (int shift = (size - 1) * 8; shift >= 0; shift -= 8) {
      bytes += static_cast<char>((static_cast<std::uint32_t>(value) >> static_cast<unsigned>(shift)) & 255U);
    }
  };
  number(static_cast<std::int32_t>(topics.size()), 4);
  for (const auto& topic : topics) {
    number(static_cast<std::int32_t>(topic.size()), 2);
    bytes += topic;
  }
  number(-1, 4);
  number(0, 4);
  return blob(bytes);
}

class ShardUnderTest {
 public:
  explicit ShardUnderTest(GroupConfig with = {}, std::uint64_t seed = 1) : config(with), seed_(seed) { restart(); }

  GroupConfig config;
  Now now{.monotonic_ms = 1'000, .wall_ms = 1'700'000'000'000};
  std::map<Ticket, Answer> answers;
  std::vector<std::string> notes;
  std::map<std::int64_t, LogRecord> log;  // offset -> durable record
  bool hold = false;
  std::optional<Errc> refuse_appends;
  std::int64_t appends = 0;

  GroupShard& shard() { return *shard_; }

  // A new process: what is in the log, and nothing else.
  void restart() {
    shard_ = std::make_unique<GroupShard>(config, Random{seed_++});
    held_.clear();
    for (const auto& [offset, record] : log) {
      const auto ok = shard_->replay(record.key, record.value ? std::optional<Bytes>{*record.value} : std::nullopt);
      WEIR_CHECK(ok);
    }
    Effects effects;
    shard_->loaded(now, effects);
    take(effects);
  }

  // --- events: each returns the ticket, or the answer if there is one ---
  Ticket join_async(JoinRequest request) {
    Effects effects;
    shard_->join(std::move(request), ++last_ticket_, now, effects);
    take(effects);
    return last_ticket_;
  }
  Ticket sync_async(SyncRequest request) {
    Effects effects;
    shard_->sync(std::move(request), ++last_ticket_, now, effects);
    take(effects);
    return last_ticket_;
  }
  Ticket leave_async(const LeaveRequest& request) {
    Effects effects;
    shard_->leave(request, ++last_ticket_, now, effects);
    take(effects);
    return last_ticket_;
  }
  Ticket commit_async(CommitRequest request) {
    Effects effects;
    shard_->commit(std::move(request), ++last_ticket_, now, effects);
    take(effects);
    return last_ticket_;
  }
  Ticket delete_offsets_async(const DeleteOffsetsRequest& request) {
    Effects effects;
    shard_->delete_offsets(request, ++last_ticket_, now, effects);
    take(effects);
    return last_ticket_;
  }
  Ticket delete_group_async(const std::string& group) {
    Effects effects;
    shard_->delete_group(group, ++last_ticket_, now, effects);
    take(effects);
    return last_ticket_;
  }
  void drop_topics(const std::function<bool(const std::string&, const Uuid&)>& is_gone) {
    Effects effects;
    shard_->drop_topics(is_gone, now, effects);
    take(effects);
  }

  JoinAnswer join(JoinRequest request) { return get<JoinAnswer>(join_async(std::move(request))); }
  SyncAnswer sync(SyncRequest request) { return get<SyncAnswer>(sync_async(std::move(request))); }
  LeaveAnswer leave(const LeaveRequest& request) { return get<LeaveAnswer>(leave_async(request)); }
  CommitAnswer commit(CommitRequest request) { return get<CommitAnswer>(commit_async(std::move(request))); }
  ErrorCode heartbeat(const std::string& group, const std::string& member, std::int32_t generation,
                      std::optional<std::string> instance = {}) {
    return shard_->heartbeat(group, {member, std::move(instance), generation}, now);
  }

  [[nodiscard]] bool answered(Ticket ticket) const { return answers.contains(ticket); }
  template <class Body>
  Body get(Ticket ticket) const {
    WEIR_CHECK(answers.contains(ticket));
    return std::get<Body>(answers.at(ticket).body);
  }

  // Time passes; the shard is woken at each of its deadlines, as the broker's timers would.
  void advance(Millis by) {
    const auto end = now.monotonic_ms + by;
    while (true) {
      const auto due = shard_->next_deadline();
      const auto step = std::max<Millis>(std::min(due, end) - now.monotonic_ms, 0);
      now.monotonic_ms += step;
      now.wall_ms += step;
      if (due > end) {
        return;
      }
      Effects effects;
      shard_->tick(now, effects);
      take(effects);
    }
  }

  // The held append becomes durable, or is refused with `error`.
  void release(std::optional<Errc> error = {}) {
    WEIR_CHECK(!held_.empty());
    complete(std::exchange(held_, {}), error);
    pump();
  }
  [[nodiscard]] bool holds() const { return !held_.empty(); }
  void pump() {
    while (held_.empty()) {
      auto records = shard_->take_append();
      if (records.empty()) {
        return;
      }
      ++appends;
      if (hold) {
        held_ = std::move(records);
        return;
      }
      complete(std::move(records), refuse_appends);
    }
  }

 private:
  void take(Effects& effects) {
    absorb(effects);
    pump();
  }
  void absorb(Effects& effects) {
    for (auto& answer : effects.answers) {
      const auto ticket = answer.ticket;
      WEIR_CHECK(answers.emplace(ticket, std::move(answer)).second);  // exactly one answer each
    }
    std::ranges::move(effects.notes, std::back_inserter(notes));
    if (effects.move_start) {
      log.erase(log.begin(), log.lower_bound(effects.move_start->value));
    }
  }
  void complete(std::vector<LogRecord> records, std::optional<Errc> error) {
    Effects effects;
    if (error) {
      shard_->appended(*error, now, effects);
    } else {
      const Offset base{next_offset_};
      for (auto& record : records) {
        log.emplace(next_offset_++, std::move(record));
      }
      shard_->appended(base, now, effects);
    }
    absorb(effects);
  }

  std::uint64_t seed_;
  std::unique_ptr<GroupShard> shard_;
  std::vector<LogRecord> held_;
  std::int64_t next_offset_ = 0;
  Ticket last_ticket_ = 0;
};

inline JoinRequest join_request(std::string group, std::string member = "") {
  JoinRequest request;
  request.group_id = std::move(group);
  request.member_id = std::move(member);
  request.client_id = "probe";
  request.client_host = "/127.0.0.1";
  request.session_timeout_ms = 10'000;
  request.rebalance_timeout_ms = 60'000;
  request.protocol_type = "consumer";
  request.protocols = {{"range", subscription({"t"})}};
  return request;
}

inline SyncRequest sync_request(std::string group, std::string member, std::int32_t generation,
                                std::vector<MemberAssignment> assignments = {}) {
  SyncRequest request;
  request.group_id = std::move(group);
  request.member_id = std::move(member);
  request.generation = generation;
  request.protocol_type = "consumer";
  request.protocol_name = "range";
  request.assignments = std::move(assignments);
  return request;
}

inline CommitRequest commit_request(std::string group, std::string member, std::int32_t generation,
                                    std::int64_t offset = 5, std::string topic = "t") {
  CommitRequest request;
  request.group_id = std::move(group);
  request.sender = {std::move(member), {}, generation};
  request.partitions = {{std::move(topic), {}, 0, offset, 0, "x"}};
  return request;
}

// Committed offset of ("t", 0), or -1.
inline std::int64_t committed(ShardUnderTest& test, const std::string& group, const std::string& topic = "t") {
  return test.shard().fetch(group, {{topic, {}, {0}}}).at(0).partitions.at(0).offset;
}

}  // namespace weir::group
