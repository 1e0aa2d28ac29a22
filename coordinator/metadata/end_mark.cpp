#include "coordinator/metadata/end_mark.hpp"

#include <array>
#include <cerrno>

#include "base/bytes.hpp"
#include "base/crc32c.hpp"

namespace weir::metadata {
namespace {

// magic 8, offset 8 (little-endian), CRC32C of both 4: inside one sector, so a write of it is never torn.
constexpr std::string_view kMagic{"WEIREND1"};
constexpr std::size_t kOffsetAt = 8;
constexpr std::size_t kCrcAt = 16;
constexpr std::size_t kSize = 20;
using Content = std::array<std::byte, kSize>;

Content encode(Offset end) {
  Content content{};
  std::ranges::copy(as_bytes(kMagic), content.begin());
  store_le<std::int64_t>(content, kOffsetAt, end.value);
  store_le<std::uint32_t>(content, kCrcAt, crc32c(Bytes{content}.first(kCrcAt)));
  return content;
}

}  // namespace

EndMark::EndMark(Disk& disk, std::string path) : disk_(disk), path_(std::move(path)) {
  const auto content = read_file(disk_, path_, kSize);
  if (!content) {
    const bool is_none = content.error().code == Errc::not_found || is_shortage(content.error());
    blocked_ = is_none ? std::nullopt : std::optional{content.error()};
    return;
  }
  if (std::ranges::all_of(*content, [](std::byte one) { return one == std::byte{0}; })) {
    return;
  }
  if (content->size() == kSize) {
    const Offset end{load_le<std::int64_t>(*content, kOffsetAt)};
    if (std::ranges::equal(*content, encode(end))) {
      at_least_ = end;
      return;
    }
  }
  blocked_ = Error{Errc::corrupt};
}

std::string EndMark::settle() {
  if (!blocked_) {
    return "";
  }
  const bool is_folder = blocked_->code == Errc::disk_failed && blocked_->detail == EISDIR;
  const auto gone = is_folder ? disk_.remove(path_) : disk_.rename(path_, path_ + ".damaged");
  if (!gone) {
    return path_ + " is not a valid end mark and cannot be recreated (" + to_string(gone.error()) +
           "): move it away; until then records missing at the end of the metadata log may not be detected";
  }
  blocked_.reset();
  return path_ + " was not a valid end mark: recreated" +
         (is_folder ? "" : ", the old content is in " + path_ + ".damaged");
}

void EndMark::raise(Offset end) {
  at_least_ = std::max(at_least_, end);
  if (!file_ && !blocked_) {
    if (auto opened = disk_.open(path_, {.create = true})) {
      file_ = std::move(*opened);
    }
  }
  if (file_) {
    const auto content = encode(at_least_);
    const Bytes part{content};
    static_cast<void>(file_->write_at(0, {&part, 1}).has_value());
  }
}

std::vector<std::string> EndMarks::settle() {
  std::vector<std::string> findings;
  for (auto* mark : {&inside_, &beside_}) {
    if (auto finding = mark->settle(); !finding.empty()) {
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

}  // namespace weir::metadata
