// What may be the name of a topic. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir::metadata {

inline constexpr std::size_t kTopicNameMax = 249;  // Kafka's: a folder name of 255 less "-" and a partition number

// One sentence why `name` may not be a topic's name, or nullopt if it may.
std::optional<std::string> refuse_topic_name(std::string_view name);

}  // namespace weir::metadata
