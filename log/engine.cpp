#include "log/engine.hpp"

#include <array>
#include <map>

#include "base/logging.hpp"
#include "log/producers_at.hpp"

namespace weir::log {
namespace {
// A segment must hold its header, its state and some data; a file position must fit 32 bits.
constexpr std::int64_t kSegmentBytesMin = 1LL << 20;
constexpr Millis kScrubTurnMs = 250;

std::int64_t segment_bytes_of(const CommitLogOptions& options) {
  const auto bytes = std::clamp(options.segment_bytes, kSegmentBytesMin, kSegmentLimitMax);
  return bytes / kDirectAlignment * kDirectAlignment;
}

AppenderLimits limits_of(const CommitLogOptions& options) {
  AppenderLimits limits;
  limits.segment_bytes = segment_bytes_of(options);
  limits.delta_bytes = options.delta_bytes;
  limits.whole_blocks = options.io == IoMode::direct;
  return limits;
}
}  // namespace

CommitLog::Engine::Engine(CommitLogOptions options, Runtime& runtime, VisibilityObserver& observer)
    : options_(std::move(options)),
      runtime_(runtime),
      observer_(observer),
      meter_(options_.metrics, runtime.clock),
      space_(runtime.disk, options_.folder, options_.disk_reserve_bytes),
      image_(options_.image_bytes,
             static_cast<std::int64_t>(entry_size(static_cast<std::size_t>(options_.batch_bytes_max)))),
      appender_(limits_of(options_), image_, runtime.clock, space_, *this),
      writer_(appender_, image_, runtime.clock, meter_, observer, *this),
      keeper_(runtime.disk, runtime.pool, options_.folder, options_.io, segment_bytes_of(options_),
              runtime.seed ^ 0x10c5eedULL, segments_, meter_, *this),
      read_cache_(options_.read_cache_bytes, image_),
      damage_(options_.metrics),
      reader_(segments_, image_, read_cache_, damage_),
      retention_(segments_, keeper_, runtime.clock, segment_bytes_of(options_)),
      scrub_(runtime.disk, segments_, damage_, options_.metrics, runtime.clock,
             {options_.scrub_bytes_per_second * kScrubTurnMs / 1'000, options_.scrub_interval_ms}),
      memory_(options_, runtime.clock, observer, *this) {}

void CommitLog::Engine::post(Executor& on, Task task) {
  on.post([self = shared_from_this(), task = std::move(task)]() mutable {
    if (!self->is_abandoned_.load(std::memory_order_acquire)) {
      task();
    }
  });
}

Result<void> CommitLog::Engine::start(std::span<const KnownPartition> known) {
  WEIR_TRY_VOID(keeper_.open());
  WEIR_TRY(auto recovered, recover(runtime_.disk, keeper_, options_));
  at_start_.recovery_scanned_bytes = recovered.scanned_bytes;
  at_start_.recovery_cut_bytes = recovered.cut_bytes;
  at_start_.recovery_damaged_ranges = std::ssize(recovered.damage);
  for (const auto& range : recovered.damage) {
    WEIR_LOG(error, "commitlog: damage in segment {}, bytes {} to {}: stepped over", range.segment.value, range.from,
             range.to);
  }
  const auto is_replicated = [&](const PartitionKey& key) {
    return std::ranges::any_of(known, [&](const auto& one) { return one.key == key && one.rules.replicated; });
  };
  for (const auto& gap : recovered.gaps) {
    if (is_replicated(gap.key)) {
      continue;  // the leader may have it too
    }
    WEIR_LOG(error, "commitlog: damage took offsets {} to {} of topic {}, partition {}", gap.from.value,
             gap.to.value - 1, to_string(gap.key.topic_id), gap.key.index);
  }
  if (recovered.cut_bytes > 0) {
    WEIR_LOG(warn, "commitlog: cut a torn tail of {} bytes", recovered.cut_bytes);
  }
  if (options_.io == IoMode::direct && keeper_.files().io() != IoMode::direct) {
    WEIR_LOG(warn, "commitlog: the file system of {} has no direct writes: mq.log.io=buffered", options_.folder);
  }
  segments_.change([&](auto& members) { members = std::move(recovered.members); });
  next_local_ = recovered.next_local;
  std::map<PartitionKey, std::shared_ptr<LogPartition>> in_log;
  std::vector<std::shared_ptr<LogPartition>> replaced;
  for (const auto& partition : recovered.live) {  // rising numbers: of two with one key the newer one is meant
    auto& known_as = in_log[partition->key()];
    if (known_as) {
      replaced.push_back(std::move(known_as));
    }
    known_as = partition;
  }
  std::vector<KnownPartition> all{known.begin(), known.end()};
  for (const auto& one : all) {
    const auto found = in_log.find(one.key);
    if (found == in_log.end()) {
      continue;
    }
    found->second->begin_life(one.rules);
    if (one.rules.memory) {
      memory_.add(found->second);
    }
  }
  if ((recovered.machine_restarted || recovered.lost_files) && options_.raise_epochs) {
    // Those that are synced now, too: they may have been async when somebody saw what is gone.
    std::vector<KnownPartition*> may_lack_a_tail;
    for (auto& one : all) {
      if (!one.rules.memory && !one.rules.replicated) {
        may_lack_a_tail.push_back(&one);
      }
    }
    if (!may_lack_a_tail.empty()) {
      WEIR_TRY_VOID(options_.raise_epochs(may_lack_a_tail));
    }
  }
  if (keeper_.manifest().is_cache_doubtful() && !keeper_.manifest().refuses_writes()) {
    // Not before what was lost has its new epochs: a start that ends in between must find out again.
    const std::array<ManifestEdit, 1> accepted{ReadOnlyMark{0}};
    WEIR_TRY_VOID(keeper_.edit(accepted));
  }
  const auto with_new_epoch = take_epochs_of(all, in_log);
  writer_.start(recovered.tail);
  for (auto& snapshot : recovered.without_index) {
    keeper_.seal(std::move(snapshot), true);
  }
  if (keeper_.manifest().refuses_writes()) {
    WEIR_LOG(error, "commitlog: read-only, because a write or sync failed before this start ({}). {}",
             to_string(Error{Errc::disk_failed, keeper_.manifest().read_only_cause}), way_out());
    appender_.start({std::move(recovered.live), next_local_, nullptr, recovered.tail, 0});
    appender_.set_read_only();
  } else if (!recovered.open) {
    auto first = keeper_.prepare_now();
    if (!first && !is_shortage(first.error())) {
      return first.error();
    }
    appender_.start({std::move(recovered.live), next_local_, nullptr, recovered.tail, 0});
    if (first) {
      appender_.offer_segment(std::move(*first));
    } else {  // reads are served; the log role asks for the segment again, and the keeper waits for what is lacking
      appender_.bring();
    }
  } else {
    appender_.start({std::move(recovered.live), next_local_, recovered.open, recovered.tail, recovered.open_entries});
  }
  look_for_room();
  // The metadata image wins: what it lacks is deleted in the log, what the log lacks is created.
  for (const auto& one : all) {
    const auto found = in_log.find(one.key);
    if (found == in_log.end()) {
      create(one.key, one.rules, one.leader_epoch);
      continue;
    }
    const auto partition = found->second;
    partition->set_rules(one.rules);
    {
      const std::scoped_lock lock(table_mutex_);
      table_.emplace(one.key, partition);
    }
    in_log.erase(found);
  }
  for (const auto& partition : with_new_epoch) {
    appender_.push_control(
        [partition, start = partition->log_end()](Appender& log) { return log.put_epoch_start(partition, start); });
  }
  for (const auto& [key, partition] : in_log) {
    replaced.push_back(partition);
  }
  for (const auto& partition : replaced) {
    partition->mark_deleted();
    appender_.push_control([partition](Appender& log) { return log.put_deleted(*partition); });
  }
  if (options_.retention_check_ms > 0) {
    repeat(options_.retention_check_ms, &Engine::begin_retention);
  }
  if (options_.producer_check_ms > 0) {
    begin_expiring_producers();
    repeat(options_.producer_check_ms, &Engine::begin_expiring_producers);
  }
  if (options_.space_check_ms > 0) {
    repeat(options_.space_check_ms, &Engine::begin_looking);
  }
  if (options_.zero_ahead_ms > 0 && keeper_.files().io() == IoMode::direct) {
    repeat(options_.zero_ahead_ms, &Engine::begin_zeroing);
  }
  if (options_.slow_after_ms > 0) {
    repeat(options_.slow_after_ms, &Engine::look_for_slow_disk);
  }
  if (options_.scrub_bytes_per_second > 0) {
    repeat(kScrubTurnMs, &Engine::begin_scrubbing);
  }
  return {};
}

// Readers ask with the epoch that the metadata has, so partitions have it before the log has room for the entry.
// Returns those that wait for an entry. A memory topic needs none: the metadata has its epoch at the next start too.
std::vector<std::shared_ptr<LogPartition>> CommitLog::Engine::take_epochs_of(
    std::span<const KnownPartition> known, const std::map<PartitionKey, std::shared_ptr<LogPartition>>& in_log) {
  std::vector<std::shared_ptr<LogPartition>> changed;
  for (const auto& one : known) {
    const auto found = in_log.find(one.key);
    if (found == in_log.end() || found->second->is_replicated() || one.leader_epoch <= found->second->leader_epoch()) {
      continue;
    }
    found->second->assign_epoch(one.leader_epoch, found->second->log_end());
    if (!one.rules.memory) {
      changed.push_back(found->second);
    }
  }
  return changed;
}

std::shared_ptr<Partition> CommitLog::Engine::create(const PartitionKey& key, const PartitionRules& rules,
                                                     LeaderEpoch epoch) {
  if (auto existing = find(key)) {
    return existing;
  }
  auto partition = std::make_shared<LogPartition>(key, next_local_, rules);
  ++next_local_;
  if (partition->is_replicated()) {
    epoch = LeaderEpoch{-1};  // the leader's batches tell which one began where
  }
  partition->begin_epochs(epoch, Offset{0});
  if (rules.memory) {
    memory_.add(partition);
  }
  {
    const std::scoped_lock lock(table_mutex_);
    table_.emplace(key, partition);
  }
  appender_.push_control([partition, epoch](Appender& log) { return log.put_created(partition, epoch); });
  return partition;
}

void CommitLog::Engine::remove(const PartitionKey& key) {
  std::shared_ptr<LogPartition> partition;
  {
    const std::scoped_lock lock(table_mutex_);
    const auto found = table_.find(key);
    if (found == table_.end()) {
      return;
    }
    partition = std::move(found->second);
    table_.erase(found);
  }
  partition->mark_deleted();
  if (partition->memory) {
    memory_.forget(partition);
  }
  appender_.push_control([partition](Appender& log) { return log.put_deleted(*partition); });
  post(runtime_.write, [this, partition] {
    const std::array<std::shared_ptr<Partition>, 1> gone{partition};
    observer_.advanced(gone);
  });
}

// What the rules allowed to be unsynced until now is synced. For this a topic that is not async any more waits, too:
// what comes behind the change becomes visible by a sync, and that one covers what came before.
void CommitLog::Engine::set_rules(const PartitionKey& key, const PartitionRules& rules) {
  const auto partition = find(key);
  if (partition && partition->set_rules(rules) && !partition->memory) {
    appender_.push_control([](Appender& log) { return log.ask_for_sync(); });
  }
}

std::shared_ptr<LogPartition> CommitLog::Engine::find(const PartitionKey& key) const {
  const std::scoped_lock lock(table_mutex_);
  const auto found = table_.find(key);
  return found == table_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<LogPartition>> CommitLog::Engine::partitions() const {
  std::vector<std::shared_ptr<LogPartition>> all;
  const std::scoped_lock lock(table_mutex_);
  all.reserve(table_.size());
  for (const auto& [key, partition] : table_) {
    all.push_back(partition);
  }
  return all;
}

void CommitLog::Engine::append(Append request) {
  if (static_cast<const LogPartition&>(*request.partition).memory) {
    memory_.append(std::move(request));
  } else {
    appender_.push(std::move(request));
  }
}

void CommitLog::Engine::append(std::span<Append> requests) {
  const auto in_memory = std::ranges::stable_partition(
      requests, [](const Append& request) { return !static_cast<const LogPartition&>(*request.partition).memory; });
  if (!in_memory.empty()) {
    memory_.append(std::span{in_memory.begin(), in_memory.end()});
  }
  if (const auto for_log = requests.first(requests.size() - in_memory.size()); !for_log.empty()) {
    appender_.push(for_log);
  }
}

// Once it is synced; then a copy in another block, for which nobody waits.
void CommitLog::Engine::reserve_offsets(std::shared_ptr<LogPartition> partition, Offset end) {
  appender_.push_reserve(
      partition, end, runtime_.write, [weak = weak_from_this(), partition, end](const AppendOutcome& outcome) {
        const auto self = weak.lock();
        if (!self || self->is_abandoned_.load(std::memory_order_acquire)) {
          return;
        }
        if (outcome.error) {
          self->memory_.granted(partition, *outcome.error);
          return;
        }
        self->memory_.granted(partition, end);
        self->appender_.push_control([partition](Appender& log) { return log.put_reserved_copy(partition); });
      });
}

void CommitLog::Engine::move_start(std::shared_ptr<LogPartition> partition, Offset start, Executor& reply_on,
                                   UniqueFunction<void(Result<Offset>)> done) {
  if (partition->memory) {
    reply_on.post([done = std::move(done), moved = memory_.move_start(*partition, start)]() mutable { done(moved); });
    return;
  }
  Answer answer;
  answer.on = &reply_on;
  answer.done = [partition, done = std::move(done)](const AppendOutcome& outcome) mutable {
    if (outcome.error) {
      done(*outcome.error);
    } else {
      partition->set_durable_start(outcome.log_start);
      done(outcome.log_start);
    }
  };
  appender_.push_control([partition = std::move(partition), start, answer = std::move(answer)](Appender& log) mutable {
    return log.put_start_moved(partition, start, answer);
  });
}

void CommitLog::Engine::append_as_follower(Append request) {
  if (static_cast<const LogPartition&>(*request.partition).is_replicated()) {
    appender_.push_as_follower(std::move(request));
    return;
  }
  AppendOutcome outcome;
  outcome.error = Error{Errc::unsupported};
  reply({request.reply_on, std::move(request.done), std::move(outcome)});
}

void CommitLog::Engine::reply(Answer answer) {
  Answers answers;
  answers.add(std::move(answer));
  answers.post_all();
}

// What the producers were at the new end is found on the pool, for it may be in files; then the log role does the rest.
void CommitLog::Engine::truncate(std::shared_ptr<LogPartition> partition, const TruncatedPayload& to, Answer answer) {
  if (!partition->is_replicated()) {
    answer.outcome.error = Error{Errc::unsupported};
    reply(std::move(answer));
    return;
  }
  post(runtime_.pool, [this, partition = std::move(partition), to, answer = std::move(answer)]() mutable {
    const auto count = partition->truncation_count();
    auto producers = watched(producers_at(segments_, image_, *partition, to.end));
    if (!producers) {
      answer.outcome.error = producers.error();
      reply(std::move(answer));
      return;
    }
    appender_.push_control([this, partition = std::move(partition), to, count, answer = std::move(answer),
                            producers = std::move(*producers)](Appender& log) mutable {
      if (partition->truncation_count() == count) {
        return log.put_truncated(partition, to, producers, answer);
      }
      truncate(partition, to, std::move(answer));  // another one was faster: the producers are not what they were
      return true;
    });
  });
}

void CommitLog::Engine::bound_high_watermark(std::shared_ptr<LogPartition> partition, Offset bound) {
  if (partition->is_replicated()) {
    appender_.push_control(
        [partition = std::move(partition), bound](Appender& log) { return log.put_bound(partition, bound); });
  }
}

LogStatistics CommitLog::Engine::statistics() const {
  LogStatistics numbers = at_start_;
  numbers.appended = appender_.appended();
  numbers.written = writer_.written();
  numbers.synced = appender_.synced();
  const auto version = segments_.current();
  numbers.segments = std::ssize(version->members);
  for (const auto& member : version->members) {
    const auto end = member.segment->valid_end();
    numbers.disk_bytes += end != 0 ? end : std::max<std::int64_t>(0, numbers.written - member.segment->start());
  }
  numbers.memory_topic_bytes_used = memory_.used_bytes();
  numbers.image_bytes_used = image_.memory_bytes();
  numbers.read_cache_bytes_used = read_cache_.memory_bytes();
  numbers.read_only = appender_.is_read_only();
  numbers.short_of_space = space_.is_short();
  numbers.free_bytes = space_.free_bytes();
  numbers.io = keeper_.files().io();
  numbers.pool_bytes = keeper_.files().pool_bytes();
  return numbers;
}

void CommitLog::Engine::continue_log_role() {
  post(runtime_.write, [this] { appender_.run_held_role(); });
}

SegmentHeader CommitLog::Engine::segment_begins(const std::shared_ptr<Segment>& segment) {
  segments_.change([&](auto& members) { members.push_back({segment, nullptr}); });
  SegmentHeader header;
  header.id = segment->id();
  header.seed = segment->seed();
  header.start = segment->start();
  header.io = segment->is_direct() ? IoMode::direct : IoMode::buffered;
  header.boot_id = options_.boot_id;
  header.created_ms = runtime_.clock.wall_ms();
  return header;
}

LogPosition CommitLog::Engine::begin_of_oldest_segment() const {
  const auto version = segments_.current();
  return version->members.empty() ? LogPosition{} : version->members.front().segment->start();
}

void CommitLog::Engine::post_writer_turn() {
  post(runtime_.write, [this] { writer_.turn(); });
}

void CommitLog::Engine::post_writer_resumed() {
  post(runtime_.write, [this] { writer_.resumed(); });
}

void CommitLog::Engine::run_retention(Task done) {
  post(runtime_.pool, [this, done = std::move(done)]() mutable {
    memory_.retain();
    if (appender_.is_read_only()) {
      done();
      return;
    }
    const auto move = [this](auto partition, Offset start, auto moved) {
      move_start(partition, start, runtime_.pool, std::move(moved));
    };
    const auto roll = [this](SegmentId segment) {
      if (!space_.is_short()) {  // the next segment would need room before the old one gives any back
        appender_.push_control([segment](Appender& log) { return log.roll(segment); });
      }
    };
    retention_.run({[this] { return partitions(); }, move, roll}, reader_, std::move(done));
  });
}

void CommitLog::Engine::sync_within(Millis ms) {
  sync_at(flush_timer_.written(runtime_.clock.monotonic_ms(), ms));
}

void CommitLog::Engine::sync_at(std::optional<Millis> deadline) {
  if (!deadline) {
    return;
  }
  auto& loop = *runtime_.io.front();
  loop.post([weak = weak_from_this(), &loop, at = *deadline] {
    loop.timers().schedule(at, [weak] {
      if (const auto self = weak.lock()) {
        self->post(self->runtime_.write, [engine = self.get()] { engine->sync_if_due(); });
      }
    });
  });
}

void CommitLog::Engine::sync_if_due() {
  if (flush_timer_.is_due(runtime_.clock.monotonic_ms())) {
    writer_.sync_now();
  } else {
    sync_at(flush_timer_.next());
  }
}

void CommitLog::Engine::begin_looking() {
  post(runtime_.pool, [this] { look_for_room(); });
}

void CommitLog::Engine::begin_retention() {
  run_retention([] {});
}

void CommitLog::Engine::begin_expiring_producers() {
  if (is_expiring_producers_.exchange(true)) {
    return;  // the log role waits for something longer than the pace
  }
  post(runtime_.pool, [this] {
    const auto expiration_ms = producer_expiration_ms_.load();
    memory_.expire_producers(expiration_ms);
    appender_.push_control([this, expiration_ms](Appender& log) {
      log.expire_producers(expiration_ms);
      is_expiring_producers_.store(false);
      return true;
    });
  });
}

void CommitLog::Engine::begin_zeroing() {
  if (is_log_idle()) {
    keeper_.zero_ahead();
  }
}

void CommitLog::Engine::begin_scrubbing() {
  if (is_scrubbing_.exchange(true)) {
    return;  // the disk is slower than the pace
  }
  post(runtime_.pool, [this] {
    if (scrub_.turn()) {
      keeper_.mend_indexes();
    }
    is_scrubbing_.store(false);
  });
}

bool CommitLog::Engine::is_log_idle() {
  const auto appended = appender_.appended().value;
  return idle_at_.exchange(appended) == appended && !appender_.is_read_only();
}

// The timer holds no reference: it may outlive the log until its deadline.
void CommitLog::Engine::repeat(Millis period_ms, void (Engine::*job)()) {
  auto& loop = *runtime_.io.front();
  loop.post([weak = weak_from_this(), &loop, period_ms, job] {
    const auto self = weak.lock();
    if (!self || self->is_stopping_.load(std::memory_order_acquire)) {
      return;
    }
    loop.timers().schedule(self->runtime_.clock.monotonic_ms() + period_ms, [weak, period_ms, job] {
      const auto engine = weak.lock();
      if (engine && !engine->is_stopping_.load(std::memory_order_acquire) &&
          !engine->is_abandoned_.load(std::memory_order_acquire)) {
        (engine.get()->*job)();
        engine->repeat(period_ms, job);
      }
    });
  });
}

}  // namespace weir::log
