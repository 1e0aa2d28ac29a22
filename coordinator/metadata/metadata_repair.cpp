#include "coordinator/metadata/metadata_repair.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/count_of.hpp"
#include "coordinator/metadata/image_builder.hpp"
#include "coordinator/metadata/internal_topics.hpp"
#include "coordinator/metadata/lost_names.hpp"
#include "coordinator/metadata/metadata_log.hpp"
#include "coordinator/metadata/plan.hpp"
#include "coordinator/metadata/plan_parts.hpp"
#include "coordinator/metadata/topic_name.hpp"
#include "protocol/gen/producer_ids_record.hpp"
#include "protocol/gen/topic_record.hpp"

namespace weir::metadata {
namespace {

constexpr std::int64_t kFileSizeMax = 1LL << 30;
constexpr std::string_view kDamaged = ".damaged";
constexpr std::int64_t kProducerIdMax = 1LL << 53;  // a client may have sent any number: what is above is none of ours

std::string recovered_name(const Uuid& id) {
  return "recovered-" + to_string(id);
}

class Repair {
 public:
  Repair(Disk& disk, const std::string& data_folder)
      : disk_(disk), data_folder_(data_folder), folder_(data_folder + "/metadata") {}

  // Whether a start would take the folder as it is. A torn tail that it cuts is no damage.
  bool is_sound() {
    std::string why;
    const auto opened = MetadataLog::open(disk_, data_folder_, why);
    out_.was_sound = opened.has_value();
    out_.topics = opened ? opened->image->topic_count() : 0;
    return out_.was_sound;
  }

  Result<void> read() {
    WEIR_TRY(files_, list_metadata(disk_, folder_));
    const auto known_end = EndMarks{disk_, data_folder_}.at_least();
    read_newest_snapshot();
    for (const auto base : files_.logs) {
      const auto path = folder_ + "/" + log_name(base);
      WEIR_TRY(const auto content, read_file(disk_, path, kFileSizeMax));
      if (base > end_ && base > from_) {
        out_.findings.push_back(folder_ + " lacks the records " + std::to_string(end_.value) + " to " +
                                std::to_string(base.value - 1));
        lost_ += base - end_;
      }
      const auto salvaged = salvage_log(content, base, from_, builder_);
      end_ = std::max(end_, salvaged.end_offset);
      lost_ += salvaged.lost_records;
      for (const auto& finding : salvaged.findings) {
        out_.findings.push_back(path + ": " + finding);
      }
    }
    if (end_ < known_end) {
      out_.findings.push_back(folder_ + " lacks its last records, " + std::to_string(end_.value) + " to " +
                              std::to_string(known_end.value - 1));
      lost_ += known_end - end_;
      end_ = known_end;  // no offset is given twice
    }
    return {};
  }

  Result<void> bring_back(const log::FoundPartitions& in_log, const Identity& identity) {
    const auto known = builder_.build();
    std::map<Uuid, std::vector<log::FoundPartition>> topics;
    for (const auto& one : in_log.partitions) {
      topics[one.key.topic_id].push_back(one);
    }
    WEIR_TRY(const auto names, names_of_unnamed(*known, topics, in_log));
    RecordList records;
    for (const auto& [id, partitions] : topics) {
      if (const auto& topic = known->find_topic(id)) {
        complete(*topic, partitions, identity, records);
      } else {
        make(id, names.at(id), partitions, identity, records);
      }
    }
    leave_producer_ids(*known, in_log, identity, records);
    WEIR_CHECK(builder_.apply_all(end_, records).has_value());
    end_ += static_cast<std::int64_t>(records.size());
    return {};
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
    WEIR_TRY_VOID(disk_.sync_directory(folder_));
    EndMarks{disk_, data_folder_}.raise(end_);
    return {};
  }

  [[nodiscard]] ImagePointer image() { return builder_.build(); }
  MetadataRepair take() { return std::move(out_); }

 private:
  using Topics = std::map<Uuid, std::vector<log::FoundPartition>>;

  Result<std::map<Uuid, std::string>> names_of_unnamed(const MetadataImage& known, const Topics& topics,
                                                       const log::FoundPartitions& in_log) {
    std::map<Uuid, std::string> names;
    std::set<Uuid> unnamed;
    const auto& offsets = known.find_topic(kOffsetsTopic);
    auto offsets_id = offsets ? std::optional{offsets->id} : std::nullopt;
    for (const auto& [id, partitions] : topics) {
      const auto name = internal_topic_of(id);
      if (known.find_topic(id) != nullptr) {
        continue;
      }
      if (name.empty() || known.find_topic(name) != nullptr) {
        unnamed.insert(id);
        continue;
      }
      names[id] = name;
      offsets_id = name == kOffsetsTopic ? id : offsets_id;
    }
    if (!offsets_id && !unnamed.empty()) {
      WEIR_TRY(offsets_id, find_offsets_topic(disk_, data_folder_, in_log, unnamed));
      if (offsets_id) {
        names[*offsets_id] = kOffsetsTopic;
        unnamed.erase(*offsets_id);
      }
    }
    std::map<Uuid, std::string> committed;
    if (offsets_id && !unnamed.empty()) {
      WEIR_TRY(committed, find_names(disk_, data_folder_, in_log, *offsets_id, unnamed));
    }
    std::set<std::string> taken;
    for (const auto& id : unnamed) {
      const auto found = committed.find(id);
      const bool is_good = found != committed.end() && known.find_topic(found->second) == nullptr &&
                           !is_internal_topic(found->second) && !refuse_topic_name(found->second) &&
                           taken.insert(found->second).second;
      names[id] = is_good ? found->second : recovered_name(id);
    }
    return names;
  }

