#include "log/memory_topics.hpp"

#include "base/count_of.hpp"
#include "base/logging.hpp"
#include "log/chain_builder.hpp"
#include "protocol/record.hpp"

namespace weir::log {
namespace {
constexpr Millis kTellEveryMs = 10'000;
constexpr std::size_t kScanMax = 4096;  // batches that a time look-up passes while it holds the mutex

// The first record of the batch at or above `start`, below `bound`, that is at least as new as `timestamp`.
Result<std::optional<TimestampAndOffset>> find_in_batch(Bytes bytes, Millis timestamp, Offset start, Offset bound) {
  WEIR_TRY(const auto batch, protocol::RecordBatchView::parse(bytes));
  protocol::RecordReader records{batch, protocol::kExpansionMax};
  for (;;) {
    WEIR_TRY(const auto record, records.next());
    if (!record) {
      return std::optional<TimestampAndOffset>{};
    }
    const auto offset = records.offset_of(*record);
    if (offset >= start && offset < bound && records.timestamp_of(*record) >= timestamp) {
      return std::optional{
          TimestampAndOffset{records.timestamp_of(*record), offset, LeaderEpoch{batch.leader_epoch()}}};
    }
  }
}
}  // namespace

struct MemoryTopics::Round {
  Answers answers;
  std::vector<std::shared_ptr<Partition>> advanced;
  std::vector<std::pair<std::shared_ptr<LogPartition>, Offset>> to_reserve;
  std::shared_ptr<LogPartition> appended_to;  // the last one
  std::shared_ptr<LogPartition> dropped_of;   // by the budget
  std::int64_t dropped = 0;

