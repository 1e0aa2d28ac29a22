#include "coordinator/metadata/lost_names.hpp"

#include <algorithm>

#include "coordinator/group_records.hpp"
#include "protocol/record.hpp"

namespace weir::metadata {
namespace {

constexpr std::size_t kBatchBytesMax = 64U << 20U;
constexpr std::int16_t kKeyTypeMax = 64;  // Kafka's coordinators have about twenty; text begins higher

struct Suspect {
  std::int32_t partitions = 0;
  std::int64_t records = 0;  // that a group coordinator wrote
  bool is_other = false;     // it has a record that none can have written
};

enum class Says : std::uint8_t { it_is, it_is_not, nothing };

Says judge(const protocol::RecordView& record, std::int32_t partition, std::int32_t partitions) {
  if (!record.key) {
    return Says::it_is_not;
  }
  const auto parsed = group::parse_record(*record.key, record.value);
  if (!parsed) {
    return Says::it_is_not;
  }
  if (const auto* unknown = std::get_if<group::UnknownRecord>(&*parsed)) {
    return unknown->type >= 0 && unknown->type <= kKeyTypeMax ? Says::nothing : Says::it_is_not;  // of a later build
  }
  const auto* offset = std::get_if<group::OffsetRecord>(&*parsed);
  const auto& group = offset != nullptr ? offset->key.group : std::get<group::GroupRecord>(*parsed).group_id;
  return group::partition_of_group(group, partitions) == partition ? Says::it_is : Says::it_is_not;
}

void look_at(const log::PartitionKey& key, const protocol::RecordBatchView& batch, Suspect& suspect) {
  const auto read = protocol::for_each_record(batch, kBatchBytesMax, [&](const auto& record, const auto&) {
    const auto says = judge(record, key.index, suspect.partitions);
    suspect.is_other = suspect.is_other || says == Says::it_is_not;
    suspect.records += says == Says::it_is ? 1 : 0;
  });
  suspect.is_other = suspect.is_other || !read;
}

}  // namespace

Result<std::optional<Uuid>> find_offsets_topic(Disk& disk, const std::string& data_folder,
                                               const log::FoundPartitions& found, const std::set<Uuid>& unnamed) {
  std::map<Uuid, Suspect> suspects;
  for (const auto& one : found.partitions) {
    if (unnamed.contains(one.key.topic_id)) {
      auto& count = suspects[one.key.topic_id].partitions;
      count = std::max(count, one.key.index + 1);
    }
  }
  WEIR_TRY_VOID(log::show_batches(
      disk, data_folder, found, unnamed,
      [&](const log::PartitionKey& key, const protocol::RecordBatchView& batch) {
        if (auto& suspect = suspects[key.topic_id]; !suspect.is_other && batch.crc_ok() && !batch.is_control()) {
          look_at(key, batch, suspect);
        }
      },
      [&] {
        return std::ranges::all_of(suspects,
                                   [](const auto& one) { return one.second.is_other || one.second.records > 0; });
      }));
  std::optional<Uuid> it;
  for (const auto& [id, suspect] : suspects) {
    if (!suspect.is_other && suspect.records > 0) {
      if (it) {
        return std::optional<Uuid>{};
      }
      it = id;
    }
  }
  return it;
}

Result<std::map<Uuid, std::string>> find_names(Disk& disk, const std::string& data_folder,
                                               const log::FoundPartitions& found, const Uuid& offsets_topic,
                                               const std::set<Uuid>& unnamed) {
  std::map<Uuid, std::string> names;
  const auto take = [&](const protocol::RecordView& record, const auto&) {
    if (!record.key) {
      return;
    }
    const auto parsed = group::parse_record(*record.key, record.value);
    const auto* offset = parsed ? std::get_if<group::OffsetRecord>(&*parsed) : nullptr;
    if (offset != nullptr && offset->value && unnamed.contains(offset->value->topic_id)) {
      names[offset->value->topic_id] = offset->key.topic;
    }
  };
  WEIR_TRY_VOID(log::show_batches(
      disk, data_folder, found, {offsets_topic},
      [&](const log::PartitionKey&, const protocol::RecordBatchView& batch) {
        if (batch.crc_ok()) {
          static_cast<void>(protocol::for_each_record(batch, kBatchBytesMax, take).has_value());
        }
      },
      [&] { return names.size() == unnamed.size(); }));
  return names;
}

}  // namespace weir::metadata
