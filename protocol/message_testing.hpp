// Test only: every message behind one table of functions, and a Filler that gives all fields of a version some value.
// The generated test registry (linked into tests and fuzz targets, never into the broker) builds the table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/bytes.hpp"
#include "base/ids.hpp"
#include "base/random.hpp"
#include "base/result.hpp"
#include "protocol/codec.hpp"

namespace weir::protocol::testing {

class Filler {
 public:
  explicit Filler(std::uint64_t seed) : random_(seed) {}

  template <class T>
  void value(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = random_.chance(2);
    } else if constexpr (std::is_same_v<T, double>) {
      value = static_cast<double>(random_.below(1000)) / 8;
    } else if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(random_.next());
    } else if constexpr (std::is_same_v<T, Text>) {
      value = Text(std::string(random_.below(300), static_cast<char>('a' + random_.below(26))));
    } else if constexpr (std::is_same_v<T, Uuid>) {
      value.bytes.fill(static_cast<std::byte>(random_.next()));
    } else {
      value = T(bytes());
    }
  }
  template <class T>
  void value(std::vector<T>& values) {
    values.resize(random_.below(4));
    for (auto& each : values) {
      value(each);
    }
  }
  template <class T>
  void value(std::optional<T>& value, bool nullable) {
    if (nullable && random_.chance(4)) {
      value.reset();
    } else {
      this->value(*(value = T{}));  // not emplace(): clang, and structs nested in their message
    }
  }
  void value(std::optional<BufferChain>& records, bool nullable) {
    records.reset();
    if (!nullable || !random_.chance(4)) {
      records.emplace(SharedBytes::copy_of(bytes()));
    }
  }
  template <class T, class Fill>
  void nested(T& value, Fill fill) {
    fill(value);
  }
  template <class T, class Fill>
  void nested(std::vector<T>& values, Fill fill) {
    values.resize(random_.below(4));
    for (auto& each : values) {
      fill(each);
    }
  }
  template <class T, class Fill>
  void nested(std::optional<T>& value, bool nullable, Fill fill) {
    if (nullable && random_.chance(4)) {
      value.reset();
    } else {
      nested(*(value = T{}), fill);
    }
  }
  void tags(std::vector<UnknownTag>& tags, bool flexible, std::uint32_t first_free) {
    if (flexible && random_.chance(3)) {
      tags.push_back({first_free, Blob(bytes())});
      tags.push_back({first_free + 300, Blob(bytes())});
    }
  }

 private:
  Bytes bytes() {
    scratch_.assign(random_.below(400), static_cast<std::byte>(random_.next()));
    return scratch_;
  }
  Random random_;
  std::vector<std::byte> scratch_;
};

struct TestMessage {
  std::string_view name;
  std::int16_t min_version = 0;
  std::int16_t max_version = 0;
  std::int16_t flexible_from = kNeverFlexible;
  // Decodes all of `bytes` and encodes the result again.
  Result<std::vector<std::byte>> (*recode)(Bytes bytes, std::int16_t version) = nullptr;
  Result<void> (*decode_only)(Bytes bytes, std::int16_t version) = nullptr;
  std::string (*describe)(Bytes bytes, std::int16_t version) = nullptr;
  // Fills, encodes, decodes, compares; returns what went wrong, or an empty text.
  std::string (*round_trip)(std::uint64_t seed, std::int16_t version) = nullptr;
};

std::span<const TestMessage> test_messages();  // ascending names

template <class M>
std::string round_trip_with(void (*fill)(Filler&, std::int16_t, M&), std::uint64_t seed, std::int16_t version) {
  Filler filler{seed};
  M filled;
  fill(filler, version, filled);
  Writer out;
  if (const auto encoded = encode(out, version, filled); !encoded) {
    return "encode: " + to_string(encoded.error()) + " at " + std::string(out.refused_field());
  }
  const auto bytes = out.finish().flatten();
  const auto again = decode_all<M>(Bytes{bytes}, version, Trailing::refuse);
  if (!again) {
    return "decode: " + to_string(again.error());
  }
  return *again == filled ? "" : "differs: " + log_string(filled) + " != " + log_string(*again);
}

// `Fill` is a captureless lambda, so that a plain function pointer can carry it.
template <class M, class Fill>
TestMessage test_message(Fill) {
  return {M::kName,
          M::kMinVersion,
          M::kMaxVersion,
          M::kFlexibleFrom,
          [](Bytes bytes, std::int16_t version) -> Result<std::vector<std::byte>> {
            WEIR_TRY(const auto message, decode_all<M>(bytes, version, Trailing::refuse));
            return encode_all(message, version);
          },
          [](Bytes bytes, std::int16_t version) -> Result<void> {
            WEIR_TRY_VOID(decode_all<M>(bytes, version, Trailing::refuse));
            return {};
          },
          [](Bytes bytes, std::int16_t version) {
            const auto message = decode_all<M>(bytes, version);
            return message ? log_string(*message) : to_string(message.error());
          },
          [](std::uint64_t seed, std::int16_t version) { return round_trip_with<M>(Fill{}, seed, version); }};
}

}  // namespace weir::protocol::testing
