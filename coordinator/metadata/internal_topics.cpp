#include "coordinator/metadata/internal_topics.hpp"

#include <algorithm>
#include <array>

namespace weir::metadata {
namespace {

// "weir", "in", version 8 (an id of our own making, so never one that Random::uuid() gives), a number.
constexpr Uuid numbered(unsigned char number) {
  constexpr std::array<unsigned char, 16> kPattern{'w', 'e', 'i', 'r', 'i', 'n', 0x80, 0, 0x80, 0, 0, 0, 0, 0, 0, 0};
  Uuid id;
  std::ranges::transform(kPattern, id.bytes.begin(), [](unsigned char one) { return std::byte{one}; });
  id.bytes.back() = std::byte{number};
  return id;
}

struct Row {
  std::string_view name;
  Uuid id;
};
constexpr std::array kRows{Row{kOffsetsTopic, numbered(1)}, Row{kTransactionTopic, numbered(2)},
                           Row{kShareStateTopic, numbered(3)}};

}  // namespace

Uuid internal_topic_id(std::string_view name) {
  const auto row = std::ranges::find(kRows, name, &Row::name);
  return row == kRows.end() ? Uuid{} : row->id;
}

std::string_view internal_topic_of(const Uuid& id) {
  const auto row = std::ranges::find(kRows, id, &Row::id);
  return row == kRows.end() ? std::string_view{} : row->name;
}

ConfigOverrides internal_topic_configs(std::string_view name, std::int32_t segment_bytes) {
  ConfigOverrides configs{{"cleanup.policy", name == kShareStateTopic ? "delete" : "compact"},
                          {"compression.type", "producer"},
                          {"segment.bytes", std::to_string(segment_bytes)}};
  if (name == kShareStateTopic) {
    configs["retention.ms"] = "-1";
  }
  return configs;
}

}  // namespace weir::metadata
