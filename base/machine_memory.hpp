// How much memory this process may take, and whether its configuration allows itself more than that. Only
// memory_bound() reads the machine; the rest is pure. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/config.hpp"

namespace weir {

struct MemoryBound {
  std::int64_t bytes = 0;  // 0: nobody knows
  bool of_group = false;   // of a control group, as containers have; else of the machine
};
MemoryBound memory_bound();

// From the text of a meminfo file of Linux; nullopt if it does not say.
std::optional<std::int64_t> memory_of_machine(std::string_view meminfo);
// The files that may hold a limit for a process with this text of its cgroup file: its group's and those of all above.
std::vector<std::string> group_limit_files(std::string_view cgroup);
// Of the text of such a file; nullopt: no limit.
std::optional<std::int64_t> group_limit(std::string_view text);

// One sentence with the keys to lower, if the budgets together are over the bound.
std::optional<std::string> memory_warning(const Config& config, const MemoryBound& bound);

}  // namespace weir
