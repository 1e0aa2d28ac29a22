#include "coordinator/metadata/end_mark.hpp"

#include <array>

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
  if (!content || content->size() != kSize) {
    return;
  }
  const Offset end{load_le<std::int64_t>(*content, kOffsetAt)};
  if (std::ranges::equal(*content, encode(end))) {
    at_least_ = end;
  }
}

void EndMark::raise(Offset end) {
  at_least_ = std::max(at_least_, end);
  if (!file_) {
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

}  // namespace weir::metadata
