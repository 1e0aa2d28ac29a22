// MetadataImage: all that the node knows about the cluster, as of one offset of the `__cluster_metadata` log.
// Immutable: every change makes a new one (image_builder.hpp) that shares what did not change. Any thread may read one.
// ImageHolder: the newest one. The controller publishes; every thread reads.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/ids.hpp"
#include "coordinator/metadata/sharded_map.hpp"

namespace weir::metadata {

inline constexpr std::int32_t kNoLeader = -1;
inline constexpr std::string_view kOffsetsTopic = "__consumer_offsets";
inline constexpr std::string_view kTransactionTopic = "__transaction_state";
inline constexpr std::string_view kShareStateTopic = "__share_group_state";
// Topics that Metadata reports as internal: Kafka's own three. (Share state is internal there too.)
bool is_internal_topic(std::string_view name);
// Equal for two names whose metrics would collide: Kafka refuses the second ("a.b" beside "a_b").
std::string collision_key(std::string_view name);

// Kafka's ConfigResource types, as ConfigRecord stores them.
enum class ResourceType : std::int8_t { topic = 2, broker = 4, broker_logger = 8, client_metrics = 16, group = 32 };

struct PartitionState {
  std::int32_t leader = kNoLeader;
  LeaderEpoch leader_epoch{0};
  std::int32_t partition_epoch = 0;
  std::vector<std::int32_t> replicas;
  std::vector<std::int32_t> isr;
  std::vector<Uuid> directories;  // one for each replica
  std::vector<std::int32_t> removing;
  std::vector<std::int32_t> adding;
  std::vector<std::int32_t> eligible_leaders;
  std::vector<std::int32_t> last_known_leaders;
  std::int8_t leader_recovery_state = 0;
  friend bool operator==(const PartitionState&, const PartitionState&) = default;
};

// Name -> value as somebody set it; what is not here has its default.
using ConfigOverrides = std::map<std::string, std::string, std::less<>>;

struct Topic {
  std::string name;
  Uuid id;
  std::vector<PartitionState> partitions;            // by partition index
  std::shared_ptr<const ConfigOverrides> overrides;  // never null; a new pointer when it changed
  [[nodiscard]] bool internal() const { return is_internal_topic(name); }
};

struct BrokerEndpoint {
  std::string listener;  // "PLAINTEXT"
  std::string host;
  std::uint16_t port = 0;
  std::int16_t security_protocol = 0;
  friend bool operator==(const BrokerEndpoint&, const BrokerEndpoint&) = default;
};

struct FeatureRange {
  std::int16_t min = 0;
  std::int16_t max = 0;
  friend bool operator==(const FeatureRange&, const FeatureRange&) = default;
};

struct BrokerRegistration {
  std::int32_t id = -1;
  std::int64_t epoch = -1;  // offset of the record that registered it
  Uuid incarnation;
  std::vector<BrokerEndpoint> endpoints;
  std::map<std::string, FeatureRange> features;
  std::string rack;
  bool has_rack = false;
  bool fenced = false;
  bool in_controlled_shutdown = false;
  std::vector<Uuid> directories;
  friend bool operator==(const BrokerRegistration&, const BrokerRegistration&) = default;
};

struct ConfigResource {
  ResourceType type = ResourceType::topic;
  std::string name;  // "" with broker: the default of all brokers
  friend auto operator<=>(const ConfigResource&, const ConfigResource&) = default;
};
inline std::uint64_t shard_hash(const ConfigResource& resource) {
  return shard_hash(resource.name) * 31U + static_cast<std::uint64_t>(resource.type);
}

class MetadataImage {
 public:
  // The next offset of the metadata log: this image holds everything below it. Also the epoch of finalized features.
  [[nodiscard]] Offset end_offset() const { return end_offset_; }

