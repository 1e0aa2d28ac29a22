// Walks records without looking at keys, values and headers: lengths are checked and bytes skipped, nothing is kept.
// For the batch validator. One thread. A source gives record bytes, plain or out of a decompressor.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "base/bytes.hpp"
#include "base/compression.hpp"
#include "base/varint.hpp"

namespace weir::protocol {

struct RecordShape {
  std::int64_t timestamp_delta = 0;
  std::int32_t offset_delta = 0;
  bool has_key = false;
};

class PlainRecords {
 public:
  explicit PlainRecords(Bytes payload) : rest_(payload), size_(payload.size()) {}
  bool varint32(std::int32_t& value) { return advance(decode_varint32(rest_, value)); }
  bool varint64(std::int64_t& value) { return advance(decode_varint64(rest_, value)); }
  bool skip(std::size_t count) {
    if (count > rest_.size()) {
      return false;
    }
    rest_ = rest_.subspan(count);
    return true;
  }
  [[nodiscard]] std::uint64_t position() const { return size_ - rest_.size(); }
  bool at_end() { return rest_.empty(); }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  bool advance(std::size_t used) {
    rest_ = rest_.subspan(used);
    return used > 0;
  }
  Bytes rest_;
  std::size_t size_;
  std::optional<Error> failure_;  // stays empty: memory does not fail
};

// Holds one window of output, whatever the batch expands to.
class PackedRecords {
 public:
  PackedRecords(Codec codec, Bytes payload, std::size_t output_max) : from_(codec, payload, output_max) {}
  bool varint32(std::int32_t& value) {
    need(kVarint32Max);
    return advance(decode_varint32(have(), value));
  }
  bool varint64(std::int64_t& value) {
    need(kVarint64Max);
    return advance(decode_varint64(have(), value));
  }
  bool skip(std::size_t count);
  [[nodiscard]] std::uint64_t position() const { return passed_ + start_; }
  bool at_end() {
    need(1);
    return start_ == end_;
  }
  // Why the decompressor gave no more, if it was not simply the end.
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  static constexpr std::size_t kWindowSize = 64 * 1024;
  [[nodiscard]] Bytes have() const { return {window_.get() + start_, end_ - start_}; }
  bool advance(std::size_t used) {
    start_ += used;
    return used > 0;
  }
  // Tries to have `count` bytes (at most kVarint64Max) in one piece; has fewer at the end of the output.
  void need(std::size_t count) {
    if (end_ - start_ < count) {
      refill(count);
    }
  }
  void refill(std::size_t count);

  Decompressor from_;
  std::unique_ptr<std::byte[]> window_ = std::make_unique_for_overwrite<std::byte[]>(kWindowSize);
  std::size_t start_ = 0;
  std::size_t end_ = 0;
  std::uint64_t passed_ = 0;  // bytes that left the window
  bool ended_ = false;
  std::optional<Error> failure_;
};

// The next record, whose body may have `length_max` bytes. False: the bytes end too early or contradict each other, or
// the source failed (failure()).
template <class Source>
bool walk_record(Source& source, std::int32_t length_max, RecordShape& shape) {
  std::int32_t length = 0;
  if (!source.varint32(length) || length < 0 || length > length_max) {
    return false;
  }
  const auto begin = source.position();
  std::int32_t size = 0;
  // One byte of attributes has no meaning and is not checked. A negative length is null.
  if (!source.skip(1) || !source.varint64(shape.timestamp_delta) || !source.varint32(shape.offset_delta) ||
      !source.varint32(size)) {
    return false;
  }
  shape.has_key = size >= 0;
  const auto skip_nullable = [&source](std::int32_t count) {
    return count <= 0 || source.skip(static_cast<std::size_t>(count));
  };
  std::int32_t headers = 0;
  if (!skip_nullable(size) || !source.varint32(size) || !skip_nullable(size) || !source.varint32(headers) ||
      headers < 0) {
    return false;
  }
  for (; headers > 0; --headers) {  // each takes at least two bytes, so a lie ends with the bytes
    if (!source.varint32(size) || size < 0 || !skip_nullable(size) || !source.varint32(size) || !skip_nullable(size)) {
      return false;
    }
  }
  return source.position() - begin == static_cast<std::uint64_t>(length);
}

}  // namespace weir::protocol