  void refuse(LogPartition& partition, Append& request, Error error) {
    AppendOutcome outcome;
    outcome.error = error;
    if (error.code == Errc::out_of_sequence || error.code == Errc::stale_epoch) {
      outcome.log_start = partition.log_start();
    }
    answers.add({request.reply_on, std::move(request.done), std::move(outcome)});
  }
  void count_dropped(const std::shared_ptr<LogPartition>& partition, const MemoryDropped& what) {
    dropped += what.batches;
    dropped_of = what.batches > 0 ? partition : dropped_of;
  }
};

MemoryTopics::MemoryTopics(const CommitLogOptions& options, const Clock& clock, VisibilityObserver& observer,
                           MemoryHooks& hooks)
    : bytes_max_(options.memory_bytes),
      block_(options.memory_offsets_block),
      topic_name_(options.topic_name),
      metrics_(options.metrics),
      clock_(clock),
      observer_(observer),
      hooks_(hooks),
      told_ms_(clock.monotonic_ms() - kTellEveryMs) {}

// Answers may hold the partition that holds them.
MemoryTopics::~MemoryTopics() {
  for (const auto& partition : partitions_) {
    std::deque<Append> waiting;
    const std::scoped_lock lock(partition->memory->mutex);
    waiting.swap(partition->memory->waiting);
  }
}

void MemoryTopics::add(const std::shared_ptr<LogPartition>& partition) {
  const auto begin = partition->log_end();
  if (begin.value > 0) {
    partition->role.reserved_end = std::max(partition->role.reserved_end, begin);
  }
  partition->memory = std::make_unique<MemoryPartition>(begin);
  partition->follow_memory();
  const std::scoped_lock lock(mutex_);
  partitions_.insert(partition);
}

void MemoryTopics::forget(const std::shared_ptr<LogPartition>& partition) {
  {
    const std::scoped_lock lock(mutex_);
    partitions_.erase(partition);
  }
  Round round;
  {
    auto& memory = *partition->memory;
    const std::scoped_lock lock(memory.mutex);
    account(*partition, memory.store.clear());
    for (auto& request : memory.waiting) {
      round.refuse(*partition, request, {Errc::not_found});
    }
    memory.waiting.clear();
  }
  round.answers.post_all();
}

void MemoryTopics::account(LogPartition& partition, const MemoryDropped& dropped) {
  used_.fetch_sub(dropped.cost, std::memory_order_relaxed);
  partition.memory->cost.store(partition.memory->store.cost(), std::memory_order_relaxed);
  partition.follow_memory();
}

void MemoryTopics::append(Append request) {
  Round round;
  take(request, round);
  finish(round);
}

void MemoryTopics::append(std::span<Append> requests) {
  Round round;
  for (auto& request : requests) {
    take(request, round);
  }
  finish(round);
}

void MemoryTopics::take(Append& request, Round& round) {
  const auto partition = std::static_pointer_cast<LogPartition>(std::move(request.partition));
  auto& memory = *partition->memory;
  const std::scoped_lock lock(memory.mutex);
  if (!memory.waiting.empty() || !place(partition, request, round)) {
    memory.waiting.push_back(std::move(request));
  }
  ask_if_due(partition, round);
}

// Answers it, or false: it has to wait for offsets.
bool MemoryTopics::place(const std::shared_ptr<LogPartition>& partition, Append& request, Round& round) {
  auto& store = partition->memory->store;
  const auto facts = request.batch.facts();  // the batch goes before they do
  if (is_closed_.load(std::memory_order_acquire) || partition->deleted()) {
    round.refuse(*partition, request, {partition->deleted() ? Errc::not_found : Errc::closed});
    return true;
  }
  const auto size = static_cast<std::int64_t>(request.batch.size());
  const auto cost = size + kMemoryBatchOverhead;
  if (cost > bytes_max_) {
    round.refuse(*partition, request, {Errc::too_large, size});
    return true;
  }
  AppendOutcome outcome;
  const auto check = store.producers.check(facts);
  switch (check.verdict) {
    case SequenceVerdict::accept: break;
    case SequenceVerdict::duplicate:
      outcome.base_offset = check.base_offset;
      outcome.log_append_time = check.max_timestamp;
      outcome.log_start = partition->log_start();
      outcome.duplicate = true;
      round.answers.add({request.reply_on, std::move(request.done), std::move(outcome)});
      return true;
    case SequenceVerdict::out_of_sequence:
      round.refuse(*partition, request, {Errc::out_of_sequence, facts.base_sequence});
      return true;
    case SequenceVerdict::stale_epoch:
      round.refuse(*partition, request, {Errc::stale_epoch, facts.producer_epoch});
      return true;
  }
  if (!store.covers(facts)) {
    return false;
  }
  outcome.base_offset = store.append(request.batch, partition->leader_epoch(), clock_.wall_ms());
  request.batch = {};
  used_.fetch_add(cost, std::memory_order_relaxed);
  MemoryDropped dropped;
  while (is_over() && store.batch_count() > 1) {
    const auto oldest = store.drop_oldest();
    dropped.batches += oldest.batches;
    account(*partition, oldest);
  }
  account(*partition, {});
  round.count_dropped(partition, dropped);
  round.advanced.push_back(partition);
  round.appended_to = partition;
  outcome.log_start = partition->log_start();
  if (facts.timestamp_type() == protocol::TimestampType::log_append_time) {
    outcome.log_append_time = facts.max_timestamp;
  }
  round.answers.add({request.reply_on, std::move(request.done), std::move(outcome)});
  return true;
}

void MemoryTopics::ask_if_due(const std::shared_ptr<LogPartition>& partition, Round& round) const {
  auto& memory = *partition->memory;
  const auto& store = memory.store;
  const bool is_due = !memory.waiting.empty() || store.granted_end() - store.log_end() < block_ / 4;
  if (memory.is_asked || !is_due || partition->deleted()) {
    return;
  }
  memory.is_asked = true;
  auto end = store.granted_end() + block_;
  if (!memory.waiting.empty()) {
    const auto needed = store.log_end() + (memory.waiting.front().batch.facts().last_offset_delta + 1);
    end = needed > end ? needed + block_ : end;
  }
  round.to_reserve.emplace_back(partition, end);
}

void MemoryTopics::granted(const std::shared_ptr<LogPartition>& partition, const Result<Offset>& end) {
  Round round;
  {
    auto& memory = *partition->memory;
    const std::scoped_lock lock(memory.mutex);
    memory.is_asked = false;
    if (end) {
      memory.store.grant(*end);
    }
    while (!memory.waiting.empty()) {
      auto& request = memory.waiting.front();
      if (!end) {
        round.refuse(*partition, request, end.error());
      } else if (!place(partition, request, round)) {
        break;
      }
      memory.waiting.pop_front();
    }
    if (end) {  // else the next append asks again
      ask_if_due(partition, round);
    }
  }
  finish(round);
}

void MemoryTopics::finish(Round& round) {
  if (is_over() && round.appended_to) {
    drop_from_largest(round.appended_to, round);
  }
  for (auto& [partition, end] : round.to_reserve) {
    hooks_.reserve_offsets(std::move(partition), end);
  }
  round.answers.post_all();
  if (!round.advanced.empty()) {
    observer_.advanced(round.advanced);
  }
  if (round.dropped > 0) {
    tell_dropped(round);
  }
}

void MemoryTopics::drop_from_largest(const std::shared_ptr<LogPartition>& except, Round& round) {
  const std::scoped_lock lock(mutex_);
  while (is_over()) {
    std::shared_ptr<LogPartition> largest;
    std::int64_t most = 0;
    for (const auto& partition : partitions_) {
      const auto cost = partition->memory->cost.load(std::memory_order_relaxed);
      if (partition != except && cost > most) {
        largest = partition;
        most = cost;
      }
    }
    if (!largest) {
      return;
    }
    const std::scoped_lock one(largest->memory->mutex);
    auto& store = largest->memory->store;
    while (is_over() && store.batch_count() > 0) {
      const auto oldest = store.drop_oldest();
      account(*largest, oldest);
      round.count_dropped(largest, oldest);
    }
  }
}

void MemoryTopics::tell_dropped(const Round& round) {
  if (metrics_ != nullptr) {
    metrics_->memory_batches_dropped.add(static_cast<std::uint64_t>(round.dropped));
  }
  std::int64_t count = 0;
  {
    const std::scoped_lock lock(tell_mutex_);
    untold_ += round.dropped;
    const auto now = clock_.monotonic_ms();
    if (now - told_ms_ < kTellEveryMs) {
      return;
    }
    told_ms_ = now;
    count = std::exchange(untold_, 0);
  }
  const auto& key = round.dropped_of->key();
  WEIR_LOG(warn,
           "memory topics have reached mq.memory.bytes ({}): {} dropped since this was told last, the last one of "
           "topic {}, partition {}",
           bytes_max_, count_of(static_cast<std::int64_t>(count), "batch was", "batches were"),
           topic_name_ ? topic_name_(key.topic_id) : to_string(key.topic_id), key.index);
}

Result<ReadOutcome> MemoryTopics::read(const LogPartition& partition, Offset from, const ReadLimits& limits) const {
  std::vector<SharedBytes> found;
  {
    auto& memory = *partition.memory;
    const std::scoped_lock lock(memory.mutex);
    const auto& store = memory.store;
    if (from < store.log_start() || from > std::max(limits.bound, store.log_end())) {
      return {Errc::out_of_range, from.value};
    }
    std::size_t total = 0;
    for (auto number = store.find(from); from < limits.bound && number < store.batch_count(); ++number) {
      const auto& batch = store.at(number);
      const bool fits = total + batch.bytes.size() <= limits.bytes_max || (found.empty() && limits.first_batch_whole);
      if (batch.end() > limits.bound || !fits) {
        break;
      }
      total += batch.bytes.size();
      found.push_back(batch.bytes);
    }
  }
  ReadOutcome outcome;
  outcome.batch_count = found.size();
  ChainBuilder chain;
  for (const auto& bytes : found) {
    if (bytes.size() < kHoldFrom) {
      std::ranges::copy(bytes.view(), chain.room_for(bytes.size()).begin());
    } else {
      chain.append(bytes.view(), bytes.owner());
    }
  }
  outcome.batches = chain.finish();
  return outcome;
}

Result<Offset> MemoryTopics::move_start(LogPartition& partition, Offset start) {
  auto& memory = *partition.memory;
  const std::scoped_lock lock(memory.mutex);
  if (partition.deleted()) {
    return {Errc::not_found};
  }
  if (start > memory.store.log_end()) {
    return {Errc::out_of_range, start.value};
  }
  account(partition, memory.store.move_start(start));
  return memory.store.log_start();
}

Result<std::optional<TimestampAndOffset>> MemoryTopics::find_by_time(const LogPartition& partition, Millis timestamp,
                                                                     Offset bound) const {
  auto& memory = *partition.memory;
  Offset at{0};
  for (;;) {
    SharedBytes candidate;
    Offset start;
    {
      const std::scoped_lock lock(memory.mutex);
      const auto& store = memory.store;
      start = store.log_start();
      auto number = store.find(std::max(at, start));
      for (std::size_t passed = 0; candidate.empty() && passed < kScanMax; ++passed, ++number) {
        if (number >= store.batch_count() || store.at(number).base_offset >= bound) {
          return std::optional<TimestampAndOffset>{};
        }
        const auto& batch = store.at(number);
        at = batch.end();
        candidate = batch.max_timestamp >= timestamp ? batch.bytes : SharedBytes{};
      }
    }
    if (!candidate.empty()) {  // else, or if its newest record lies below the start, on from `at`
      WEIR_TRY(auto found, find_in_batch(candidate.view(), timestamp, start, bound));
      if (found) {
        return found;
      }
    }
  }
}

Result<std::optional<TimestampAndOffset>> MemoryTopics::find_max_timestamp(const LogPartition& partition,
                                                                           Offset bound) const {
  auto& memory = *partition.memory;
  auto largest = protocol::kNoTimestamp;
  Offset at{0};
  for (bool is_more = true; is_more;) {
    const std::scoped_lock lock(memory.mutex);
    const auto& store = memory.store;
    auto number = store.find(std::max(at, store.log_start()));
    for (std::size_t passed = 0; is_more && passed < kScanMax; ++passed, ++number) {
      is_more = number < store.batch_count() && store.at(number).base_offset < bound;
      if (is_more) {
        largest = std::max(largest, store.at(number).max_timestamp);
        at = store.at(number).end();
      }
    }
  }
  if (largest == protocol::kNoTimestamp) {
    return std::optional<TimestampAndOffset>{};
  }
  return find_by_time(partition, largest, bound);
}

std::int64_t MemoryTopics::records_between(const LogPartition& partition, Offset from, Offset to) const {
  const auto end = std::min(to, partition.high_watermark());
  return std::max<std::int64_t>(end - std::max(from, partition.log_start()), 0);
}

std::int64_t MemoryTopics::size_bytes(const LogPartition& partition) const {
  const std::scoped_lock lock(partition.memory->mutex);
  return partition.memory->store.size_bytes();
}

std::vector<std::shared_ptr<LogPartition>> MemoryTopics::all() {
  const std::scoped_lock lock(mutex_);
  return {partitions_.begin(), partitions_.end()};
}

void MemoryTopics::expire_producers(Millis expiration_ms) {
  const auto now = clock_.wall_ms();
  for (const auto& partition : all()) {
    const std::scoped_lock lock(partition->memory->mutex);
    partition->memory->store.producers.expire(now, expiration_ms);
  }
}

void MemoryTopics::retain() {
  const auto now = clock_.wall_ms();
  for (const auto& partition : all()) {
    const auto rules = partition->rules();
    const std::scoped_lock lock(partition->memory->mutex);
    account(*partition, partition->memory->store.retain(rules, now));
  }
}

}  // namespace weir::log
