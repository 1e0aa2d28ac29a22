// Scrub: reads what nobody asks for. Goes through the sealed segments, a little at a time, past the page cache, and
// checks every entry, every batch and the index files: damage is found and named while a copy may still exist
// elsewhere.
//
// Owner: the engine of CommitLog. turn() on the pool, one at a time; blocks on the disk. Holds a segment only as long
// as the log has it. What it learned is gone with the process: the next one begins anew.
#pragma once

#include <optional>

#include "base/clock.hpp"
#include "log/damage_report.hpp"
#include "log/device_file.hpp"
#include "log/segment_scan.hpp"

namespace weir::log {

struct ScrubPace {
  std::int64_t bytes_per_turn = 0;
  Millis rest_ms = 0;  // from the end of one pass to the beginning of the next
};

class Scrub {
 public:
  Scrub(Disk& disk, const SegmentList& list, DamageReport& damage, Metrics* metrics, const Clock& clock, ScrubPace pace)
      : disk_(disk), list_(list), damage_(damage), metrics_(metrics), clock_(clock), pace_(pace) {}

  // Reads on. True: it has found an index file that has to be made again (it says so itself: IndexFile::is_damaged).
  bool turn();

 private:
  bool begin_segment();
  void read_on(std::int64_t end);
  bool end_segment();
  void report_range(std::int64_t from, std::int64_t to);
  void give_up(const Error& error);
  [[nodiscard]] bool is_still_there() const;

  Disk& disk_;
  const SegmentList& list_;
  DamageReport& damage_;
  Metrics* metrics_;
  const Clock& clock_;
  const ScrubPace pace_;
  SegmentSet::Member member_;  // what is being read
  std::shared_ptr<DeviceFile> file_;
  std::optional<SegmentScan> scan_;
  SegmentId last_{0};
  Millis rests_until_ = 0;
};

}  // namespace weir::log
