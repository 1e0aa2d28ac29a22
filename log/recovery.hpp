// Recovery: from the data folder to what the roles begin with. Reads the manifest, takes sealed segments by their index
// files, scans what is not sealed, cuts a torn tail, steps over damage, and seals what an unclean stop left.
//
// Runs once inside CommitLog::open(), on the caller's thread, blocks. Nothing is changed before the one manifest edit
// at its end, except files that the manifest does not know (removed) and index files (written anew, judged by their own
// CRCs): so a death in the middle is followed by the same recovery.
//
// Where the log ends: at the first bad entry that is not damage. Damage is a bad entry below a synced position that a
// group entry behind it knows, or below the manifest's clean point. Everything accepted is synced before it returns.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "log/commit_log.hpp"
#include "log/index_rebuild.hpp"
#include "log/log_partition.hpp"
#include "log/segment_keeper.hpp"

namespace weir::log {

struct Recovered {
  std::vector<SegmentSet::Member> members;
  std::vector<std::shared_ptr<LogPartition>> live;
  LocalPartition next_local{1};
  LogPosition tail;               // where writing goes on
  std::shared_ptr<Segment> open;  // after a clean stop: go on in it; else null
  std::int64_t open_entries = 0;  // index entries of it
  // Sealed in the manifest, but the disk is too full for their index files: for SegmentKeeper::seal().
  std::vector<std::unique_ptr<SegmentSnapshot>> without_index;
  std::vector<DamagedRange> damage;
  std::vector<OffsetGap> gaps;  // what that damage took
  std::int64_t cut_bytes = 0;   // behind the end of the log, never to be served
  std::int64_t scanned_bytes = 0;
  bool machine_restarted = false;  // since the log was written, without a clean stop: unsynced bytes may be lost
  bool lost_files = false;         // segments that the manifest names: offsets in them may be given again
};

Result<Recovered> recover(Disk& disk, SegmentKeeper& keeper, const CommitLogOptions& options);

}  // namespace weir::log
