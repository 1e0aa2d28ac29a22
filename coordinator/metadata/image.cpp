#include "coordinator/metadata/image.hpp"

namespace weir::metadata {

bool is_internal_topic(std::string_view name) {
  return name == kOffsetsTopic || name == kTransactionTopic || name == kShareStateTopic;
}

std::string collision_key(std::string_view name) {
  std::string key{name};
  std::replace(key.begin(), key.end(), '.', '_');
  return key;
}

const std::set<std::string>& MetadataImage::names_that_collide_with(std::string_view name) const {
  static const std::set<std::string> none;
  const auto& found = by_collision_key_.find(collision_key(name));
  return found ? *found : none;
}

std::shared_ptr<const ConfigOverrides> MetadataImage::overrides(ResourceType type, std::string_view name) const {
  static const auto none = std::make_shared<const ConfigOverrides>();
  const auto& found = configs_.find(ConfigResource{type, std::string{name}});
  return found ? found : none;
}

namespace {
template <class Map, class Same>
bool same_content(const Map& a, const Map& b, Same&& same) {
  bool equal = a.size() == b.size();
  a.for_each([&](const auto& key, const auto& value) {
    const auto& other = b.find(key);
    equal = equal && other != nullptr && same(*value, *other);
  });
  return equal;
}
constexpr auto kSameValue = [](const auto& a, const auto& b) { return a == b; };
constexpr auto kSameTopic = [](const Topic& a, const Topic& b) {
  return a.name == b.name && a.id == b.id && a.partitions == b.partitions && *a.overrides == *b.overrides;
};
}  // namespace

bool operator==(const MetadataImage& a, const MetadataImage& b) {
  return a.end_offset_ == b.end_offset_ && a.next_producer_id_ == b.next_producer_id_ &&
         a.partition_count_ == b.partition_count_ && *a.brokers_ == *b.brokers_ && *a.features_ == *b.features_ &&
         same_content(a.by_name_, b.by_name_, kSameTopic) && same_content(a.by_id_, b.by_id_, kSameTopic) &&
         same_content(a.by_collision_key_, b.by_collision_key_, kSameValue) &&
         same_content(a.configs_, b.configs_, kSameValue) && same_content(a.kept_, b.kept_, kSameValue);
}

}  // namespace weir::metadata
