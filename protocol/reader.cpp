#include "protocol/reader.hpp"

namespace weir::protocol {

void Reader::fail(Errc code) {
  if (!failed_) {
    failed_ = true;
    code_ = code;
  }
  end_ = position_;  // every later read meets the end
}

Result<void> Reader::result() const {
  if (failed_) {
    return {code_, static_cast<std::int64_t>(position_)};
  }
  return {};
}

Bytes Reader::read_raw(std::size_t size) {
  if (remaining() < size) {
    fail(Errc::truncated);
    return {};
  }
  const auto part = bytes_.subspan(position_, size);
  position_ += size;
  return part;
}

Uuid Reader::read_uuid() {
  Uuid id;
  const auto raw = read_raw(id.bytes.size());
  std::copy(raw.begin(), raw.end(), id.bytes.begin());
  return id;
}

std::uint32_t Reader::read_uvarint() {
  constexpr unsigned kLastShift = 28;
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift <= kLastShift; shift += 7) {
    if (remaining() == 0) {
      fail(Errc::truncated);
      return 0;
    }
    const auto byte = std::to_integer<std::uint64_t>(bytes_[position_++]);
    value |= (byte & 0x7fU) << shift;
    if (byte < 0x80U) {
      if (value > std::numeric_limits<std::uint32_t>::max()) {
        break;
      }
      return static_cast<std::uint32_t>(value);
    }
  }
  fail(Errc::corrupt);
  return 0;
}

// Kafka takes every negative length of the old forms as null, not only -1.
std::int64_t Reader::read_length(bool nullable, bool short_form) {
  std::int64_t length = 0;
  if (flexible_) {
    length = static_cast<std::int64_t>(read_uvarint()) - 1;
  } else {
    length = short_form ? read_int16() : read_int32();
  }
  if (short_form && length > std::numeric_limits<std::int16_t>::max()) {
    fail(Errc::corrupt);  // Kafka limits compact strings alike
    return 0;
  }
  if (!ok()) {
    return 0;
  }
  if (length < 0) {
    if (!nullable) {
      fail(Errc::corrupt);
    }
    return -1;
  }
  return length;
}

std::int64_t Reader::read_count(std::size_t least, bool nullable) {
  const auto count = read_length(nullable, false);
  if (count > 0 && static_cast<std::uint64_t>(count) > remaining() / least) {
    fail(Errc::truncated);
    return 0;
  }
  return count;
}

Text Reader::read_string() {
  const auto length = read_length(false, true);
  if (length <= 0) {
    return {};
  }
  return Text::borrow(as_text(read_raw(static_cast<std::size_t>(length))));
}

std::optional<Text> Reader::read_nullable_string(bool nullable) {
  const auto length = read_length(nullable, true);
  if (length < 0) {
    return std::nullopt;
  }
  return Text::borrow(as_text(read_raw(static_cast<std::size_t>(length))));
}

std::optional<Text> Reader::read_nullable_short_string() {
  const auto length = read_int16();
  if (length < 0) {
    return std::nullopt;
  }
  return Text::borrow(as_text(read_raw(static_cast<std::size_t>(length))));
}

Blob Reader::read_bytes() {
  const auto length = read_length(false, false);
  if (length <= 0) {
    return {};
  }
  return Blob::borrow(read_raw(static_cast<std::size_t>(length)));
}

std::optional<Blob> Reader::read_nullable_bytes(bool nullable) {
  const auto length = read_length(nullable, false);
  if (length < 0) {
    return std::nullopt;
  }
  return Blob::borrow(read_raw(static_cast<std::size_t>(length)));
}

std::optional<BufferChain> Reader::read_records(bool nullable) {
  const auto length = read_length(nullable, false);
  if (length < 0) {
    return std::nullopt;
  }
  return BufferChain{SharedBytes{read_raw(static_cast<std::size_t>(length)), owner_}};
}

}  // namespace weir::protocol
