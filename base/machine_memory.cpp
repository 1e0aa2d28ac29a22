#include "base/machine_memory.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>

namespace weir {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kAtRest = 64 * kMiB;  // what a broker is with all budgets empty, and what its threads need
constexpr std::string_view kGroups = "/sys/fs/cgroup";

std::optional<std::int64_t> number_at_start(std::string_view text) {
  std::int64_t value = 0;
  text = trimmed(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string content_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::string in_mib(std::int64_t bytes) {
  return std::to_string(bytes / kMiB) + " MiB";
}

}  // namespace

std::optional<std::int64_t> memory_of_machine(std::string_view meminfo) {
  constexpr std::string_view kTotal = "MemTotal:";
  for (const auto line : lines_of(meminfo)) {
    if (line.starts_with(kTotal)) {
      const auto kilobytes = number_at_start(line.substr(kTotal.size()));
      return kilobytes ? std::optional(*kilobytes * 1024) : std::nullopt;
    }
  }
  return std::nullopt;
}

// "0::/a/b" in the unified hierarchy, "9:memory:/a/b" in the old one.
std::vector<std::string> group_limit_files(std::string_view cgroup) {
  std::vector<std::string> files;
  for (const auto line : lines_of(cgroup)) {
    const auto first = line.find(':');
    const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) {
      continue;
    }
    const auto controllers = split_list(line.substr(first + 1, second - first - 1));
    const bool unified = line.starts_with("0::");
    if (!unified && std::ranges::find(controllers, "memory") == controllers.end()) {
      continue;
    }
    const auto root = std::string(kGroups) + (unified ? "" : "/memory");
    const std::string_view name = unified ? "/memory.max" : "/memory.limit_in_bytes";
    for (std::string path{line.substr(second + 1)}; path.size() > 1; path.resize(path.rfind('/'))) {
      files.push_back(root + path + std::string(name));
    }
    files.push_back(root + std::string(name));
  }
  return files;
}

std::optional<std::int64_t> group_limit(std::string_view text) {
  constexpr std::int64_t kNone = 1LL << 60;  // the old hierarchy writes a number that large
  const auto limit = number_at_start(text);
  return limit && *limit > 0 && *limit < kNone ? limit : std::nullopt;
}

MemoryBound memory_bound() {
  MemoryBound bound{.bytes = memory_of_machine(content_of("/proc/meminfo")).value_or(0)};
  for (const auto& file : group_limit_files(content_of("/proc/self/cgroup"))) {
    const auto limit = group_limit(content_of(file));
    if (limit && (bound.bytes == 0 || *limit < bound.bytes)) {
      bound = {.bytes = *limit, .of_group = true};
    }
  }
  return bound;
}

std::optional<std::string> memory_warning(const Config& config, const MemoryBound& bound) {
  struct Budget {
    std::string_view key;
    std::int64_t bytes;
  };
  std::array budgets{Budget{"mq.image.bytes", config.mq_image_bytes}, Budget{"mq.memory.bytes", config.mq_memory_bytes},
                     Budget{"mq.read.cache.bytes", config.mq_read_cache_bytes},
                     Budget{"mq.request.memory.bytes", config.mq_request_memory_bytes}};
  std::ranges::stable_sort(budgets, std::ranges::greater{}, &Budget::bytes);
  auto sum = kAtRest;
  std::string told;
  for (const auto& [key, bytes] : budgets) {
    sum += bytes;
    told += std::string(key) + " " + in_mib(bytes) + ", ";
  }
  if (bound.bytes == 0 || sum <= bound.bytes) {
    return std::nullopt;
  }
  return "memory: the budgets of this configuration allow " + in_mib(sum) + " (" + told + "the rest " +
         in_mib(kAtRest) + "), but " + (bound.of_group ? "its control group has " : "this machine has ") +
         in_mib(bound.bytes) + ": lower the largest of them, or the kernel may end the broker when they fill";
}

}  // namespace weir
