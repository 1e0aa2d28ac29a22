// MetadataLog: the `__cluster_metadata` log of this node and its snapshots, in the folder `metadata` of the data
// folder. Files: `<20-digit offset>.log` with Kafka's record batches from that offset on, and `<20-digit end>-<10-digit
// epoch>.checkpoint`, a snapshot of everything below the end, in Kafka's form too. The two newest snapshots stay, and
// the logs since the older one, so that one damaged snapshot costs nothing.
//
// Owned by the controller; used on Runtime::controller and at start. Calls block. An append has returned only after its
// sync, so at most one batch, the last, can be torn by a crash; it is cut at the next start, if no end mark says that
// it was whole (coordinator/metadata/end_mark.hpp). Anything else that is wrong in a log is damage, and a log that ends
// before a mark is an older copy: the start is refused and the file named, as guessing would lose topics; the operator
// decides (metadata_repair.hpp).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/disk.hpp"
#include "base/result.hpp"
#include "coordinator/metadata/end_mark.hpp"
#include "coordinator/metadata/image.hpp"
#include "coordinator/metadata/metadata_files.hpp"
#include "coordinator/metadata/record_frame.hpp"
#include "protocol/record.hpp"

namespace weir::metadata {

class ImageBuilder;

inline constexpr LeaderEpoch kMetadataEpoch{1};  // alone, this node leads the log for ever in one epoch

class MetadataLog {
 public:
  struct Opened {
    std::unique_ptr<MetadataLog> log;
    ImagePointer image;
    std::vector<std::string> findings;  // sentences for the operator: a torn tail cut, a damaged snapshot passed over
  };
  // Makes the folder if missing. On failure `why` is one sentence that names the file.
  static Result<Opened> open(Disk& disk, const std::string& data_folder, std::string& why);

  // One batch: all of it survives or none. `now` is its timestamp. A shortage leaves the log as it was and usable;
  // after any other failure it is read_only until the next start. What failed is cut off, so that start does not find
  // it, but a power cut before it may bring it back: nobody may be told in between that what depends on it has not
  // changed.
  Result<void> append(const RecordList& records, Millis now);
  // Writes `image`, which must be the newest, as a snapshot, starts a new log file and removes what is no longer
  // needed. A failure leaves the log usable (or says read_only at the next append).
  Result<void> write_snapshot(const MetadataImage& image, Millis now);

  [[nodiscard]] Offset end_offset() const { return end_offset_; }
  [[nodiscard]] std::int64_t bytes_since_snapshot() const { return bytes_since_snapshot_; }
  [[nodiscard]] bool read_only() const { return read_only_; }

 private:
  MetadataLog(Disk& disk, const std::string& data_folder)
      : disk_(disk), data_folder_(data_folder), folder_(data_folder + "/metadata"), marks_(disk, data_folder) {}
  Result<void> start_file(Offset base);
  Result<void> recover(Opened& opened, std::string& why);
  Result<void> go_on_in(const std::string& path, Bytes accepted);
  [[nodiscard]] std::string way_out() const;  // for the operator, when the start is refused
  Result<void> replay_logs(const MetadataFiles& listing, Offset from, ImageBuilder& builder, Opened& opened,
                           std::string& why);
  void remove_obsolete();

  Disk& disk_;
  std::string data_folder_;
  std::string folder_;
  EndMarks marks_;
  std::shared_ptr<File> file_;  // the newest log file
  std::int64_t file_end_ = 0;
  Offset end_offset_{0};
  std::int64_t bytes_since_snapshot_ = 0;
  bool read_only_ = false;
};

// The bytes of one log file or snapshot, checked. Pure; also what the fuzz target drives.
struct ScannedLog {
  std::int64_t good_bytes = 0;  // whole, valid batches from the front
  Offset end_offset{0};
  bool torn = false;     // the rest is what a crash leaves of one unfinished batch
  bool damaged = false;  // the rest holds a valid later batch: something in the middle was changed
};
// Feeds every record at or above `from` to `builder`. The first batch must begin at `base`.
Result<ScannedLog> scan_log(Bytes content, Offset base, Offset from, ImageBuilder& builder);
struct SalvagedLog {
  Offset end_offset{0};               // behind the last batch that can be read
  std::int64_t lost_records = 0;      // at most so many
  std::vector<std::string> findings;  // a sentence for each loss
};
// As scan_log for a log that is damaged: goes on behind what cannot be read, and leaves out records that contradict
// what came before.
SalvagedLog salvage_log(Bytes content, Offset base, Offset from, ImageBuilder& builder);
// All or nothing: header, records, footer. corrupt if a byte is missing or wrong.
Result<void> read_snapshot(Bytes content, ImageBuilder& builder);
Result<std::vector<std::byte>> make_snapshot(const MetadataImage& image, Millis now);
protocol::BatchOptions batch_options(Offset base_offset);  // of every batch in these files

}  // namespace weir::metadata
