// The part of the engine for what does not go its ordinary way: a write or job that meets a shortage comes again in a
// while (docs/internals/ERRNO.md), one that fails makes the log read-only, and a stop waits for neither.
#include "base/logging.hpp"
#include "log/engine.hpp"

namespace weir::log {
namespace {
constexpr Millis kRoomRetryMs = 500;
constexpr std::int64_t kLookEveryBytes = 16LL << 20;
}  // namespace

void CommitLog::Engine::stop_waiting() {
  is_stopping_.store(true, std::memory_order_release);
  if (waiting_writes_.load() + waiting_jobs_.load() > 0) {  // what waits has not been answered, and is not waited for
    give_up_clean_end({space_.lack() != 0 ? Errc::out_of_resources : Errc::disk_full, space_.lack()});
  }
}

void CommitLog::Engine::stop(Stopped done) {
  stop_waiting();
  memory_.close();
  auto shared_done = std::make_shared<Stopped>(std::move(done));
  appender_.push_control([this, shared_done](Appender& log) {
    if (!log.finish()) {
      return false;
    }
    Answer answer;
    answer.on = &runtime_.write;
    answer.done = [weak = weak_from_this(), shared_done, next_local = log.next_local()](const AppendOutcome& outcome) {
      if (const auto self = weak.lock()) {  // the engine itself holds the answer
        self->keeper_.when_idle([self = self.get(), shared_done, next_local, is_whole = !outcome.error] {
          self->finish_stop(is_whole, next_local, std::move(*shared_done));
        });
      }
    };
    log.end(std::move(answer));
    return true;
  });
}

// On the pool: everything is in files, synced, and sealed up to the segment that holds the last state.
void CommitLog::Engine::finish_stop(bool is_whole, LocalPartition next_local, Stopped done) {
  keeper_.note_failure_again();
  std::optional<LogPosition> clean_end;
  const auto end = appender_.appended();
  if (is_whole && !appender_.is_read_only() && appender_.synced() == end) {
    if (const auto noted = keeper_.note_clean(end, next_local); noted) {
      clean_end = end;
    } else {
      WEIR_LOG(warn, "commitlog: the manifest does not take the clean end: {}; the next start scans the log",
               to_string(noted.error()));
    }
  }
  runtime_.write.post([done = std::move(done), clean_end]() mutable { done(clean_end); });
}

// The stop goes on: what is in files stays, what waits gets an error.
void CommitLog::Engine::give_up_clean_end(const Error& why) {
  if (!appender_.is_read_only()) {
    WEIR_LOG(warn, "commitlog: stops without a clean end ({}): the next start scans the log", to_string(why));
  }
  give_up_writes(Errc::disk_full);
}

// What waits in the queue is refused by the log role's next turn.
void CommitLog::Engine::give_up_writes(Errc why) {
  appender_.set_read_only(why);
  appender_.bring();
}

std::string CommitLog::Engine::waits_for() const {
  for (const auto* doing : {&writer_.doing(), &keeper_.doing()}) {
    if (const auto* what = doing->what(); *what != '\0') {
      return what;
    }
  }
  return {};
}

// A disk that does not answer raises no error: this is all that tells of it. On the io loop, each slow_after_ms.
void CommitLog::Engine::look_for_slow_disk() {
  const char* slow = nullptr;
  for (const auto* doing : {&writer_.doing(), &keeper_.doing()}) {
    auto& seen = doing == &writer_.doing() ? seen_of_writer_ : seen_of_keeper_;
    const auto count = doing->count();
    if (const auto* what = doing->what(); *what != '\0' && seen == count) {
      slow = what;
    }
    seen = count;
  }
  if (slow != nullptr && !std::exchange(told_slow_, true)) {
    WEIR_LOG(warn, "commitlog: {} in {} takes more than {} ms: the disk does not answer, producers and commits wait",
             slow, options_.folder, options_.slow_after_ms);
  } else if (slow == nullptr && std::exchange(told_slow_, false)) {
    WEIR_LOG(info, "commitlog: the disk of {} answers again", options_.folder);
  }
}

std::string CommitLog::Engine::way_out() const {
  return "Look at the disk; then stop the broker, run `weir log allow-writes " + options_.folder +
         "` and start it again";
}

// What waits in the queue is refused by the log role's next turn.
void CommitLog::Engine::writer_failed(Error error) {
  if (is_shortage(error)) {
    give_up_clean_end(error);
    return;
  }
  if (error.code != Errc::closed) {  // else the simulated process is dead already
    WEIR_LOG(error, "commitlog: {}: read-only from now on, after a restart too. {}", to_string(error), way_out());
    post(runtime_.pool, [this, error] { keeper_.note_failure(error); });
  }
  appender_.bring();
}

void CommitLog::Engine::segment_synced(Result<void> result) {
  post(runtime_.write, [this, result = std::move(result)] { writer_.segment_synced(result); });
}

void CommitLog::Engine::keeper_failed(Error error) {
  post(runtime_.write, [this, error] { writer_.fail(error); });
}

void CommitLog::Engine::post_later(Executor& on, Task task) {
  auto& loop = *runtime_.io.front();
  loop.post([weak = weak_from_this(), &loop, &on, task = std::move(task)]() mutable {
    if (const auto self = weak.lock()) {
      loop.timers().schedule(self->runtime_.clock.monotonic_ms() + kRoomRetryMs,
                             [weak, &on, task = std::move(task)]() mutable {
                               if (const auto engine = weak.lock()) {
                                 engine->post(on, std::move(task));
                               }
                             });
    }
  });
}

void CommitLog::Engine::note_shortage(const Error& why, std::int64_t needed, const char* job) {
  if (why.code == Errc::disk_full) {
    space_.look(written_if_it_takes_room());
    space_.found_full(needed);
    tell_room();
    return;
  }
  space_.set_lack(static_cast<int>(why.detail));
  if (!told_lack_.exchange(true)) {
    WEIR_LOG(error,
             "commitlog: {} waits ({}) and is tried again twice a second; {}producers are refused until then. Raise "
             "the limit of the process (ulimit -n for descriptors, -f for the size of a "
             "file), or close what takes them",
             job, to_string(why), space_.is_held_by(SpaceGuard::write) ? "" : "when the open segment is full ");
  }
  appender_.bring();
}

std::optional<LogPosition> CommitLog::Engine::written_if_it_takes_room() const {
  return keeper_.files().io() == IoMode::direct ? std::nullopt : std::optional{writer_.written()};
}

std::int64_t CommitLog::Engine::file_bytes() const {
  return keeper_.files().io() == IoMode::direct ? keeper_.files().file_bytes() : 0;
}

// Counted until it has been tried: what fails again is counted again before.
void CommitLog::Engine::try_again_later(Executor& on, std::atomic<int>& waiting, Task again) {
  waiting.fetch_add(1);
  post_later(on, [&waiting, again = std::move(again)]() mutable {
    again();
    waiting.fetch_sub(1);
  });
}

bool CommitLog::Engine::wait_out(const Error& why) {
  if (is_stopping_.load(std::memory_order_acquire)) {
    return false;
  }
  space_.hold(SpaceGuard::write);
  note_shortage(why, 0, "a write to the log");
  tell_room();
  try_again_later(runtime_.write, waiting_writes_, [this] { writer_.retry(); });
  return true;
}

bool CommitLog::Engine::wait_out(const Error& why, const char* job, Task again) {
  if (is_stopping_.load(std::memory_order_acquire)) {
    return false;
  }
  if (why.code == Errc::disk_full) {
    space_.hold(SpaceGuard::job);
  }
  note_shortage(why, file_bytes(), job);
  try_again_later(runtime_.pool, waiting_jobs_, std::move(again));
  return true;
}

void CommitLog::Engine::segment_prepared(std::shared_ptr<Segment> segment) {
  space_.set_lack(0);
  if (space_.is_held_by(SpaceGuard::job)) {
    space_.release(SpaceGuard::job);
    look_for_room();
  }
  appender_.offer_segment(std::move(segment));
}

// In the log role: who asks is refused; the rest is told by the pool.
void CommitLog::Engine::limit_reached() {
  if (!space_.is_short()) {
    space_.found_full(0);
    post(runtime_.pool, [this] { look_for_room(); });
  }
}

void CommitLog::Engine::wrote(std::int64_t bytes) {
  wrote_ += bytes;
  if (space_.is_held_by(SpaceGuard::write)) {
    space_.release(SpaceGuard::write);
    wrote_ = kLookEveryBytes;
  }
  if (wrote_ >= kLookEveryBytes) {
    wrote_ = 0;
    look_for_room();
  }
}

// Blocks for a statvfs. Files of the pool are room that was lent.
void CommitLog::Engine::look_for_room() {
  keeper_.note_failure_again();
  const bool waits = waiting_jobs_.load() > 0;
  if (!waits) {
    space_.release(SpaceGuard::job);
  }
  space_.look(written_if_it_takes_room());
  while (space_.is_short() && keeper_.files().give_back_one()) {
    space_.look(written_if_it_takes_room());
  }
  tell_room();
  if (!waits && waiting_writes_.load() == 0 && told_lack_.exchange(false)) {
    space_.set_lack(0);
    WEIR_LOG(info, "commitlog: what had to wait for files or memory goes on");
    appender_.bring();
  }
}

// Once for each change.
void CommitLog::Engine::tell_room() {
  const bool is_short = space_.is_short();
  if (told_short_.exchange(is_short) == is_short) {
    return;
  }
  if (is_short && space_.lacks_files()) {
    WEIR_LOG(
        error,
        "commitlog: the file system of {} can make {} more files (inodes; `df -i`) and must keep {} for segments and "
        "indexes: producers are refused until there are more; remove files from it",
        options_.folder, space_.free_files(), SpaceGuard::kFilesReserve);
  } else if (is_short && space_.lack() != 0) {
    // Said by note_shortage(): the volume is not what is short.
  } else if (is_short && space_.is_held_by(SpaceGuard::job) && space_.free_bytes() < file_bytes()) {
    WEIR_LOG(error,
             "commitlog: the next segment takes {} bytes, the disk of {} has {} free: producers are refused until it "
             "has room for one; make some, or lower mq.segment.bytes and start again",
             file_bytes(), options_.folder, space_.free_bytes());
  } else if (is_short && space_.is_refused_with_room()) {
    WEIR_LOG(error,
             "commitlog: the file system of {} gives no room, though it tells {} bytes free (a quota?): producers are "
             "refused until it does",
             options_.folder, space_.free_bytes());
  } else if (is_short) {
    WEIR_LOG(error,
             "commitlog: the disk of {} has {} bytes free and must keep a reserve of {}{}: producers are refused until "
             "there is room; make some, or let retention do it",
             options_.folder, space_.free_bytes(), space_.reserve_bytes(),
             space_.free_bytes() > space_.reserve_bytes() ? " beside what is taken until the next look" : "");
  } else {
    WEIR_LOG(info, "commitlog: the disk of {} has room again: {} bytes free", options_.folder, space_.free_bytes());
  }
  appender_.bring();  // what waits for a segment is refused, or goes on
}

}  // namespace weir::log
