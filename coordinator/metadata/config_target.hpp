// ConfigTarget: one resource that a request changes the configs of, with the rules of its kind (topic, broker, all
// brokers, group). Pure. Facts: a real Kafka 4.4 node, in our own words.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/config_row.hpp"
#include "coordinator/metadata/plan.hpp"
#include "coordinator/metadata/plan_parts.hpp"

namespace weir::metadata {

struct ConfigTarget {
  ConfigResource resource;
  std::shared_ptr<const ConfigOverrides> before;
};

// The id in the name of a broker resource; nullopt if it is not this node's.
std::optional<std::string> refuse_node(const Identity& identity, std::string_view name);

// The checks of a change, in the order in which they are made; first the operations, on a topic that is not there too:
// its overrides are empty. Kafka's order is seen by who makes two mistakes at once.
//
// Why this node has no such resource; nullopt and the target if it may have it.
std::optional<Refusal> find_target(const PlanInput& in, std::int8_t type, std::string_view name, ConfigTarget& target);

// Null: no table has the key.
const ConfigRow* row_of(const ConfigTarget& target, std::string_view name);
// What a list has where the target sets nothing.
std::string inherited_list(const PlanInput& in, const ConfigTarget& target, const ConfigRow& row);
// Why nothing can have the target's name.
std::optional<Refusal> refuse_name(const ConfigTarget& target);
// Why the target may not have these overrides, all of them together.
std::optional<Refusal> refuse_result(const PlanInput& in, const ConfigTarget& target, const ConfigOverrides& after);
// The target is a topic that is not there.
std::optional<Refusal> refuse_absent(const PlanInput& in, const ConfigTarget& target);

}  // namespace weir::metadata
