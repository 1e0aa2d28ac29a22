#include "tools/cli/group_lag.hpp"

#include "coordinator/explain_group.hpp"

namespace weir::cli {
namespace {
using client::LagState;

std::string lag_text(const client::PartitionLag& part) {
  switch (part.state) {
    case LagState::number: return std::to_string(part.behind);
    case LagState::no_commit: return "no commit";
    case LagState::unknown: return "unknown";
  }
  return "unknown";
}

json::value known(std::int64_t number) {
  return number < 0 ? json::value() : json::value(number);
}

}  // namespace

Table lag_table(const std::vector<client::PartitionLag>& partitions, bool with_commit_age) {
  std::vector<std::string> heading{"topic", "partition", "committed", "end", "lag", "member"};
  if (with_commit_age) {
    heading.insert(heading.end() - 1, "last commit");
  }
  Table table{std::move(heading)};
  for (const auto& part : partitions) {
    std::vector<std::string> row{part.at.first,
                                 std::to_string(part.at.second),
                                 part.committed < 0 ? "no commit" : std::to_string(part.committed),
                                 part.end < 0 ? "topic is gone" : std::to_string(part.end),
                                 lag_text(part),
                                 part.member.empty() ? "-" : part.member};
    if (with_commit_age) {
      row.insert(row.end() - 1, part.commit_age_ms < 0 ? "-" : group::duration_text(part.commit_age_ms) + " ago");
    }
    table.add(std::move(row));
  }
  return table;
}

json::array lag_json(const std::vector<client::PartitionLag>& partitions) {
  json::array told;
  for (const auto& part : partitions) {
    const auto* state = part.state == LagState::number      ? "number"
                        : part.state == LagState::no_commit ? "no_commit"
                                                            : "unknown";
    told.push_back({{"topic", part.at.first},
                    {"partition", part.at.second},
                    {"committed", known(part.committed)},
                    {"end", known(part.end)},
                    {"lag", known(part.behind)},
                    {"lag_state", state},
                    {"commit_age_ms", known(part.commit_age_ms)},
                    {"member", part.member.empty() ? json::value() : json::value(part.member)}});
  }
  return told;
}

}  // namespace weir::cli
