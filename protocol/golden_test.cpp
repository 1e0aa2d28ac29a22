// The golden encodings were made by Kafka's own classes: 3,170 of all 744 (message, version) pairs.
#include <gtest/gtest.h>
#include <zlib.h>

#include <iostream>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "protocol/message_testing.hpp"

namespace weir::protocol::testing {
namespace {

constexpr std::size_t kGoldenCount = 3170;
constexpr std::size_t kPairCount = 744;
constexpr std::size_t kGoldenMessages = 278;
constexpr std::size_t kExtensionMessages = 20;

struct Golden {
  std::string name;
  std::int16_t version = 0;
  std::string variant;
  std::vector<std::byte> bytes;
  [[nodiscard]] std::string where() const { return name + " v" + std::to_string(version) + " " + variant; }
};

std::string unzipped(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  WEIR_CHECK(file != nullptr);
  std::string text;
  std::string block(1U << 16U, '\0');
  for (int got = 0; (got = gzread(file, block.data(), static_cast<unsigned>(block.size()))) > 0;) {
    text.append(block, 0, static_cast<std::size_t>(got));
  }
  gzclose(file);
  return text;
}

// Lines of name, version, variant, hex, JSON, with tabs between.
std::vector<Golden> read_goldens() {
  std::vector<Golden> goldens;
  const auto text = unzipped(WEIR_SOURCE_DIR "/protocol/testdata/golden.tsv.gz");
  std::size_t at = 0;
  const auto next = [&](char end) {
    const auto stop = text.find(end, at);
    WEIR_CHECK(stop != std::string::npos);
    return text.substr(std::exchange(at, stop + 1), stop - at);
  };
  while (at < text.size()) {
    Golden golden;
    golden.name = next('\t');
    golden.version = static_cast<std::int16_t>(std::stoi(next('\t')));
    golden.variant = next('\t');
    const auto hex = next('\t');
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
      golden.bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    }
    next('\n');
    goldens.push_back(std::move(golden));
  }
  return goldens;
}

const std::vector<Golden>& goldens() {
  static const auto all = read_goldens();
  return all;
}

const TestMessage* find(std::string_view name) {
  for (const auto& message : test_messages()) {
    if (message.name == name) {
      return &message;
    }
  }
  return nullptr;
}

TEST(Golden, EveryGoldenEncodingDecodesAndEncodesToTheSameBytes) {
  std::set<std::pair<std::string, std::int16_t>> pairs;
  std::size_t same = 0;
  for (const auto& golden : goldens()) {
    const auto* message = find(golden.name);
    ASSERT_NE(message, nullptr) << golden.name;
    const auto again = message->recode(golden.bytes, golden.version);
    ASSERT_TRUE(again) << golden.where() << ": " << to_string(again.error());
    EXPECT_EQ(*again, golden.bytes) << golden.where();
    same += *again == golden.bytes ? 1U : 0U;
    pairs.emplace(golden.name, golden.version);
  }
  std::cout << same << " golden encodings, " << pairs.size() << " pairs of message and version\n";
  EXPECT_EQ(same, kGoldenCount);
  EXPECT_EQ(pairs.size(), kPairCount);
}

TEST(Golden, EveryMessageOfKafkaHasGoldensInEveryVersion) {
  std::map<std::string, std::set<std::int16_t>> seen;
  for (const auto& golden : goldens()) {
    seen[golden.name].insert(golden.version);
  }
  EXPECT_EQ(seen.size(), kGoldenMessages);
  EXPECT_EQ(test_messages().size(), kGoldenMessages + kExtensionMessages);
  for (const auto& [name, versions] : seen) {
    const auto* message = find(name);
    ASSERT_NE(message, nullptr) << name;
    EXPECT_EQ(*versions.begin(), message->min_version) << name;
    EXPECT_EQ(*versions.rbegin(), message->max_version) << name;
    EXPECT_EQ(std::ssize(versions), message->max_version - message->min_version + 1) << name;
  }
}

// Every size of encodings up to 1000 bytes; of the 250 larger ones about 1000 sizes each, or the test would take
// minutes.
TEST(Golden, TruncationsAreRefused) {
  constexpr std::size_t kAllBelow = 1000;
  std::size_t refused = 0;
  for (const auto& golden : goldens()) {
    const auto* message = find(golden.name);
    ASSERT_NE(message, nullptr) << golden.name;
    for (std::size_t size = 0; size < golden.bytes.size(); size += 1 + golden.bytes.size() / kAllBelow) {
      // A copy of exactly that size, so that the address sanitizer sees a read past the end.
      const std::vector<std::byte> cut(golden.bytes.begin(), golden.bytes.begin() + static_cast<std::ptrdiff_t>(size));
      ASSERT_FALSE(message->decode_only(cut, golden.version)) << golden.where() << " cut to " << size;
      ++refused;
    }
  }
  std::cout << refused << " truncations refused\n";
  EXPECT_GT(refused, 167'087U) << "what the reference codec checks with its limit of 400 bytes";
}

TEST(Golden, BytesAfterTheBodyAreRefusedOnlyWhenAsked) {
  for (const auto& golden : goldens()) {
    auto longer = golden.bytes;
    longer.push_back(std::byte{0});
    ASSERT_FALSE(find(golden.name)->decode_only(longer, golden.version)) << golden.where();
  }
}

TEST(Golden, EveryMessageGivesALogLineWithinItsLimit) {
  constexpr std::size_t kLineMax = 20'000;
  for (const auto& golden : goldens()) {
    const auto line = find(golden.name)->describe(golden.bytes, golden.version);
    EXPECT_TRUE(line.starts_with(golden.name + "{")) << line;
    EXPECT_LT(line.size(), kLineMax) << golden.where();
    EXPECT_EQ(line.find('\n'), std::string::npos) << golden.where();
  }
}

TEST(RoundTrip, FilledMessagesComeBackEqualInEveryVersionExtensionsToo) {
  constexpr std::uint64_t kSeeds = 12;
  std::size_t trips = 0;
  for (const auto& message : test_messages()) {
    for (auto version = message.min_version; version <= message.max_version; ++version) {
      for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        EXPECT_EQ(message.round_trip(seed, version), "") << message.name << " v" << version << " seed " << seed;
        ++trips;
      }
    }
  }
  EXPECT_EQ(trips, (kPairCount + kExtensionMessages) * kSeeds);
}

TEST(Versions, OutsideTheValidRangeNothingIsDecoded) {
  for (const auto& message : test_messages()) {
    for (const int version : {message.min_version - 1, message.max_version + 1}) {
      EXPECT_EQ(message.decode_only({}, static_cast<std::int16_t>(version)).error(),
                (Error{Errc::unsupported, version}))
          << message.name;
    }
  }
}

}  // namespace
}  // namespace weir::protocol::testing
