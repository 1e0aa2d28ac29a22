#include "log/segment_keeper.hpp"

#include <cerrno>

#include "base/count_of.hpp"
#include "base/logging.hpp"
#include "log/index_rebuild.hpp"
#include "log/manifest_rebuild.hpp"

namespace weir::log {
namespace {
// What is reserved at a time. A start reads to the reserved end at most, and each step costs a sync of the manifest.
constexpr std::int64_t kReserveStep = 32LL << 20;
constexpr std::size_t kZeroPiece = 1U << 20U;
constexpr int kZeroPiecesMax = 64;  // a job; others wait for it

std::int64_t next_reserve(std::int64_t end) {
  return (end + kReserveStep - 1) / kReserveStep * kReserveStep;
}
}  // namespace

Result<void> SegmentKeeper::open() {
  WEIR_TRY_VOID(files_->open());
  WEIR_TRY_VOID(open_manifest());
  next_id_ = manifest_->state().next_segment;
  return {};
}

Result<void> SegmentKeeper::open_manifest() {
  const auto path = folder_ + "/manifest";
  if (!disk_.exists(path)) {
    return rebuild_manifest(path, "is missing", {});
  }
  auto opened = Manifest::open(disk_, path, random_.next());
  if (opened) {
    manifest_ = std::move(*opened);
    // A header is written only after the manifest named its segment, and numbers rise.
    WEIR_TRY(const bool lacks_records, has_unknown_segment(disk_, *files_, manifest_->state()));
    const auto known = manifest_->state();
    return lacks_records ? rebuild_manifest(path, "lacks its last records", known) : Result<void>{};
  }
  const auto& why = opened.error();
  if (why.code != Errc::corrupt && why.code != Errc::truncated && why.code != Errc::too_large) {
    WEIR_LOG(error, "commitlog: the start ends at {}: {}", path, to_string(why));
    return why;
  }
  WEIR_TRY_VOID(disk_.rename(path, path + ".damaged"));
  return rebuild_manifest(path, "is damaged (" + to_string(why) + ", kept as " + path + ".damaged)", {});
}

Result<void> SegmentKeeper::rebuild_manifest(const std::string& path, const std::string& why,
                                             const ManifestState& known) {
  WEIR_TRY(auto state, state_from_files(disk_, *files_, known));
  if (!state.segments.empty()) {
    WEIR_LOG(error, "{} {}: made again from the files of {}", path, why,
             count_of(std::ssize(state.segments), "segment"));
  }
  for (const auto& [id, facts] : known.segments) {
    if (!state.segments.contains(id)) {
      WEIR_LOG(error, "{} names {}, which is not there or has no header: it is taken for removed", path,
               segment_file_name(id));
    }
  }
  WEIR_TRY(manifest_, Manifest::create(disk_, path, random_.next(), std::move(state)));
  return {};
}

Result<void> SegmentKeeper::edit(std::span<const ManifestEdit> edits) {
  const std::scoped_lock lock(manifest_mutex_);
  return manifest_->append(edits);
}

bool SegmentKeeper::is_named(SegmentId id) {
  const std::scoped_lock lock(manifest_mutex_);
  return manifest_->state().segments.contains(id);
}

Result<void> SegmentKeeper::admit(Segment& segment, bool begins, std::int64_t end) {
  std::vector<ManifestEdit> edits;
  if (begins && !is_named(segment.id())) {  // a full disk may have stopped us behind this edit
    edits.emplace_back(AddSegment{segment.id(), SegmentRole::arrival, 0, segment.start()});
    edits.emplace_back(KeepSeed{segment.id(), segment.seed()});
  }
  const bool reserves = segment.is_direct() && end > segment.reserved_end();
  if (reserves) {
    edits.emplace_back(ReserveSegment{segment.id(), next_reserve(end)});
  }
  if (edits.empty()) {
    return {};
  }
  WEIR_TRY_VOID(edit(edits));
  if (reserves) {
    segment.set_reserved_end(next_reserve(end));
  }
  return {};
}

Result<void> SegmentKeeper::note_clean(LogPosition position, LocalPartition next_local) {
  const std::scoped_lock lock(manifest_mutex_);
  const auto& state = manifest_->state();
  if (state.clean_point == position && state.next_local >= next_local) {
    return {};
  }
  const std::array<ManifestEdit, 2> edits{CleanPoint{position},
                                          NextNumbers{state.next_segment, std::max(state.next_local, next_local)}};
  return manifest_->append(edits);
}

void SegmentKeeper::note_failure(const Error& error) {
  const bool is_errno = error.code == Errc::disk_failed && error.detail > 0;
  const std::scoped_lock lock(manifest_mutex_);
  unnoted_cause_ = is_errno ? static_cast<std::int32_t>(error.detail) : EIO;
  if (const auto noted = manifest_->mark_read_only(unnoted_cause_); noted) {
    unnoted_cause_ = 0;
  } else {
    WEIR_LOG(error,
             "commitlog: the manifest does not take that the log is read-only either ({}): tried again until the stop; "
             "if it never does a restart will not know",
             to_string(noted.error()));
  }
}

void SegmentKeeper::note_failure_again() {
  const std::scoped_lock lock(manifest_mutex_);
  if (unnoted_cause_ != 0 && manifest_->mark_read_only(unnoted_cause_)) {
    unnoted_cause_ = 0;
    WEIR_LOG(info, "commitlog: the manifest has taken now that the log is read-only");
  }
}

Result<std::shared_ptr<Segment>> SegmentKeeper::prepare_now() {
  while (files_->is_taken(next_id_)) {
    ++next_id_;
  }
  auto segment = files_->make(next_id_, SegmentSeed::make(random_));
  if (segment) {
    ++next_id_;  // else the next try takes what this one has left
  }
  return segment;
}

void SegmentKeeper::prepare() {
  constexpr auto kName = "making the next segment";
  add_job({kName, [this]() -> Result<void> {
             auto segment = prepare_now();
             // Comes again behind the others: answers wait for the sync of a full segment, not for a new one.
             if (!segment && is_shortage(segment.error()) &&
                 hooks_.wait_out(segment.error(), kName, [this] { prepare(); })) {
               return {};
             }
             if (!segment) {
               return segment.error();
             }
             next_ = *segment;
             hooks_.segment_prepared(std::move(*segment));
             return {};
           }});
}

void SegmentKeeper::zero_ahead() {
  if (is_zeroing_.exchange(true, std::memory_order_acq_rel)) {
    return;  // the disk is slower than the asking
  }
  add_job({"zeroing ahead", [this] {
             auto zeroed = zero_job();
             is_zeroing_.store(false, std::memory_order_release);
             return zeroed;
           }});
}

bool SegmentKeeper::has_waiting_jobs() {
  const std::scoped_lock lock(jobs_mutex_);
  return !jobs_.empty();
}

Result<void> SegmentKeeper::zero_job() {
  const auto members = list_.current()->members;
  const auto open = members.empty() || members.back().index ? nullptr : members.back().segment;
  if (zeros_.bytes().empty()) {
    zeros_ = AlignedBlock{kZeroPiece};
  }
  // A log that waits for its next segment looks idle too.
  for (int made = 0; made < kZeroPiecesMax && hooks_.is_log_idle() && !has_waiting_jobs(); ++made) {
    bool is_more = false;
    for (const auto& segment : {open, next_}) {
      if (!is_more && segment && segment->is_direct() && segment->valid_end() == 0) {
        WEIR_TRY(is_more, segment->zero_ahead(zeros_.bytes()));
      }
    }
    if (!is_more) {
      zeros_ = {};
      break;
    }
  }
  return {};
}

void SegmentKeeper::seal(std::unique_ptr<SegmentSnapshot> snapshot, bool is_synced) {
  bool is_waiting = false;
  if (!is_synced) {
    const std::scoped_lock lock(jobs_mutex_);
    unsynced_.push_back(snapshot->segment);
    is_waiting = is_waiting_;
  }
  add_job({"sealing a full segment", [this, snapshot = std::move(snapshot)] { return seal_job(*snapshot); }});
  if (is_waiting) {
    hooks_.run_on_pool([this] { sync_while_a_job_waits(); });
  }
}

// Each once, whatever comes of it; oldest first.
Result<void> SegmentKeeper::sync_full_segments() {
  const std::scoped_lock one_at_a_time(sync_mutex_);
  if (sync_failure_) {  // on another thread of the pool: what it was to sync must not be sealed here
    return *sync_failure_;
  }
  while (true) {
    std::shared_ptr<Segment> segment;
    {
      const std::scoped_lock lock(jobs_mutex_);
      if (unsynced_.empty()) {
        return {};
      }
      segment = std::move(unsynced_.front());
      unsynced_.pop_front();
    }
    auto synced = meter_.sync(segment->writing_file());
    hooks_.segment_synced(synced);
    if (!synced) {
      sync_failure_ = synced.error();
      return synced;
    }
  }
}

void SegmentKeeper::sync_while_a_job_waits() {
  std::deque<Job> dropped;  // ends outside the lock
  if (const auto synced = sync_full_segments(); !synced) {
    const std::scoped_lock lock(jobs_mutex_);
    dropped = take_all_jobs();
  }
}

std::deque<SegmentKeeper::Job> SegmentKeeper::take_all_jobs() {
  has_failed_ = true;
  unsynced_.clear();
  return std::exchange(jobs_, {});
}

void SegmentKeeper::write_delta(std::unique_ptr<SegmentSnapshot> snapshot) {
  add_job({"writing a delta of the index", [this, snapshot = std::move(snapshot)] { return delta_job(*snapshot); }});
}

void SegmentKeeper::remove(std::vector<SegmentId> segments, Task done) {
  Job job{"removing segments",
          [this, segments = std::move(segments), done = std::move(done)]() mutable -> Result<void> {
            auto removed = remove_job(segments);
            if (removed || !is_shortage(removed.error())) {
              done();
            }
            return removed;
          }};
  add_job(std::move(job), true);
}

void SegmentKeeper::mend_indexes() {
  add_job({"making an index file again", [this] { return mend_job(); }});
}

Result<void> SegmentKeeper::mend_job() {
  const auto members = list_.current()->members;
  for (std::size_t number = 0; number < members.size(); ++number) {
    const auto& [segment, old] = members[number];
    if (!old || !old->is_damaged()) {
      continue;
    }
    const auto* before = number > 0 ? members[number - 1].index.get() : nullptr;
    const auto rebuilt = rebuild_index(segment, segment->valid_end(), before);
    if (!rebuilt) {  // its segment cannot be read now: reads of it fail as they did, and ask again
      WEIR_LOG(error, "commitlog: {} cannot be made again: {}", segment->index_path(), to_string(rebuilt.error()));
      continue;
    }
    WEIR_TRY(auto index, write_index(rebuilt->snapshot));
    WEIR_LOG(warn, "commitlog: {} was damaged and has been made again from its segment", segment->index_path());
    list_.change([&, &again = segment](auto& current) {
      for (auto& member : current) {
        if (member.segment == again) {
          member.index = index;
        }
      }
    });
  }
  return {};
}

Result<std::shared_ptr<const IndexFile>> SegmentKeeper::write_index(const SegmentSnapshot& snapshot) {
  const auto& segment = *snapshot.segment;
  IndexFileFacts facts{segment.id(), segment.seed(), snapshot.to, -1};
  for (const auto& one : snapshot.partitions) {
    if (one.index) {
      facts.newest_append_ms =
          std::max(facts.newest_append_ms, one.index->newest_append_ms.load(std::memory_order_relaxed));
    }
  }
  WEIR_TRY(auto writer, IndexFileWriter::create(disk_, segment.index_path(), facts));
  std::vector<std::byte> packed;
  std::vector<std::byte> state;
  for (const auto& one : snapshot.partitions) {
    packed.clear();
    state.clear();
    IndexRow row;
    row.local = one.state.local;
    row.next_offset = one.state.log_end;
    row.log_start = one.state.log_start;
    row.record_count = one.state.record_count;
    if (one.index && one.index_to > 0) {
      const auto& index = *one.index;
      row.entry_count = static_cast<std::uint32_t>(one.index_to);
      row.first_offset = index.entries.at(0).base_offset;
      row.batch_bytes = index.batch_bytes.load(std::memory_order_relaxed);
      row.max_timestamp = index.entries.max_timestamp();
      row.newest_append_ms = index.newest_append_ms.load(std::memory_order_relaxed);
      index.entries.copy_packed(0, one.index_to, packed);
    }
    append_item(state, one.state);
    for (const auto& producers : one.producers) {
      append_item(state, ProducersItem{one.state.local, producers});
    }
    WEIR_TRY_VOID(writer.add(row, packed, state));
  }
  WEIR_TRY_VOID(writer.finish());
  return IndexFile::open(disk_, segment.index_path(), segment.id(), segment.seed());
}

Result<void> SegmentKeeper::seal_job(const SegmentSnapshot& snapshot) {
  const auto& segment = snapshot.segment;
  WEIR_TRY_VOID(sync_full_segments());
  deltas_.reset();
  WEIR_TRY(auto index, write_index(snapshot));
  {
    // The index file has no row of a deleted partition, and the next segment's state may be lost: so the next number is
    // kept here, or the rows of older segments would be taken for those of a new partition.
    const std::scoped_lock lock(manifest_mutex_);
    const auto& state = manifest_->state();
    const auto next_local = std::max(state.next_local, snapshot.next_local);
    const std::array<ManifestEdit, 3> edits{SealSegment{segment->id(), snapshot.to, true},
                                            CleanPoint{segment->start() + snapshot.to},
                                            NextNumbers{state.next_segment, next_local}};
    WEIR_TRY_VOID(manifest_->append(edits));
  }
  // Readers first take a partition's open indexes, then the version: so the version must have the file before the open
  // index goes.
  list_.change([&](auto& members) {
    for (auto& member : members) {
      if (member.segment == segment) {
        member.index = index;
      }
    }
  });
  for (const auto& one : snapshot.partitions) {
    one.partition->drop_open_index(segment->id());
  }
  return {};
}

Result<void> SegmentKeeper::delta_job(const SegmentSnapshot& snapshot) {
  const auto& segment = *snapshot.segment;
  if (deltas_of_ != segment.id()) {
    WEIR_TRY(auto writer, IndexDeltaWriter::create(disk_, segment.index_path(), segment.id(), segment.seed()));
    deltas_.emplace(std::move(writer));
    deltas_of_ = segment.id();
  }
  if (!deltas_) {
    return {};  // sealed meanwhile
  }
  std::vector<std::byte> items;
  std::vector<std::byte> packed;
  for (const auto& one : snapshot.partitions) {
    append_item(items, one.state);
    for (const auto& producers : one.producers) {
      append_item(items, ProducersItem{one.state.local, producers});
    }
    if (one.index && one.index_to > one.index_from) {
      packed.clear();
      one.index->entries.copy_packed(one.index_from, one.index_to, packed);
      append_item(items, IndexItem{one.state.local, packed});
    }
  }
  return deltas_->append({snapshot.from, snapshot.to, items});
}

Result<void> SegmentKeeper::remove_job(const std::vector<SegmentId>& segments) {
  std::vector<ManifestEdit> edits;
  for (const auto id : segments) {
    edits.emplace_back(RemoveSegment{id});
  }
  WEIR_TRY_VOID(edit(edits));
  const auto is_removed = [&](SegmentId id) {
    return std::find(segments.begin(), segments.end(), id) != segments.end();
  };
  const auto version = list_.current();
  for (const auto& member : version->members) {
    if (is_removed(member.segment->id())) {
      // The last user may be a socket's thread, which must not touch the disk.
      member.segment->give_up_when_unused([files = files_, &pool = pool_](const auto& path, const auto& index_path) {
        pool.post([files, path, index_path] { files->retire(path, index_path); });
      });
    }
  }
  list_.change([&](auto& members) {
    std::erase_if(members, [&](const auto& member) { return is_removed(member.segment->id()); });
  });
  return {};
}

void SegmentKeeper::add_job(Job job, bool goes_first) {
  {
    const std::scoped_lock lock(jobs_mutex_);
    if (has_failed_) {
      return;
    }
    if (goes_first) {
      jobs_.push_front(std::move(job));
    } else {
      jobs_.push_back(std::move(job));
    }
    if (is_running_) {
      return;
    }
    is_running_ = true;
  }
  hooks_.run_on_pool([this] { run_job(); });
}

void SegmentKeeper::run_job() {
  Job job;
  {
    const std::scoped_lock lock(jobs_mutex_);
    is_waiting_ = false;
    if (jobs_.empty()) {  // a sync failed while one waited
      job = {"", [] { return Result<void>{}; }};
    } else {
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
  }
  const auto result = [&] {
    const Doing::Step step{doing_, job.name};
    return job.run();
  }();
  if (!result && is_shortage(result.error()) && wait_out(result.error(), job)) {
    return;
  }
  job = {};
  std::deque<Job> dropped;
  std::vector<Task> idle;
  bool goes_on = false;
  {
    const std::scoped_lock lock(jobs_mutex_);
    if (!result) {
      dropped = take_all_jobs();
    }
    goes_on = is_running_ = !jobs_.empty();
    if (!goes_on) {
      idle.swap(when_idle_);
    }
  }
  if (!result) {
    hooks_.keeper_failed(result.error());
  }
  for (auto& task : idle) {
    task();
  }
  if (goes_on) {
    hooks_.run_on_pool([this] { run_job(); });
  }
}

// True: the job is first again, and will be run, unless one that makes room comes before it. Answers do not wait for
// it: what is full meanwhile is synced. False: it is dropped, with all that is behind it.
bool SegmentKeeper::wait_out(const Error& why, Job& job) {
  const auto* name = job.name;
  {
    const std::scoped_lock lock(jobs_mutex_);
    if (has_failed_) {  // a sync on another thread of the pool, while this job ran
      return false;
    }
    jobs_.push_front(std::move(job));
    is_waiting_ = true;
  }
  if (hooks_.wait_out(why, name, [this] { run_job(); })) {
    sync_while_a_job_waits();
    return true;
  }
  const std::scoped_lock lock(jobs_mutex_);
  is_waiting_ = false;  // the job may be gone already: such a sync drops all
  return false;
}

void SegmentKeeper::when_idle(Task done) {
  {
    const std::scoped_lock lock(jobs_mutex_);
    if (is_running_) {
      when_idle_.push_back(std::move(done));
      return;
    }
  }
  hooks_.run_on_pool(std::move(done));
}

}  // namespace weir::log
