// What the controller is told at start, and the small types of its answers. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/effective_config.hpp"
#include "base/unique_function.hpp"
#include "coordinator/metadata/image.hpp"

namespace weir::protocol {
enum class ErrorCode : std::int16_t;
}

namespace weir::metadata {

// The broker's own facts and defaults that the rules of topics need (from its config).
struct ControllerSettings {
  std::int32_t num_partitions = 1;              // num.partitions
  std::int16_t default_replication_factor = 1;  // default.replication.factor
  bool delete_topic_enable = true;              // delete.topic.enable
  std::int32_t offsets_topic_partitions = 50;   // offsets.topic.num.partitions
  std::int32_t offsets_topic_segment_bytes = 104'857'600;
  std::int64_t partitions_max = 200'000;        // on this node, all topics together
  std::int64_t snapshot_after_bytes = 4 << 20;  // log bytes since the last snapshot
  std::vector<BrokerEndpoint> endpoints = {};   // as advertised; told in the broker's registration
  std::string rack = {};                        // broker.rack, "" for none
  EffectiveConfig* config = nullptr;            // outlives the controller, which changes it; null: all defaults
  [[nodiscard]] std::shared_ptr<const Config> broker() const { return owner().current(); }
  [[nodiscard]] const Config& fixed() const { return owner().fixed(); }

 private:
  [[nodiscard]] const EffectiveConfig& owner() const {
    static const EffectiveConfig kDefaults{Config{}};
    return config != nullptr ? *config : kDefaults;
  }
};

template <class Response>
using Answer = UniqueFunction<void(Response)>;

struct AutoCreateResult {
  std::string name;
  protocol::ErrorCode error;  // none: it exists now
};

struct ProducerIdBlock {
  std::int64_t first = 0;
  std::int32_t count = 0;
};

}  // namespace weir::metadata