  void make(const Uuid& id, const std::string& name, const std::vector<log::FoundPartition>& partitions,
            const Identity& identity, RecordList& records) {
    protocol::TopicRecord record;
    record.name = name;
    record.topic_id = id;
    records.add(record, 0);
    const bool is_internal = is_internal_topic(name);
    if (is_internal) {
      const auto segment_bytes = ControllerSettings{}.offsets_topic_segment_bytes;
      for (const auto& [key, value] : internal_topic_configs(name, segment_bytes)) {
        add_config(records, {ResourceType::topic, name}, key, value);
      }
    }
    const auto count = add_partitions(id, 0, partitions, identity, records);
    const bool has_new_name = name == recovered_name(id);
    out_.findings.push_back(
        has_new_name ? "a topic of " + count_of(static_cast<std::int64_t>(count), "partition") +
                           " lost its name: it is " + name + " now, with default configs"
                     : "topic " + name + " of " + count_of(static_cast<std::int64_t>(count), "partition") +
                           " lost its records: it is back, with " +
                           (is_internal ? "the configs that its coordinator makes it with" : "default configs"));
  }

  // The log knows of partitions and epochs that a lost record made.
  void complete(const Topic& topic, const std::vector<log::FoundPartition>& partitions, const Identity& identity,
                RecordList& records) {
    std::size_t raised = 0;
    for (const auto& found : partitions) {
      const auto index = static_cast<std::size_t>(found.key.index);
      if (index < topic.partitions.size() && topic.partitions[index].leader_epoch < found.leader_epoch) {
        auto state = topic.partitions[index];
        state.leader_epoch = found.leader_epoch;
        ++state.partition_epoch;
        add_partition(records, topic.id, found.key.index, state);
        ++raised;
      }
    }
    if (raised > 0) {
      out_.findings.push_back("topic " + topic.name + ": " + count_of(static_cast<std::int64_t>(raised), "partition") +
                              " got the leader epoch that the log has seen");
    }
    if (const auto added = add_partitions(topic.id, topic.partitions.size(), partitions, identity, records);
        added > 0) {
      out_.findings.push_back("topic " + topic.name + ": " + count_of(static_cast<std::int64_t>(added), "partition") +
                              " came back from the log");
    }
  }

  // From `first` on to the last one that the log has. How many.
  static std::size_t add_partitions(const Uuid& id, std::size_t first,
                                    const std::vector<log::FoundPartition>& partitions, const Identity& identity,
                                    RecordList& records) {
    const auto end = static_cast<std::size_t>(partitions.back().key.index) + 1;
    std::vector<PartitionState> states(end, new_partition(identity));
    for (const auto& found : partitions) {
      states[static_cast<std::size_t>(found.key.index)].leader_epoch = found.leader_epoch;
    }
    for (auto index = first; index < end; ++index) {
      add_partition(records, id, static_cast<std::int32_t>(index), states[index]);
    }
    return end > first ? end - first : 0;
  }

  void leave_producer_ids(const MetadataImage& known, const log::FoundPartitions& in_log, const Identity& identity,
                          RecordList& records) const {
    auto next = known.next_producer_id() + std::min(lost_, kProducerIdMax / kProducerIdBlock) * kProducerIdBlock;
    if (in_log.producer_id_max < kProducerIdMax) {
      next = std::max(next, in_log.producer_id_max + 1);
    }
    if (next > known.next_producer_id()) {
      protocol::ProducerIdsRecord record;
      record.broker_id = identity.node_id;
      record.broker_epoch = -1;
      record.next_producer_id = next;
      records.add(record, 0);
    }
  }

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
  const std::string data_folder_;
  const std::string folder_;
  MetadataFiles files_;
  std::vector<Offset> damaged_snapshots_;
  ImageBuilder builder_{MetadataImage{}};
  Offset from_{0};  // of the snapshot
  Offset end_{0};
  std::int64_t lost_ = 0;  // records, at most
  MetadataRepair out_;
};

}  // namespace

Result<MetadataRepair> repair_metadata(Disk& disk, const std::string& data_folder, const Identity& identity,
                                       const log::FoundPartitions& in_log, Millis now, std::string& why) {
  Repair repair{disk, data_folder};
  if (repair.is_sound()) {
    return repair.take();
  }
  auto done = repair.read();
  if (done) {
    done = repair.bring_back(in_log, identity);
  }
  if (done) {
    done = repair.write(now);
  }
  if (!done) {
    why = "the folder " + data_folder + "/metadata cannot be repaired: " + to_string(done.error());
    return done.error();
  }
  return repair.take();
}

Result<ImagePointer> readable_metadata(Disk& disk, const std::string& data_folder) {
  Repair repair{disk, data_folder};
  WEIR_TRY_VOID(repair.read());
  return repair.image();
}

}  // namespace weir::metadata
