#include "broker/group_partition.hpp"

#include "base/count_of.hpp"
#include "base/logging.hpp"
#include "coordinator/replay.hpp"
#include "protocol/record.hpp"

namespace weir::broker {
namespace {

constexpr std::size_t kLoadBytes = 4 << 20;  // read at once while a shard loads

// The whole partition into a new shard. On the pool.
Result<std::unique_ptr<group::GroupShard>> read_shard(const log::CommitLog& log, const log::Partition& partition,
                                                      const group::GroupConfig& config, Random random) {
  auto shard = std::make_unique<group::GroupShard>(config, random);
  const auto end = partition.high_watermark();
  auto from = partition.log_start();
  std::int64_t records = 0;
  while (from < end) {
    const log::ReadLimits limits{.bytes_max = kLoadBytes, .first_batch_whole = true, .bound = end, .in_memory = true};
    WEIR_TRY(const auto outcome, log.read(partition, from, limits, log::ReadFrom::may_block));
    if (outcome.batches.empty()) {
      break;
    }
    const auto bytes = outcome.batches.flatten();
    protocol::BatchChain chain{bytes};
    for (auto batch = chain.next(); batch && *batch; batch = chain.next()) {
      from = Offset{(*batch)->last_offset() + 1};
    }
    WEIR_TRY(const auto count, group::replay_batches(bytes, [&](Offset offset, Bytes key, std::optional<Bytes> value) {
               if (const auto taken = shard->replay(key, value); !taken) {
                 WEIR_LOG(error, "record {} of __consumer_offsets-{} is passed over: {}", offset.value,
                          partition.key().index, to_string(taken.error()));
               }
             }));
    records += count.records;
  }
  if (records > 0) {
    WEIR_LOG(info, "__consumer_offsets-{}: {} from {}", partition.key().index,
             count_of(static_cast<std::int64_t>(shard->group_count()), "group"), count_of(records, "record"));
  }
  return shard;
}

}  // namespace

GroupPartition::GroupPartition(World& world, IoLoop& loop, std::int32_t index, std::uint64_t seed)
    : world_(world), loop_(loop), index_(index), random_(seed) {}
GroupPartition::~GroupPartition() = default;

group::Now GroupPartition::now() const {
  return {.monotonic_ms = world_.runtime.clock.monotonic_ms(), .wall_ms = world_.runtime.clock.wall_ms()};
}

group::ErrorCode GroupPartition::attach(const Uuid& topic_id, const std::shared_ptr<WorkGate>& gate) {
  if (topic_id != topic_id_) {  // the first time, or the topic was deleted and made again: nothing is inherited
    close();
    topic_id_ = topic_id;
  }
  if (shard_) {
    return group::ErrorCode::none;
  }
  if (!loading_) {
    load(gate);
  }
  return loading_ ? group::ErrorCode::coordinator_load_in_progress : group::ErrorCode::coordinator_not_available;
}

void GroupPartition::close() {
  ++generation_;
  loading_ = false;
  if (timer_ != 0) {
    loop_.timers().cancel(std::exchange(timer_, 0));
  }
  timer_deadline_ = group::kNever;
  world_.metrics.groups.add(-std::exchange(groups_counted_, 0));
  shard_.reset();
  partition_.reset();
  gate_.reset();
  waiting_.clear();
}

void GroupPartition::load(const std::shared_ptr<WorkGate>& gate) {
  partition_ = world_.log.find({topic_id_, index_});
  if (!partition_) {
    return;
  }
  loading_ = true;
  gate_ = gate;
  const auto load = ++generation_;
  world_.runtime.pool.post([self = shared_from_this(), gate, load, partition = partition_, random = random_.fork()] {
    auto shard = std::make_shared<Result<std::unique_ptr<group::GroupShard>>>(
        read_shard(self->world_.log, *partition, self->world_.config, random));
    self->loop_.post([self, gate, load, shard] { self->loaded(load, std::move(*shard)); });
  });
}

void GroupPartition::loaded(std::uint64_t load, Result<std::unique_ptr<group::GroupShard>> shard) {
  if (load != generation_) {
    return;
  }
  loading_ = false;
  if (!shard) {
    WEIR_LOG(error, "__consumer_offsets-{} cannot be read: {}; its groups are not served", index_,
             to_string(shard.error()));
    return;  // the next request tries again
  }
  shard_ = std::move(*shard);
  group::Effects effects;
  shard_->loaded(now(), effects);
  // A topic may have gone between the deletion's record and the tombstones of its offsets.
  shard_->drop_topics(world_.topic_is_gone, now(), effects);
  after(std::move(effects));
}

void GroupPartition::after(group::Effects effects) {
  for (const auto& note : effects.notes) {
    WEIR_LOG(info, "{}", note);
  }
  if (effects.move_start) {
    world_.log.move_start(partition_, *effects.move_start, loop_, [index = index_](const Result<Offset>& moved) {
      if (!moved) {
        WEIR_LOG(warn, "__consumer_offsets-{}: the log start stays: {}", index, to_string(moved.error()));
      }
    });
  }
  if (auto records = shard_->take_append(); !records.empty()) {
    append(std::move(records));
  }
  arm_timer();
  const auto groups = static_cast<std::int64_t>(shard_->group_count());
  world_.metrics.groups.add(groups - std::exchange(groups_counted_, groups));
  // Last: an answer may bring the next request of its connection with it.
  for (auto& answer : effects.answers) {
    auto waiting = waiting_.extract(answer.ticket);
    if (!waiting.empty()) {
      waiting.mapped()(std::move(answer));
    }
  }
}

void GroupPartition::append(std::vector<group::LogRecord> records) {
  const auto wall_ms = now().wall_ms;
  protocol::RecordBatchBuilder builder;
  for (const auto& record : records) {
    builder.append({.key = Bytes{record.key},
                    .value = record.value ? std::optional<Bytes>{*record.value} : std::nullopt,
                    .timestamp = wall_ms});
  }
  const auto completed = [self = shared_from_this(), shard = generation_, gate = gate_](const Result<Offset>& outcome) {
    if (shard != self->generation_) {
      return;
    }
    group::Effects effects;
    self->shard_->appended(outcome, self->now(), effects);
    self->after(std::move(effects));
  };
  auto built = builder.build_valid();
  if (!built) {
    loop_.post([completed, error = built.error()] { completed(error); });
    return;
  }
  log::Append request;
  request.partition = partition_;
  request.batch = std::move(*built);
  request.acks = log::Acks::internal;
  request.reply_on = &loop_;
  request.done = [completed](const log::AppendOutcome& outcome) {
    completed(outcome.error ? Result<Offset>{*outcome.error} : Result<Offset>{outcome.base_offset});
  };
  world_.log.append(std::move(request));
}

void GroupPartition::arm_timer() {
  const auto deadline = shard_->next_deadline();
  if (deadline == timer_deadline_ || (timer_ != 0 && timer_deadline_ < deadline)) {
    return;
  }  // waking early does no harm
  if (timer_ != 0) {
    loop_.timers().cancel(timer_);
  }
  timer_deadline_ = deadline;
  timer_ = 0;
  if (deadline == group::kNever) {
    return;
  }
  timer_ = loop_.timers().schedule(deadline, [weak = weak_from_this(), shard = generation_] {
    const auto self = weak.lock();
    if (!self || shard != self->generation_) {
      return;
    }
    self->timer_ = 0;
    self->timer_deadline_ = group::kNever;
    group::Effects effects;
    self->shard_->tick(self->now(), effects);
    self->after(std::move(effects));
  });
}

}  // namespace weir::broker
