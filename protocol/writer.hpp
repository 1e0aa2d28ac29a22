// Writes the wire forms of Kafka's protocol into a BufferChain. Small values fill slabs; `records` go into the chain by
// reference, never copied (unless they are tiny). The first refusal sticks, as in Reader. Used by one thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "protocol/types.hpp"

namespace weir::protocol {

class Writer {
 public:
  Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  Writer(Writer&&) noexcept = default;  // what was moved from may only end, or be assigned
  Writer& operator=(Writer&&) noexcept = default;
  ~Writer() = default;
  // Begins with the int32 size of a frame, which finish() fills in.
  static Writer framed();

  [[nodiscard]] bool ok() const { return !failed_; }
  [[nodiscard]] Result<void> result() const;
  // The schema's name of the first field that could not be encoded; "" while there is none. For logs and tests.
  [[nodiscard]] std::string_view refused_field() const { return refused_field_; }
  [[nodiscard]] std::size_t size() const { return chain_.size() + slab_size_; }
  [[nodiscard]] bool flexible() const { return flexible_; }
  void set_flexible(bool flexible) { flexible_ = flexible; }  // called by generated code only
  // A value that the version cannot carry: the whole encoding fails with invalid_argument.
  void refuse(std::string_view field, Errc code = Errc::invalid_argument);
  void refuse_if(bool cannot_carry, std::string_view field) {
    if (cannot_carry) {
      refuse(field);
    }
  }
  // All that was written. The writer is empty afterwards.
  BufferChain finish();
  [[nodiscard]] std::vector<std::int16_t> take_error_codes() { return std::move(error_codes_); }

  void write_bool(bool value) { write_number<std::int8_t>(value ? 1 : 0); }
  void write_int8(std::int8_t value) { write_number(value); }
  void write_int16(std::int16_t value) { write_number(value); }
  // The fields that schemas call ErrorCode: what is not 0 is remembered, so that whoever sends the answer can count it.
  void write_error_code(std::int16_t code) {
    if (code != 0) {
      error_codes_.push_back(code);
    }
    write_number(code);
  }
  void write_int32(std::int32_t value) { write_number(value); }
  void write_int64(std::int64_t value) { write_number(value); }
  void write_uint16(std::uint16_t value) { write_number(value); }
  void write_uint32(std::uint32_t value) { write_number(value); }
  void write_float64(double value) { write_number(std::bit_cast<std::int64_t>(value)); }
  void write_uuid(const Uuid& value) { write_raw(value.bytes); }
  void write_uvarint(std::uint32_t value);
  void write_raw(Bytes bytes) {
    if (!bytes.empty()) {
      std::memcpy(extend(bytes.size()).data(), bytes.data(), bytes.size());
    }
  }
  // Appends by reference; `chain` keeps its memory and files alive.
  void write_chain(BufferChain chain);

  void write_string(const Text& value) { write_text(value.view()); }
  void write_nullable_string(const std::optional<Text>& value, std::string_view field, bool nullable = true);
  void write_nullable_short_string(const std::optional<Text>& value);
  void write_bytes(const Blob& value);
  void write_nullable_bytes(const std::optional<Blob>& value, std::string_view field, bool nullable = true);
  void write_records(const std::optional<BufferChain>& value, std::string_view field, bool nullable = true);

  void write_presence(bool present) { write_int8(present ? 1 : -1); }        // of a nullable struct in its place
  void write_tagged_presence(bool present) { write_int8(present ? 1 : 0); }  // Kafka writes 0 here, not -1

  template <class T, class WriteOne>
  void write_list(const std::vector<T>& list, WriteOne write_one) {
    write_length(static_cast<std::int64_t>(list.size()), false);
    for (const auto& element : list) {
      write_one(element);
    }
  }
  template <class T, class WriteOne>
  void write_nullable_list(const std::optional<std::vector<T>>& list, std::string_view field, bool nullable,
                           WriteOne write_one) {
    if (list) {
      write_list(*list, write_one);
    } else {
      write_null(field, nullable, false);
    }
  }
  // Lists of plain values.
  template <class T>
  void write_list(const std::vector<T>& list) {
    write_list(list, [this](const T& value) { write_value(value); });
  }
  template <class T>
  void write_nullable_list(const std::optional<std::vector<T>>& list, std::string_view field, bool nullable = true) {
    write_nullable_list(list, field, nullable, [this](const T& value) { write_value(value); });
  }

  // The tagged section of a struct without known tags. Structs with known tags use TagWriter.
  void write_tags(const std::vector<UnknownTag>& unknown);

 private:
  static constexpr std::size_t kCopyBelow = 256;  // a gathered write costs more per piece than copying this little
  static constexpr std::size_t kFirstSlab = 256;  // holds most answers

  // The next `count` bytes of the slab, to be filled at once.
  MutableBytes extend(std::size_t count) {
    if (slab_room_ - slab_size_ < count) {
      grow(count);
    }
    const MutableBytes fresh{slab_.get() + slab_size_, count};
    slab_size_ += count;
    return fresh;
  }
  void grow(std::size_t count);
  template <class Int>
  void write_number(Int value) {
    store_be(extend(sizeof(Int)), 0, value);
  }
  template <class T>
  void write_value(const T& value) {
    if constexpr (std::same_as<T, Text>) {
      write_string(value);
    } else if constexpr (std::same_as<T, Uuid>) {
      write_uuid(value);
    } else {
      write_number(value);
    }
  }
  void write_text(std::string_view text);
  void write_length(std::int64_t length, bool short_form);
  void write_null(std::string_view field, bool nullable, bool short_form);
  void close_slab();

  std::shared_ptr<std::byte[]> slab_;
  std::size_t slab_size_ = 0;
  std::size_t slab_room_ = 0;
  BufferChain chain_;
  std::byte* frame_size_ = nullptr;  // inside the first slab once that is closed
  bool framed_ = false;
  bool flexible_ = false;
  bool failed_ = false;
  Errc code_ = Errc::invalid_argument;
  std::string_view refused_field_;
  std::vector<std::int16_t> error_codes_;
};

// Writes the tagged section of one struct: open(tag) in ascending order gives the writer of its payload, close() ends
// it, finish() writes the section with the unknown tags merged in. Costs one byte when there are no tags.
class TagWriter {
 public:
  TagWriter(Writer& out, const std::vector<UnknownTag>& unknown) : out_(out), unknown_(unknown) {}
  Writer& open(std::uint32_t tag);
  void close();
  void finish();

 private:
  void add_unknown_below(std::uint64_t limit);
  Writer& begin_entry(std::uint32_t tag, std::size_t size);

  Writer& out_;
  const std::vector<UnknownTag>& unknown_;
  std::size_t next_unknown_ = 0;
  std::int64_t last_ = -1;
  std::uint32_t open_tag_ = 0;
  std::uint32_t count_ = 0;
  std::optional<Writer> payload_;
  std::optional<Writer> section_;
};

}  // namespace weir::protocol
