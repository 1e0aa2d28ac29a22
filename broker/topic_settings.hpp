// TopicSettings: a topic's effective configuration in the forms that its users need, worked out once for each version
// of its overrides and of the broker's configs. Any thread; a lookup is one lock for a pointer copy.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/config.hpp"
#include "base/topic_config.hpp"
#include "coordinator/metadata/image.hpp"
#include "log/partition.hpp"
#include "protocol/batch_validator.hpp"

namespace weir::broker {

struct EffectiveTopic {
  TopicConfig config;
  log::PartitionRules rules;
  protocol::BatchRules batches;
};

class TopicSettings {
 public:
  explicit TopicSettings(std::shared_ptr<const Config> broker) : broker_(std::move(broker)) {}
  [[nodiscard]] std::shared_ptr<const EffectiveTopic> of(const metadata::Topic& topic);
  void forget(const Uuid& topic_id);
  // True if some topic may have another setting now.
  bool set_broker(std::shared_ptr<const Config> broker);

 private:
  struct Known {
    std::shared_ptr<const metadata::ConfigOverrides> overrides;  // what `effective` was made from
    std::shared_ptr<const EffectiveTopic> effective;
  };
  std::mutex mutex_;
  std::shared_ptr<const Config> broker_;
  std::unordered_map<Uuid, Known> known_;
};

}  // namespace weir::broker
