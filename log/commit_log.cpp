#include "log/commit_log.hpp"

#include "log/engine.hpp"

namespace weir::log {
namespace {
const LogPartition& inside(const Partition& partition) {
  return static_cast<const LogPartition&>(partition);
}
}  // namespace

CommitLog::CommitLog(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}

CommitLog::~CommitLog() {
  engine_->abandon();
}

Result<std::unique_ptr<CommitLog>> CommitLog::open(CommitLogOptions options, Runtime& runtime,
                                                   std::span<const KnownPartition> known,
                                                   VisibilityObserver& observer) {
  auto engine = std::make_shared<Engine>(std::move(options), runtime, observer);
  WEIR_TRY_VOID(engine->start(known));
  return std::unique_ptr<CommitLog>(new CommitLog(std::move(engine)));
}

void CommitLog::refuse_writes() {
  engine_->refuse_writes();
}
void CommitLog::stop_waiting() {
  engine_->stop_waiting();
}

void CommitLog::stop(Stopped done) {
  engine_->stop(std::move(done));
}

std::string CommitLog::waits_for() const {
  return engine_->waits_for();
}

std::shared_ptr<Partition> CommitLog::create(const PartitionKey& key, const PartitionRules& rules, LeaderEpoch epoch) {
  return engine_->create(key, rules, epoch);
}

void CommitLog::remove(const PartitionKey& key) {
  engine_->remove(key);
}

void CommitLog::set_rules(const PartitionKey& key, const PartitionRules& rules) {
  engine_->set_rules(key, rules);
}

void CommitLog::set_producer_expiration(Millis expiration_ms) {
  engine_->set_producer_expiration(expiration_ms);
}

std::shared_ptr<Partition> CommitLog::find(const PartitionKey& key) const {
  return engine_->find(key);
}

std::vector<std::shared_ptr<Partition>> CommitLog::partitions() const {
  const auto all = engine_->partitions();
  return {all.begin(), all.end()};
}

void CommitLog::append(Append request) {
  engine_->append(std::move(request));
}

void CommitLog::append(std::span<Append> requests) {
  engine_->append(requests);
}

void CommitLog::append_as_follower(Append request) {
  engine_->append_as_follower(std::move(request));
}

void CommitLog::truncate(std::shared_ptr<Partition> partition, Offset end, LeaderEpoch epoch, Executor& reply_on,
                         UniqueFunction<void(Result<Offset>)> done) {
  Answer answer;
  answer.on = &reply_on;
  answer.done = [done = std::move(done)](const AppendOutcome& outcome) mutable {
    done(outcome.error ? Result<Offset>{*outcome.error} : Result<Offset>{outcome.base_offset});
  };
  engine_->truncate(std::static_pointer_cast<LogPartition>(std::move(partition)), {end, epoch}, std::move(answer));
}

void CommitLog::bound_high_watermark(std::shared_ptr<Partition> partition, Offset bound) {
  engine_->bound_high_watermark(std::static_pointer_cast<LogPartition>(std::move(partition)), bound);
}

Result<ReadOutcome> CommitLog::read(const Partition& partition, Offset from, const ReadLimits& limits,
                                    ReadFrom mode) const {
  const auto& one = inside(partition);
  return one.memory ? engine_->memory().read(one, from, limits)
                    : engine_->watched(engine_->reader().read(one, from, limits, mode));
}

void CommitLog::move_start(std::shared_ptr<Partition> partition, Offset start, Executor& reply_on,
                           UniqueFunction<void(Result<Offset>)> done) {
  engine_->move_start(std::static_pointer_cast<LogPartition>(std::move(partition)), start, reply_on, std::move(done));
}

Result<std::optional<TimestampAndOffset>> CommitLog::find_by_time(const Partition& partition, Millis timestamp,
                                                                  Offset bound) const {
  const auto& one = inside(partition);
  return one.memory ? engine_->memory().find_by_time(one, timestamp, bound)
                    : engine_->watched(engine_->reader().find_by_time(one, timestamp, bound));
}

Result<std::optional<TimestampAndOffset>> CommitLog::find_max_timestamp(const Partition& partition,
                                                                        Offset bound) const {
  const auto& one = inside(partition);
  return one.memory ? engine_->memory().find_max_timestamp(one, bound)
                    : engine_->watched(engine_->reader().find_max_timestamp(one, bound));
}

Result<std::int64_t> CommitLog::records_between(const Partition& partition, Offset from, Offset to) const {
  const auto& one = inside(partition);
  return one.memory ? engine_->memory().records_between(one, from, to)
                    : engine_->watched(engine_->reader().records_between(one, from, to));
}

EpochEnd CommitLog::epoch_end(const Partition& partition, LeaderEpoch epoch) const {
  const auto& one = inside(partition);
  const auto found = one.epoch_end(epoch, one.is_replicated() ? one.log_end() : one.high_watermark());
  return {found.epoch, found.start};
}

LeaderEpoch CommitLog::epoch_at(const Partition& partition, Offset offset) const {
  return inside(partition).epoch_at(offset);
}

LogStatistics CommitLog::statistics() const {
  return engine_->statistics();
}

std::int64_t CommitLog::size_bytes(const Partition& partition) const {
  const auto& one = inside(partition);
  if (one.memory) {
    return engine_->memory().size_bytes(one);
  }
  const auto size = engine_->watched(engine_->reader().size_bytes(one));
  return size ? *size : 0;
}

void CommitLog::run_retention(Task done) {
  engine_->run_retention(std::move(done));
}

}  // namespace weir::log
