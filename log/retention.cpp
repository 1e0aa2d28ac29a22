#include "log/retention.hpp"

#include "log/retention_scan.hpp"

namespace weir::log {

struct Retention::Pass {
  Surroundings around;
  const LogReader& reader;
  Partitions partitions;
  std::vector<std::pair<std::shared_ptr<LogPartition>, Offset>> moves;
  std::size_t next_move = 0;
  std::atomic<std::size_t> under_way{0};
  std::atomic<bool> has_failed{false};
};

// The partitions that there are, by their numbers. Made when it is first asked.
class Retention::Alive {
 public:
  explicit Alive(const Surroundings& around) : around_(around) {}
  std::shared_ptr<LogPartition> find(LocalPartition local) {
    if (!is_made_) {
      is_made_ = true;
      for (auto& partition : around_.partitions()) {
        const auto number = partition->local();
        all_.emplace(number, std::move(partition));
      }
    }
    const auto found = all_.find(local);
    return found == all_.end() || found->second->deleted() ? nullptr : found->second;
  }

 private:
  const Surroundings& around_;
  bool is_made_ = false;
  std::unordered_map<LocalPartition, std::shared_ptr<LogPartition>> all_;
};

void Retention::run(Surroundings surroundings, const LogReader& reader, Task done) {
  bool is_first = false;
  {
    const std::scoped_lock lock(mutex_);
    done_.push_back(std::move(done));
    is_first = !std::exchange(is_running_, true);
  }
  if (!is_first) {
    drop(surroundings, [] {});
    return;
  }
  begin(std::shared_ptr<Pass>{new Pass{.around = std::move(surroundings), .reader = reader}});
}

void Retention::begin(const std::shared_ptr<Pass>& pass) {
  pass->partitions = pass->around.partitions();
  const RetentionScan scan{segments_, pass->reader, clock_.wall_ms()};
  for (const auto& partition : pass->partitions) {
    const auto start = scan.wanted_start(*partition);
    if (!start && start.error().code == Errc::corrupt) {
      keeper_.mend_indexes();  // the next pass comes again
    }
    if (start && *start > partition->log_start()) {
      pass->moves.emplace_back(partition, *start);
    }
  }
  move_some(pass);
}

void Retention::move_some(const std::shared_ptr<Pass>& pass) {
  if (pass->has_failed) {
    finish();  // the log stops, or is read-only: nothing goes
    return;
  }
  if (pass->next_move == pass->moves.size()) {
    roll_if_worth(*pass);
    drop(pass->around, [this] { finish(); });
    return;
  }
  const auto from = pass->next_move;
  const auto to = std::min(pass->moves.size(), from + kMovesMax);
  pass->next_move = to;
  pass->under_way = to - from;
  for (auto number = from; number < to; ++number) {
    const auto& [partition, start] = pass->moves[number];
    pass->around.move_start(partition, start, [this, pass](const Result<Offset>& moved) {
      if (!moved && moved.error().code != Errc::not_found) {  // deleted meanwhile: nothing of it is kept anyway
        pass->has_failed = true;
      }
      if (pass->under_way.fetch_sub(1) == 1) {
        move_some(pass);
      }
    });
  }
}

void Retention::roll_if_worth(Pass& pass) {
  const auto version = segments_.current();
  if (version->members.empty() || version->members.back().index) {
    return;
  }
  const auto& open = *version->members.back().segment;
  const auto now = clock_.monotonic_ms();
  if (open.valid_end() != 0 || open.batch_bytes() < roll_bytes_ || (rolled_ms_ && now - *rolled_ms_ < kRollEveryMs)) {
    return;
  }
  const auto all = open.batch_bytes();
  const RetentionScan scan{segments_, pass.reader, clock_.wall_ms()};
  std::int64_t live = 0;
  for (const auto& partition : pass.partitions) {
    live += partition->deleted() ? 0 : scan.live_bytes_in(open.id(), *partition);
  }
  if (all - live >= roll_bytes_) {
    rolled_ms_ = now;
    pass.around.roll(open.id());
  }
}

std::optional<Retention::Pin> Retention::find_pin(const IndexFile& index, Alive& alive) {
  for (std::size_t number = 0; number < index.row_count(); ++number) {
    const auto row = index.row(number);
    if (row.entry_count == 0) {
      continue;
    }
    // Also for what was truncated later: the next segment begins with a state that knows its producers.
    if (Pin pin{alive.find(row.local), row.next_offset}; pin.partition && pin.holds()) {
      return pin;
    }
  }
  return std::nullopt;
}

std::vector<SegmentId> Retention::find_unneeded(const Surroundings& around) {
  // The version before the partitions: one that was made while the starts moved may have batches in it already.
  const auto version = segments_.current();
  Alive alive{around};
  std::unordered_map<SegmentId, Pin> pins;
  std::vector<SegmentId> unneeded;
  for (std::size_t number = 0; number + 1 < version->members.size(); ++number) {
    const auto& member = version->members[number];
    if (!member.index || !version->members[number + 1].index) {
      break;  // not sealed, or the newest that is
    }
    const auto id = member.segment->id();
    if (removing_.contains(id)) {
      continue;
    }
    const auto known = pins_.find(id);
    auto pin = known != pins_.end() && known->second.holds() ? std::optional{std::move(known->second)}
                                                             : find_pin(*member.index, alive);
    if (pin) {
      pins.emplace(id, std::move(*pin));
    } else {
      unneeded.push_back(id);
    }
  }
  pins_ = std::move(pins);
  return unneeded;
}

void Retention::drop(const Surroundings& around, Task done) {
  std::vector<SegmentId> unneeded;
  {
    const std::scoped_lock lock(drop_mutex_);
    unneeded = find_unneeded(around);
    removing_.insert(unneeded.begin(), unneeded.end());
  }
  if (unneeded.empty()) {
    done();
    return;
  }
  keeper_.remove(unneeded, [this, unneeded, done = std::move(done)]() mutable {
    {
      const std::scoped_lock lock(drop_mutex_);
      for (const auto id : unneeded) {
        removing_.erase(id);
      }
    }
    done();
  });
}

void Retention::finish() {
  std::vector<Task> done;
  {
    const std::scoped_lock lock(mutex_);
    is_running_ = false;
    done.swap(done_);
  }
  for (auto& task : done) {
    task();
  }
}

}  // namespace weir::log
