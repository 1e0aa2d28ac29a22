#include "log/unknown_files.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "log/index_layout.hpp"

namespace weir::log {
namespace {

constexpr std::size_t kNamesMax = 10;              // in a line of the log
constexpr std::int64_t kZerosReadMax = 1LL << 30;  // of a file; what a start prepares is allocated and hardly written
constexpr std::size_t kRangesMax = 1024;
constexpr std::int64_t kPiece = 1LL << 20;

bool is_zero(Bytes bytes) {
  return bytes.empty() ||
         (bytes[0] == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

struct Range {
  std::int64_t from;
  std::int64_t end;
};

// nullopt if it cannot be told, or is more than a start may read.
std::optional<std::vector<Range>> written_of(const File& file) {
  const auto size = file.size();
  std::vector<Range> written;
  std::int64_t total = 0;
  for (std::int64_t at = 0; size && at < *size;) {
    const auto from = file.first_written(at);
    const auto end = from ? file.first_unwritten(*from) : from;
    if (!end || written.size() == kRangesMax || total > kZerosReadMax) {
      return std::nullopt;
    }
    if (*from < *size) {
      written.push_back({*from, std::max(*end, *from + 1)});
      total += *end - *from;
    }
    at = std::max(*end, *from + 1);
  }
  return size && total <= kZerosReadMax ? std::optional{std::move(written)} : std::nullopt;
}

// Nothing but zeros, as far as anything was written.
bool holds_nothing(const File& file, std::span<const Range> written) {
  std::vector<std::byte> piece(static_cast<std::size_t>(kPiece));
  for (auto [at, end] : written) {
    while (at < end) {
      const auto got =
          file.read_at(at, MutableBytes{piece}.first(static_cast<std::size_t>(std::min(kPiece, end - at))));
      if (!got || *got == 0 || !is_zero(Bytes{piece}.first(*got))) {
        return false;
      }
      at += static_cast<std::int64_t>(*got);
    }
  }
  return true;
}

// At most what a header takes; nullopt if it cannot be read.
std::optional<std::vector<std::byte>> front_of(const File& file) {
  std::vector<std::byte> front(kSegmentHeaderSize);
  const auto got = file.read_at(0, front);
  if (!got) {
    return std::nullopt;
  }
  front.resize(*got);
  return front;
}

Result<void> remove_if_there(Disk& disk, const std::string& path) {
  const auto removed = disk.remove(path);
  return removed || removed.error().code == Errc::not_found ? Result<void>{} : removed;
}

}  // namespace

bool is_file_of_ours(Disk& disk, const std::string& folder, const std::string& name) {
  const bool is_segment = segment_of_file_name(name).has_value();
  auto of_index = segment_of_file_name(name, ".index");
  of_index = of_index ? of_index : segment_of_file_name(name, ".index.tmp");
  if (!is_segment && !of_index) {
    return false;
  }
  const auto file = disk.open(folder + "/" + name, {.read_only = true});
  if (!file) {
    return false;
  }
  const auto written = written_of(**file);  // before anything is read: Linux counts what is in the cache as written
  const auto front = front_of(**file);
  if (!front) {
    return false;
  }
  if (is_zero(*front)) {
    return written && holds_nothing(**file, *written);
  }
  if (is_segment) {  // of any number: a file of the pool has the header of its former life until it is written
    return decode_segment_header(*front).has_value();
  }
  const auto header = decode_index_header(Bytes{*front}.first(std::min(front->size(), kIndexHeaderSize)));
  return header && header->segment == *of_index;
}

Result<std::vector<std::string>> remove_leftovers(Disk& disk, const std::string& folder,
                                                  const ManifestState& manifest) {
  std::set<std::string> known;
  for (const auto& [id, facts] : manifest.segments) {
    known.insert(segment_file_name(id));
    known.insert(index_file_name(id));
  }
  WEIR_TRY(const auto names, disk.list(folder));
  std::vector<std::string> left;
  for (const auto& name : names) {
    if (known.contains(name)) {
      continue;
    }
    if (is_file_of_ours(disk, folder, name)) {
      WEIR_TRY_VOID(disk.remove(folder + "/" + name));
    } else {
      left.push_back(name);
    }
  }
  return left;
}

Result<void> remove_dropped(Disk& disk, const std::string& folder, std::span<const SegmentId> segments) {
  for (const auto id : segments) {
    WEIR_TRY_VOID(remove_if_there(disk, folder + "/" + index_file_name(id)));
    WEIR_TRY_VOID(remove_if_there(disk, folder + "/" + segment_file_name(id)));
  }
  return {};
}

std::string list_files(const std::string& folder, std::span<const std::string> names) {
  std::string text;
  for (const auto& name : names.first(std::min(names.size(), kNamesMax))) {
    text += (text.empty() ? folder + ": " : ", ") + name;
  }
  return names.size() > kNamesMax ? text + " and " + std::to_string(names.size() - kNamesMax) + " more" : text;
}

}  // namespace weir::log
