#include "coordinator/metadata/metadata_log.hpp"

#include <algorithm>

#include "coordinator/metadata/image_builder.hpp"
#include "protocol/record.hpp"

namespace weir::metadata {
namespace {

constexpr std::int64_t kFileSizeMax = 1LL << 30;
constexpr std::int64_t kReservedBytes = 1 << 20;  // room in each new file, so that deletes work on a full disk
constexpr std::size_t kSnapshotsKept = 2;

Error failed(std::string& why, const std::string& what, Error error) {
  why = what + ": " + to_string(error);
  return error;
}

}  // namespace

Result<MetadataLog::Opened> MetadataLog::open(Disk& disk, const std::string& data_folder, std::string& why) {
  const auto folder = data_folder + "/metadata";
  Opened opened{.log = std::unique_ptr<MetadataLog>{new MetadataLog{disk, data_folder}}, .image = {}, .findings = {}};
  auto made = disk.make_directories(folder);
  if (made) {
    made = disk.sync_directory(data_folder);
  }
  if (!made) {
    return failed(why, "cannot make the folder " + folder, made.error());
  }
  WEIR_TRY_VOID(opened.log->recover(opened, why));
  return opened;
}

Result<void> MetadataLog::recover(Opened& opened, std::string& why) {
  const auto listing = list_metadata(disk_, folder_);
  if (!listing) {
    return failed(why, "cannot list the folder " + folder_, listing.error());
  }
  ImageBuilder builder{MetadataImage{}};
  Offset from{0};
  for (auto end = listing->snapshots.rbegin(); end != listing->snapshots.rend(); ++end) {
    const auto path = folder_ + "/" + snapshot_name(*end);
    const auto content = read_file(disk_, path, kFileSizeMax);
    if (!content) {
      return failed(why, "cannot read " + path, content.error());
    }
    ImageBuilder from_snapshot{MetadataImage{}};
    const auto read = read_snapshot(*content, from_snapshot);
    if (read) {
      from_snapshot.set_end_offset(*end);
      builder = std::move(from_snapshot);
      from = *end;
      break;
    }
    if (read.error().code == Errc::unsupported) {
      return failed(why, path + " holds metadata that only a newer version of Weir understands; start that version",
                    read.error());
    }
    opened.findings.push_back("metadata snapshot " + path + " is damaged; using an older one and the log");
  }
  // Nothing there, and nothing that was written after it: the first start. Beside a log an empty metadata would drop
  // all that the log holds.
  const bool is_new = listing->logs.empty() && listing->snapshots.empty() && marks_.at_least() == Offset{0} &&
                      !disk_.exists(data_folder_ + "/manifest") && !disk_.exists(data_folder_ + "/commitlog");
  if (is_new) {
    if (const auto started = start_file(Offset{0}); !started) {
      return failed(why, "cannot make " + folder_ + "/" + log_name(Offset{0}), started.error());
    }
  } else {
    WEIR_TRY_VOID(replay_logs(*listing, from, builder, opened, why));
  }
  if (builder.in_transaction()) {
    why = folder_ +
          " ends inside a metadata transaction, which this version of Weir never writes; start the version that "
          "wrote it";
    return {Errc::unsupported};
  }
  for (auto& finding : marks_.settle()) {
    opened.findings.push_back(std::move(finding));
  }
  marks_.raise(end_offset_);  // all of it is durable; a folder of an early build gets the mark that it lacks
  opened.image = builder.build();
  WEIR_CHECK(opened.image->end_offset() == end_offset_);
  return {};
}

Result<void> MetadataLog::replay_logs(const MetadataFiles& listing, Offset from, ImageBuilder& builder, Opened& opened,
                                      std::string& why) {
  // The file that holds `from` and all after it. Each must end where the next begins.
  auto first = std::upper_bound(listing.logs.begin(), listing.logs.end(), from);
  if (first == listing.logs.begin()) {
    why = folder_ + " lacks the log file that holds offset " + std::to_string(from.value) +
          (listing.snapshots.empty() ? "" : " (or a good snapshot)") + "; put back the newest copy of the folder, or " +
          way_out();
    return Error{Errc::corrupt, from.value};
  }
  for (auto base = std::prev(first); base != listing.logs.end(); ++base) {
    const auto path = folder_ + "/" + log_name(*base);
    const bool last = std::next(base) == listing.logs.end();
    auto content = read_file(disk_, path, kFileSizeMax);
    if (!content) {
      return failed(why, "cannot read " + path, content.error());
    }
    const auto scanned = scan_log(*content, *base, from, builder);
    if (!scanned) {
      const bool newer = scanned.error().code == Errc::unsupported;
      return failed(why,
                    path + (newer ? " holds metadata that only a newer version of Weir understands; start that version"
                                  : " holds metadata records that contradict each other; put back the newest copy of "
                                    "the folder metadata, or " +
                                        way_out()),
                    scanned.error());
    }
    // What a mark knows to be whole is not torn. A file that is whole itself, with its folder's own mark, is a copy.
    const auto known_end = scanned->torn ? marks_.at_least() : marks_.inside();
    if (scanned->damaged || (!last && (scanned->torn || scanned->end_offset != *std::next(base))) ||
        (last && scanned->end_offset < std::max(from, known_end))) {
      why = path + " is damaged at byte " + std::to_string(scanned->good_bytes) +
            "; put back the newest copy of the folder metadata, or " + way_out();
      return Error{Errc::corrupt, scanned->good_bytes};
    }
    if (last && scanned->end_offset < marks_.at_least()) {
      why = "the metadata in " + folder_ + " end at offset " + std::to_string(scanned->end_offset.value) +
            ", but this node's metadata were at " + std::to_string(marks_.at_least().value) + " already (" +
            data_folder_ +
            "/metadata-end): it is an older copy, and what was made since would be deleted; put back the newest copy "
            "of the folder metadata, or " +
            way_out();
      return Error{Errc::corrupt, scanned->end_offset.value};
    }
    bytes_since_snapshot_ += scanned->end_offset > from ? scanned->good_bytes : 0;
    if (!last) {
      continue;
    }
    end_offset_ = scanned->end_offset;
    builder.set_end_offset(end_offset_);
    if (scanned->torn) {
      opened.findings.push_back(path + ": cut " + std::to_string(std::ssize(*content) - scanned->good_bytes) +
                                " bytes of a write that a crash left unfinished");
    }
    if (const auto kept = go_on_in(path, Bytes{*content}.first(static_cast<std::size_t>(scanned->good_bytes))); !kept) {
      return failed(why, "cannot write " + path, kept.error());
    }
  }
  return {};
}

// What was accepted is durable before anybody sees it, and a cut tail cannot come back. It is written anew: after a
// sync that failed in an earlier process the kernel takes pages for written that only the cache has. Where a second
// file finds no room what append() has left is believed: it cuts off what it could not sync.
Result<void> MetadataLog::go_on_in(const std::string& path, Bytes accepted) {
  const auto written = replace_file(disk_, path, accepted);
  if (!written && !is_shortage(written.error())) {
    return written;
  }
  WEIR_TRY(file_, disk_.open(path, {}));
  file_end_ = std::ssize(accepted);
  if (written) {
    static_cast<void>(file_->allocate(file_end_ + kReservedBytes).has_value());
    return {};
  }
  WEIR_TRY_VOID(file_->truncate(file_end_));
  WEIR_TRY_VOID(file_->sync());
  return disk_.sync_directory(folder_);
}

std::string MetadataLog::way_out() const {
  return "keep what can be read with `weir metadata repair " + data_folder_ + "`";
}

Result<void> MetadataLog::start_file(Offset base) {
  WEIR_TRY(auto file, disk_.open(folder_ + "/" + log_name(base), {.create = true}));
  WEIR_TRY_VOID(file->truncate(0));
  if (const auto reserved = file->allocate(kReservedBytes);
      !reserved && !is_shortage(reserved.error()) && reserved.error().code != Errc::unsupported) {
    return reserved.error();
  }
  WEIR_TRY_VOID(file->sync());
  WEIR_TRY_VOID(disk_.sync_directory(folder_));
  file_ = std::move(file);
  file_end_ = 0;
  end_offset_ = base;
  return {};
}

Result<void> MetadataLog::append(const RecordList& records, Millis now) {
  WEIR_CHECK(!records.empty());
  if (read_only_) {
    return {Errc::read_only};
  }
  protocol::RecordBatchBuilder builder{batch_options(end_offset_)};
  for (std::size_t i = 0; i < records.size(); ++i) {
    builder.append({.key = {}, .value = records[i], .timestamp = now, .headers = {}});
  }
  WEIR_TRY(const auto batch, builder.build());
  const Bytes bytes{batch};
  if (const auto written = file_->write_at(file_end_, std::span{&bytes, 1}); !written) {
    // A half written batch goes again, so that the next one follows a whole one.
    read_only_ = !file_->truncate(file_end_) || !is_shortage(written.error());
    return written.error();
  }
  if (const auto synced = file_->sync(); !synced) {
    read_only_ = true;
    static_cast<void>(file_->truncate(file_end_).has_value());  // what was refused does not happen at the next start
    return synced.error();
  }
  file_end_ += std::ssize(batch);
  bytes_since_snapshot_ += std::ssize(batch);
  end_offset_ += static_cast<std::int64_t>(records.size());
  marks_.raise(end_offset_);
  return {};
}

Result<void> MetadataLog::write_snapshot(const MetadataImage& image, Millis now) {
  WEIR_CHECK(image.end_offset() == end_offset_);
  if (read_only_) {
    return {Errc::read_only};
  }
  bytes_since_snapshot_ = 0;  // after a failure too: the next try comes when the log has grown as much again
  WEIR_TRY(const auto content, make_snapshot(image, now));
  WEIR_TRY_VOID(replace_file(disk_, folder_ + "/" + snapshot_name(end_offset_), content));
  if (file_end_ > 0) {
    if (const auto started = start_file(end_offset_); !started) {
      // The old file goes on, so a new one must not stand behind it.
      auto undone = disk_.remove(folder_ + "/" + log_name(end_offset_));
      const bool was_not_made = !undone && undone.error().code == Errc::not_found;
      if (undone) {
        undone = disk_.sync_directory(folder_);
      }
      read_only_ = !undone && !was_not_made;
      return started.error();
    }
  }
  remove_obsolete();
  return {};
}

// Only what neither of the two newest snapshots needs. Failures leave files that the next snapshot removes.
void MetadataLog::remove_obsolete() {
  const auto listing = list_metadata(disk_, folder_);
  if (!listing || listing->snapshots.size() < kSnapshotsKept) {
    return;
  }
  const auto oldest_kept = listing->snapshots[listing->snapshots.size() - kSnapshotsKept];
  for (std::size_t i = 0; i + 1 < listing->logs.size() && listing->logs[i + 1] <= oldest_kept; ++i) {
    static_cast<void>(disk_.remove(folder_ + "/" + log_name(listing->logs[i])).has_value());
  }
  for (const auto end : listing->snapshots) {
    if (end < oldest_kept) {
      static_cast<void>(disk_.remove(folder_ + "/" + snapshot_name(end)).has_value());
    }
  }
  static_cast<void>(disk_.sync_directory(folder_).has_value());
}

}  // namespace weir::metadata
