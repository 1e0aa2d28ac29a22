#include "coordinator/metadata/metadata_repair.hpp"

#include <map>

#include "coordinator/metadata/image_builder.hpp"
#include "coordinator/metadata/metadata_log.hpp"
#include "coordinator/metadata/plan_parts.hpp"
#include "protocol/gen/topic_record.hpp"

namespace weir::metadata {
namespace {

constexpr std::int64_t kFileSizeMax = 1LL << 30;
constexpr std::string_view kDamaged = ".damaged";

class Repair {
 public:
  Repair(Disk& disk, const std::string& data_folder) : disk_(disk), folder_(data_folder + "/metadata") {}

  // Whether a start would take the folder as it is. A torn tail that it cuts is no damage.
  bool is_sound(const std::string& data_folder) {
    std::string why;
    return MetadataLog::open(disk_, data_folder, why).has_value();
  }

  Result<void> read() {
    WEIR_TRY(files_, list_metadata(disk_, folder_));
    const auto known_end = EndMark{disk_, folder_}.at_least();
    read_newest_snapshot();
    for (const auto base : files_.logs) {
      const auto path = folder_ + "/" + log_name(base);
      WEIR_TRY(const auto content, read_file(disk_, path, kFileSizeMax));
      std::vector<std::string> findings;
      if (base > end_ && base > from_) {
        out_.findings.push_back(folder_ + " lacks the records " + std::to_string(end_.value) + " to " +
                                std::to_string(base.value - 1));
      }
      end_ = std::max(end_, salvage_log(content, base, from_, builder_, findings));
      for (const auto& finding : findings) {
        out_.findings.push_back(path + ": " + finding);
      }
    }
    if (end_ < known_end) {
      out_.findings.push_back(folder_ + " lacks its last records, " + std::to_string(end_.value) + " to " +
                              std::to_string(known_end.value - 1));
      end_ = known_end;  // no offset is given twice
    }
    return {};
  }

  void bring_back(std::span<const log::PartitionKey> in_log, const Identity& identity) {
    std::map<Uuid, std::int32_t> partitions;  // how many, of topics that nobody knows
    const auto known = builder_.build();
    for (const auto& key : in_log) {
      if (!known->find_topic(key.topic_id)) {
        auto& count = partitions[key.topic_id];
        count = std::max(count, key.index + 1);
      }
    }
    RecordList records;
    for (const auto& [id, count] : partitions) {
      protocol::TopicRecord record;
      record.name = "recovered-" + to_string(id);
      record.topic_id = id;
      records.add(record, 0);
      for (std::int32_t i = 0; i < count; ++i) {
        add_partition(records, id, i, new_partition(identity));
      }
      out_.findings.push_back("a topic of " + std::to_string(count) + " partitions lost its name: it is " +
                              record.name.str() + " now, with default configs");
    }
    WEIR_CHECK(builder_.apply_all(end_, records).has_value());
    end_ += static_cast<std::int64_t>(records.size());
  }

  // The snapshot first: from then on a start needs nothing of the rest.
  Result<void> write(Millis now) {
    builder_.set_end_offset(end_);
    const auto image = builder_.build();
    out_.topics = image->topic_count();
    WEIR_TRY(const auto content, make_snapshot(*image, now));
    WEIR_TRY_VOID(replace_file(disk_, folder_ + "/" + snapshot_name(end_), content));
    WEIR_TRY_VOID(replace_file(disk_, folder_ + "/" + log_name(end_), {}));
    for (const auto base : files_.logs) {
      WEIR_TRY_VOID(put_aside(base == end_ ? "" : log_name(base)));
    }
    for (const auto end : damaged_snapshots_) {
      WEIR_TRY_VOID(put_aside(end == end_ ? "" : snapshot_name(end)));
    }
    return disk_.sync_directory(folder_);
  }

  MetadataRepair take() { return std::move(out_); }

 private:
  void read_newest_snapshot() {
    for (auto end = files_.snapshots.rbegin(); end != files_.snapshots.rend(); ++end) {
      const auto path = folder_ + "/" + snapshot_name(*end);
      const auto content = read_file(disk_, path, kFileSizeMax);
      ImageBuilder from_snapshot{MetadataImage{}};
      if (content && read_snapshot(*content, from_snapshot)) {
        builder_ = std::move(from_snapshot);
        from_ = end_ = *end;
        return;
      }
      damaged_snapshots_.push_back(*end);
      out_.findings.push_back(path + " cannot be read");
    }
  }

  Result<void> put_aside(const std::string& name) {
    return name.empty() ? Result<void>{}
                        : disk_.rename(folder_ + "/" + name, folder_ + "/" + name + std::string{kDamaged});
  }

  Disk& disk_;
  const std::string folder_;
  MetadataFiles files_;
  std::vector<Offset> damaged_snapshots_;
  ImageBuilder builder_{MetadataImage{}};
  Offset from_{0};  // of the snapshot
  Offset end_{0};
  MetadataRepair out_;
};

}  // namespace

Result<MetadataRepair> repair_metadata(Disk& disk, const std::string& data_folder, const Identity& identity,
                                       std::span<const log::PartitionKey> in_log, Millis now, std::string& why) {
  Repair repair{disk, data_folder};
  if (repair.is_sound(data_folder)) {
    auto report = repair.take();
    report.was_sound = true;
    return report;
  }
  auto done = repair.read();
  if (done) {
    repair.bring_back(in_log, identity);
    done = repair.write(now);
  }
  if (!done) {
    why = "the folder " + data_folder + "/metadata cannot be repaired: " + to_string(done.error());
    return done.error();
  }
  return repair.take();
}

}  // namespace weir::metadata
