// ImageBuilder: applies metadata records, in order, to a copy of an image. The only code that knows what a record
// means; the controller's own changes and the replay at start both go through it, so they cannot differ. One thread.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "base/unique_function.hpp"
#include "coordinator/metadata/image.hpp"
#include "coordinator/metadata/listener.hpp"
#include "coordinator/metadata/record_frame.hpp"

namespace weir::protocol {
struct TopicRecord;
struct PartitionRecord;
struct PartitionChangeRecord;
struct RemoveTopicRecord;
struct ClearElrRecord;
struct ConfigRecord;
struct FeatureLevelRecord;
struct ProducerIdsRecord;
struct RegisterBrokerRecord;
struct UnregisterBrokerRecord;
struct FenceBrokerRecord;
struct UnfenceBrokerRecord;
struct BrokerRegistrationChangeRecord;
}  // namespace weir::protocol

namespace weir::metadata {

class ImageBuilder {
 public:
  explicit ImageBuilder(const MetadataImage& base);

  // The record at `offset`, framed. corrupt: malformed, or about something that is not there; unsupported: a kind or
  // version that only a newer build knows. Nothing of a failed record is applied, but then the image must not be used.
  Result<void> apply(Offset offset, Bytes frame);
  Result<void> apply_all(Offset first, const RecordList& records);
  // A snapshot's records have no offsets of their own: it holds everything below `end`.
  void set_end_offset(Offset end) { image_.end_offset_ = end; }
  // Between a begin and an end record of a metadata transaction: there is no image to show.
  [[nodiscard]] bool in_transaction() const { return in_transaction_; }

  // The image with all that was applied. The builder may go on from there. `changes`, if given, is filled with what
  // differs from the base.
  [[nodiscard]] ImagePointer build(ImageChanges* changes = nullptr);

 private:
  Result<void> apply_frame(Offset offset, const RecordFrame& frame, Bytes whole);
  // Decodes the body as M and does what it says; one on() for each kind that this build acts on.
  template <class M>
  Result<void> apply_as(const RecordFrame& frame);
  Result<void> on(const protocol::TopicRecord& record);
  Result<void> on(const protocol::PartitionRecord& record);
  Result<void> on(const protocol::PartitionChangeRecord& record);
  Result<void> on(const protocol::RemoveTopicRecord& record);
  Result<void> on(const protocol::ClearElrRecord& record);
  Result<void> on(const protocol::ConfigRecord& record);
  Result<void> on(const protocol::FeatureLevelRecord& record);
  Result<void> on(const protocol::ProducerIdsRecord& record);
  Result<void> on(const protocol::RegisterBrokerRecord& record);
  Result<void> on(const protocol::UnregisterBrokerRecord& record);
  Result<void> on(const protocol::FenceBrokerRecord& record);
  Result<void> on(const protocol::UnfenceBrokerRecord& record);
  Result<void> on(const protocol::BrokerRegistrationChangeRecord& record);
  Result<void> end_transaction(bool keep);

  // A topic, or the overrides of a resource, in a form that may still be changed; copied once, however many records
  // touch it. Null if there is no such topic.
  Topic* edit(const Uuid& id);
  void set_override(const ConfigResource& resource, const std::string& name,
                    const std::optional<protocol::Text>& value);
  void remove_overrides(const ConfigResource& resource);
  void show_overrides(const std::string& topic_name);
  void index_collisions(const std::string& name, bool add);
  MetadataImage::Brokers& edit_brokers();
  Result<void> edit_broker(std::int32_t id, std::int64_t epoch, UniqueFunction<void(BrokerRegistration&)> change);

  MetadataImage image_;  // its maps are stale until build()
  ShardedMap<std::string, Topic>::Editor by_name_;
  ShardedMap<Uuid, Topic>::Editor by_id_;
  ShardedMap<std::string, std::set<std::string>>::Editor by_collision_key_;
  ShardedMap<ConfigResource, ConfigOverrides>::Editor configs_;
  ShardedMap<std::string, std::vector<std::byte>>::Editor kept_;
  // Not shared with any image yet. The maps above point to them already.
  std::unordered_map<Uuid, std::shared_ptr<Topic>> edited_;
  std::map<ConfigResource, std::shared_ptr<ConfigOverrides>> edited_configs_;
  std::shared_ptr<MetadataImage::Brokers> edited_brokers_;

  struct Touched {
    std::shared_ptr<const Topic> before;  // null: there was none
    bool partitions = false;
    bool configs = false;
  };
  std::map<Uuid, Touched> touched_;
  bool broker_configs_changed_ = false;

  struct Pending {
    Offset offset;
    std::vector<std::byte> frame;
  };
  bool in_transaction_ = false;
  std::vector<Pending> pending_;  // records of the open transaction
};

// Every record that makes `image` from nothing, in an order that apply() accepts: what a snapshot holds.
RecordList records_of(const MetadataImage& image);
// The parts of it that the controller writes too.
void add_partition(RecordList& records, const Uuid& topic_id, std::int32_t index, const PartitionState& state);
void add_broker(RecordList& records, const BrokerRegistration& broker);

}  // namespace weir::metadata