  // Null if there is none. The pointer lives as long as the image; keep a shared_ptr for longer.
  [[nodiscard]] const std::shared_ptr<const Topic>& find_topic(std::string_view name) const {
    return by_name_.find(name);
  }
  [[nodiscard]] const std::shared_ptr<const Topic>& find_topic(const Uuid& id) const { return by_id_.find(id); }
  [[nodiscard]] std::size_t topic_count() const { return by_name_.size(); }
  [[nodiscard]] std::int64_t partition_count() const { return partition_count_; }
  template <class Visit>  // visit(const Topic&), in an order that depends on the names only
  void for_each_topic(Visit&& visit) const {
    by_name_.for_each([&](const std::string&, const auto& topic) { visit(*topic); });
  }
  // Existing names that are equal to `name` once '.' and '_' are the same character (metrics would collide).
  [[nodiscard]] const std::set<std::string>& names_that_collide_with(std::string_view name) const;

  // Never null.
  [[nodiscard]] std::shared_ptr<const ConfigOverrides> overrides(ResourceType type, std::string_view name) const;

  [[nodiscard]] const std::map<std::int32_t, BrokerRegistration>& brokers() const { return *brokers_; }
  // Finalized level of each feature that has one above 0: metadata.version and what this node can truly do.
  [[nodiscard]] const std::map<std::string, std::int16_t, std::less<>>& features() const { return *features_; }
  // First producer id that no block has taken yet.
  [[nodiscard]] std::int64_t next_producer_id() const { return next_producer_id_; }

  template <class Visit>  // visit(const ConfigResource&, name, value)
  void for_each_override(Visit&& visit) const {
    configs_.for_each([&](const ConfigResource& resource, const auto& overrides) {
      for (const auto& [name, value] : *overrides) {
        visit(resource, name, value);
      }
    });
  }
  template <class Visit>  // visit(Bytes): the framed record
  void for_each_kept_record(Visit&& visit) const {
    kept_.for_each([&](const std::string&, const auto& frame) { visit(Bytes{*frame}); });
  }

 private:
  friend class ImageBuilder;
  friend bool operator==(const MetadataImage&, const MetadataImage&);  // by content; slow, for tests
  template <class Key, class Value>
  using Map = ShardedMap<Key, Value>;
  using Brokers = std::map<std::int32_t, BrokerRegistration>;
  using Features = std::map<std::string, std::int16_t, std::less<>>;

  Offset end_offset_{0};
  Map<std::string, Topic> by_name_;
  Map<Uuid, Topic> by_id_;
  Map<std::string, std::set<std::string>> by_collision_key_;
  Map<ConfigResource, ConfigOverrides> configs_;
  // Records of kinds this build does not act on yet (ACLs, quotas, credentials ...), so that a snapshot keeps them:
  // identity of the thing -> the newest record about it, as in the log.
  Map<std::string, std::vector<std::byte>> kept_;
  std::shared_ptr<const Brokers> brokers_ = std::make_shared<const Brokers>();
  std::shared_ptr<const Features> features_ = std::make_shared<const Features>();
  std::int64_t next_producer_id_ = 0;
  std::int64_t partition_count_ = 0;
};

bool operator==(const MetadataImage& a, const MetadataImage& b);

using ImagePointer = std::shared_ptr<const MetadataImage>;

class ImageHolder {
 public:
  ImageHolder() : image_(std::make_shared<const MetadataImage>()) {}
  [[nodiscard]] ImagePointer current() const {
    const std::lock_guard lock{mutex_};
    return image_;
  }
  void publish(ImagePointer image) {
    const std::lock_guard lock{mutex_};
    image_ = std::move(image);
    version_.fetch_add(1, std::memory_order_release);
  }
  [[nodiscard]] std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  mutable std::mutex mutex_;  // held for one pointer copy
  ImagePointer image_;
  std::atomic<std::uint64_t> version_{1};
};

// The newest image for one thread that asks often: locks only when there is a new one. One per io loop.
class ImageView {
 public:
  explicit ImageView(const ImageHolder& holder) : holder_(holder) {}
  [[nodiscard]] const ImagePointer& current() {
    if (const auto version = holder_.version(); version != seen_) {
      image_ = holder_.current();
      seen_ = version;
    }
    return image_;
  }

 private:
  const ImageHolder& holder_;
  ImagePointer image_;
  std::uint64_t seen_ = 0;
};

}  // namespace weir::metadata
