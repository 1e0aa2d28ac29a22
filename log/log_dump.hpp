// log_dump: what `weir log dump` and `weir log verify` print. Reads segment, index and manifest files as they lie on
// the disk, needs no running log and changes nothing. Any thread; blocks on the disk.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/disk.hpp"
#include "log/entry.hpp"
#include "log/index_file.hpp"
#include "log/manifest.hpp"

namespace weir::log {

using LineSink = std::function<void(std::string_view line)>;

struct DumpOptions {
  bool json = false;                        // one JSON object a line
  std::optional<LocalPartition> partition;  // only its entries
  std::int64_t from = 0;                    // file position
  std::int64_t entries_max = -1;            // -1: all
};

// One entry as a line; `json` or plain words.
std::string to_line(const Entry& entry, bool json);

// Header, then entries; a damaged stretch is one line. disk errors, or the header is not a segment's.
Result<void> dump_segment(Disk& disk, const std::string& path, const DumpOptions& options, const LineSink& sink);
Result<void> dump_index(Disk& disk, const std::string& path, const DumpOptions& options, const LineSink& sink);
Result<void> dump_manifest(Disk& disk, const std::string& path, const DumpOptions& options, const LineSink& sink);

struct VerifyReport {
  std::int64_t entries = 0;
  std::int64_t batches = 0;
  std::int64_t records = 0;
  std::int64_t bytes = 0;
  std::int64_t problems = 0;    // damage, wrong order, an index that disagrees
  std::int64_t torn_bytes = 0;  // behind the last sound entry of a segment that is not sealed: no problem
  void add(const VerifyReport& other);
};

// Checks entry CRCs, batch CRCs, offset order per partition, atomic groups, and that the index file beside it (if any)
// names exactly the batches that are there. `valid_end`: where a sealed segment ends; -1 if it is open. Every problem
// is one line.
Result<VerifyReport> verify_segment(Disk& disk, const std::string& path, std::int64_t valid_end,
                                    std::int64_t reserved_end, const LineSink& sink);
// All segments that the manifest of a data folder names.
Result<VerifyReport> verify_folder(Disk& disk, const std::string& folder, const LineSink& sink);

}  // namespace weir::log
