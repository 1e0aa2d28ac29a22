// Reads the wire forms of Kafka's protocol from one buffer. The first failure sticks: later reads give zero values, so
// that generated code checks once, at the end. A Reader is a small value, used by one thread, and borrows its bytes.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "protocol/types.hpp"

namespace weir::protocol {

class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(bytes), end_(bytes.size()) {}
  // `records` fields share the ownership of the frame, so that they may outlive the request.
  explicit Reader(const SharedBytes& frame) : bytes_(frame.view()), end_(frame.size()), owner_(frame.owner()) {}

  [[nodiscard]] bool ok() const { return !failed_; }
  [[nodiscard]] Result<void> result() const;
  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::size_t remaining() const { return end_ - position_; }
  [[nodiscard]] Bytes rest() const { return bytes_.subspan(position_, remaining()); }
  // Called by generated code only: which of the two forms strings, bytes and lists have from here on.
  void set_flexible(bool flexible) { flexible_ = flexible; }
  void fail(Errc code);

  bool read_bool() { return read_int8() != 0; }
  std::int8_t read_int8() { return read_number<std::int8_t>(); }
  std::int16_t read_int16() { return read_number<std::int16_t>(); }
  std::int32_t read_int32() { return read_number<std::int32_t>(); }
  std::int64_t read_int64() { return read_number<std::int64_t>(); }
  std::uint16_t read_uint16() { return read_number<std::uint16_t>(); }
  std::uint32_t read_uint32() { return read_number<std::uint32_t>(); }
  double read_float64() { return std::bit_cast<double>(read_number<std::int64_t>()); }
  Uuid read_uuid();
  std::uint32_t read_uvarint();  // base 128, at most 5 bytes and 32 bits
  Bytes read_raw(std::size_t size);

  Text read_string();
  std::optional<Text> read_nullable_string(bool nullable = true);
  std::optional<Text> read_nullable_short_string();  // never compact: the client id of the request header
  Blob read_bytes();
  std::optional<Blob> read_nullable_bytes(bool nullable = true);
  std::optional<BufferChain> read_records(bool nullable = true);

  bool read_presence() { return read_int8() >= 0; }            // of a nullable struct in its place
  bool read_tagged_presence() { return read_uvarint() != 0; }  // of a nullable struct in a tagged field

  // Lists of structs: `read_one` fills one element. `least` is the smallest size of an element on the wire, so that a
  // count that cannot be true is refused before any memory is taken.
  template <class T, class ReadOne>
  void read_list(std::vector<T>& list, std::size_t least, ReadOne read_one) {
    read_elements(read_count(least, false), list, read_one);
  }
  template <class T, class ReadOne>
  void read_nullable_list(std::optional<std::vector<T>>& list, bool nullable, std::size_t least, ReadOne read_one) {
    const auto count = read_count(least, nullable);
    if (count < 0) {
      list.reset();
      return;
    }
    read_elements(count, list.emplace(), read_one);
  }
  // Lists of plain values.
  template <class T>
  void read_list(std::vector<T>& list) {
    read_list(list, least_size<T>(), [this](T& value) { read_value(value); });
  }
  template <class T>
  void read_nullable_list(std::optional<std::vector<T>>& list, bool nullable = true) {
    read_nullable_list(list, nullable, least_size<T>(), [this](T& value) { read_value(value); });
  }

  // The tagged section that ends every struct of a flexible version; nothing in an old one. `read_known(tag)` reads the
  // payload of a tag it knows and returns true, else it returns false and the payload is kept.
  template <class ReadKnown>
  void read_tags(std::vector<UnknownTag>& unknown, ReadKnown read_known) {
    std::int64_t last = -1;
    for (auto count = flexible_ ? read_uvarint() : 0; count > 0 && ok(); --count) {
      const auto tag = read_uvarint();
      const auto size = read_uvarint();
      if (static_cast<std::int64_t>(tag) <= last || size > remaining()) {
        fail(size > remaining() ? Errc::truncated : Errc::corrupt);
        return;
      }
      last = tag;
      const auto outer_end = end_;
      end_ = position_ + size;
      if (!read_known(tag)) {
        unknown.push_back({tag, Blob::borrow(read_raw(size))});
      }
      if (ok() && position_ != end_) {
        fail(Errc::corrupt);
      }
      end_ = outer_end;
    }
  }
  void read_tags(std::vector<UnknownTag>& unknown) {
    read_tags(unknown, [](std::uint32_t) { return false; });
  }

 private:
  static constexpr std::size_t kReserveMax = 64;  // elements taken ahead of the bytes that prove them

  template <class Int>
  Int read_number() {
    if (remaining() < sizeof(Int)) {
      fail(Errc::truncated);
      return 0;
    }
    const auto value = load_be<Int>(bytes_, position_);
    position_ += sizeof(Int);
    return value;
  }
  template <class T>
  [[nodiscard]] static constexpr std::size_t least_size() {
    if constexpr (std::same_as<T, Text> || std::same_as<T, Blob>) {
      return 1;
    } else {
      return sizeof(T);
    }
  }
  template <class T>
  void read_value(T& value) {
    if constexpr (std::same_as<T, Text>) {
      value = read_string();
    } else if constexpr (std::same_as<T, Uuid>) {
      value = read_uuid();
    } else {
      value = read_number<T>();
    }
  }
  template <class T, class ReadOne>
  void read_elements(std::int64_t count, std::vector<T>& list, ReadOne& read_one) {
    list.clear();
    list.reserve(std::min(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)), kReserveMax));
    for (; count > 0 && ok(); --count) {
      read_one(list.emplace_back());
    }
  }
  // -1 is null. A negative or false count fails and gives 0 or -1.
  std::int64_t read_count(std::size_t least, bool nullable);
  std::int64_t read_length(bool nullable, bool short_form);

  Bytes bytes_;
  std::size_t position_ = 0;
  std::size_t end_;
  std::shared_ptr<const void> owner_;
  bool flexible_ = false;
  bool failed_ = false;
  Errc code_ = Errc::truncated;
};

}  // namespace weir::protocol
