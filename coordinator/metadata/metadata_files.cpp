#include "coordinator/metadata/metadata_files.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <optional>

#include "coordinator/metadata/metadata_log.hpp"

namespace weir::metadata {
namespace {

constexpr std::string_view kLogSuffix = ".log";
constexpr std::string_view kSnapshotSuffix = ".checkpoint";
constexpr std::size_t kOffsetDigits = 20;

// The offset at the front of a name of the form `<20 digits><anything><suffix>`.
std::optional<Offset> offset_in(std::string_view name, std::string_view suffix) {
  if (name.size() < kOffsetDigits + suffix.size() || !name.ends_with(suffix)) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + kOffsetDigits, value);
  if (error != std::errc{} || end != name.data() + kOffsetDigits || value < 0) {
    return std::nullopt;
  }
  return Offset{value};
}

}  // namespace

std::string log_name(Offset base) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%020lld.log", static_cast<long long>(base.value));
  return text.data();
}

std::string snapshot_name(Offset end) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%020lld-%010d.checkpoint", static_cast<long long>(end.value),
                kMetadataEpoch.value);
  return text.data();
}

bool is_metadata_file(std::string_view name) {
  const auto base = offset_in(name, kLogSuffix);
  const auto end = offset_in(name, kSnapshotSuffix);
  return (base && name == log_name(*base)) || (end && name == snapshot_name(*end));
}

Result<MetadataFiles> list_metadata(Disk& disk, const std::string& folder) {
  WEIR_TRY(const auto names, disk.list(folder));
  MetadataFiles files;
  for (const auto& name : names) {
    if (const auto base = offset_in(name, kLogSuffix); base && name == log_name(*base)) {
      files.logs.push_back(*base);
    } else if (const auto end = offset_in(name, kSnapshotSuffix); end && name == snapshot_name(*end)) {
      files.snapshots.push_back(*end);
    }
  }
  std::sort(files.logs.begin(), files.logs.end());
  std::sort(files.snapshots.begin(), files.snapshots.end());
  return files;
}

}  // namespace weir::metadata
