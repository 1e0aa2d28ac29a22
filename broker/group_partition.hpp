// GroupPartition: one partition of `__consumer_offsets` at work: loads its GroupShard from the log, appends what the
// shard asks for, releases answers when they are durable, wakes it at its deadlines. Owned by GroupService; lives on
// one io loop, except load(), which reads on the pool and comes back.
#pragma once

#include <memory>
#include <unordered_map>

#include "base/metrics.hpp"
#include "base/runtime.hpp"
#include "coordinator/group_shard.hpp"
#include "log/commit_log.hpp"

namespace weir::broker {

// Work that must end before the log may stop: loads and appends hold it. `on_last` runs when nobody holds it any more.
struct WorkGate {
  Task on_last;
  ~WorkGate() {
    if (on_last) {
      on_last();
    }
  }
};

class GroupPartition : public std::enable_shared_from_this<GroupPartition> {
 public:
  struct World {
    Runtime& runtime;
    log::CommitLog& log;
    Metrics& metrics;
    const group::GroupConfig& config;
    // Is this topic (a zero id: only its name counts) not in the newest image?
    std::function<bool(const std::string& topic, const Uuid& topic_id)> topic_is_gone;
  };
  GroupPartition(World& world, IoLoop& loop, std::int32_t index, std::uint64_t seed);
  ~GroupPartition();

  // What a request hears before the shard does: none when it may go on. Loads the shard first when `topic_id` is new.
  group::ErrorCode attach(const Uuid& topic_id, const std::shared_ptr<WorkGate>& gate);
  void close();  // forgets the shard; whoever waits is dropped

  using OnAnswer = UniqueFunction<void(group::Answer)>;
  // An event whose answer comes later: event(shard, ticket, now, effects).
  template <class Event>
  void run(Event&& event, OnAnswer on_answer) noexcept {
    const auto ticket = ++last_ticket_;
    waiting_.emplace(ticket, std::move(on_answer));
    group::Effects effects;
    event(*shard_, ticket, now(), effects);
    after(std::move(effects));
  }
  // An event without an answer, or a read: event(shard, now, effects).
  template <class Event>
  auto run_now(Event&& event) noexcept {
    group::Effects effects;
    auto result = event(*shard_, now(), effects);
    after(std::move(effects));
    return result;
  }
  [[nodiscard]] bool is_ready() const { return shard_ != nullptr; }
  [[nodiscard]] IoLoop& loop() const { return loop_; }
  [[nodiscard]] group::Now now() const;

 private:
  void load(const std::shared_ptr<WorkGate>& gate);
  void loaded(std::uint64_t load, Result<std::unique_ptr<group::GroupShard>> shard);
  void after(group::Effects effects);
  void append(std::vector<group::LogRecord> records);
  void arm_timer();

  World& world_;
  IoLoop& loop_;
  const std::int32_t index_;
  Random random_;
  Uuid topic_id_;
  std::shared_ptr<log::Partition> partition_;
  std::unique_ptr<group::GroupShard> shard_;
  std::shared_ptr<WorkGate> gate_;
  bool loading_ = false;
  std::uint64_t generation_ = 0;  // of the shard: what comes back for an older one is dropped
  group::Ticket last_ticket_ = 0;
  std::unordered_map<group::Ticket, OnAnswer> waiting_;
  TimerQueue::TimerId timer_ = 0;
  Millis timer_deadline_ = group::kNever;
  std::int64_t groups_counted_ = 0;
};

}  // namespace weir::broker
