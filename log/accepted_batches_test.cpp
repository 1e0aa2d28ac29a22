// What produce accepts and what everybody who reads the log accepts is the same: over batches that were changed in all
// ways that a seed draws, in each codec, each that the validator lets through is stored as it was judged, and a start,
// a verify, a fetch from memory and from files, a look-up by time and a memory topic take it.
#include <gtest/gtest.h>

#include <set>

#include "base/random.hpp"
#include "log/log_dump.hpp"
#include "log/test_log_read.hpp"
#include "protocol/batch_validator.hpp"
#include "sim/seams/seeds.hpp"

namespace weir::log {
namespace {
using namespace protocol;

constexpr Millis kNow = 1'750'000'000'000;
constexpr int kBatches = 600;  // drawn for each seed and codec
using Buffer = std::vector<std::byte>;

class Drawn {
 public:
  Drawn(std::uint64_t seed, Codec codec) : random_(seed * 8 + static_cast<std::uint64_t>(codec)), codec_(codec) {}

  // The records field of a produce request.
  Buffer records() {
    auto payload = plain_records();
    if (random_.chance(3)) {
      change_bytes(payload, 0);
    }
    auto batch = *wrap_records(header_, *compress(codec_, payload));
    for (auto changes = random_.below(3); changes > 0; --changes) {
      random_.chance(3) ? change_bytes(batch, 0) : change_field(batch);
    }
    if (random_.chance(4)) {
      append_junk(batch);
    }
    if (!random_.chance(10) && RecordBatchView::parse(batch)) {
      renew_crc(batch);
    }
    return batch;
  }
  BatchRules rules() {
    BatchRules rules{.max_message_bytes = random_.chance(10) ? 150 : 1 << 20, .max_decompressed_bytes = 1 << 18};
    if (random_.chance(4)) {
      rules.codec = static_cast<Codec>(random_.below(kCodecMax + 1));
    }
    rules.timestamp_type = random_.chance(4) ? TimestampType::log_append_time : TimestampType::create_time;
    rules.compacted = random_.chance(10);
    return rules;
  }

 private:
  Buffer plain_records() {
    RecordBatchBuilder builder;
    const auto count = 1 + random_.below(4);
    std::vector<HeaderView> headers(random_.below(3), {.key = "h", .value = as_bytes("value")});
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string value(random_.below(random_.chance(20) ? 20'000 : 60),
                              static_cast<char>('a' + random_.below(26)));
      builder.append({.key = random_.chance(4) ? std::nullopt : std::optional{as_bytes("key")},
                      .value = random_.chance(5) ? std::nullopt : std::optional{as_bytes(value)},
                      .timestamp = random_.chance(5) ? kNoTimestamp : kNow - static_cast<Millis>(random_.below(1000)),
                      .headers = headers});
    }
    const auto plain = *builder.build();
    const auto batch = *RecordBatchView::parse(plain);
    header_ = batch.facts();
    header_.attributes = static_cast<std::uint16_t>(codec_);
    if (random_.chance(4)) {
      header_.producer_id = static_cast<std::int64_t>(random_.below(1000));
      header_.producer_epoch = 0;
      header_.base_sequence = static_cast<std::int32_t>(random_.below(3));
    }
    return {batch.payload().begin(), batch.payload().end()};
  }

  void change_bytes(Buffer& bytes, std::size_t from) {
    for (auto count = 1 + random_.below(2); count > 0 && bytes.size() > from; --count) {
      const auto at = from + random_.below(bytes.size() - from);
      const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
      switch (random_.below(4)) {
        case 0: bytes.erase(place); break;
        case 1: bytes.insert(place, std::byte{0}); break;
        default: bytes[at] ^= static_cast<std::byte>(1U << random_.below(8)); break;
      }
    }
  }

  void change_field(Buffer& batch) {
    if (batch.size() < kBatchHeaderSize) {
      return;
    }
    struct Field {
      std::size_t at;
      int size;
    };
    static constexpr std::array kFields{
        Field{kBaseOffsetAt, 8},      Field{kLengthAt, 4},        Field{kLeaderEpochAt, 4},  Field{kAttributesAt, 2},
        Field{kLastOffsetDeltaAt, 4}, Field{kBaseTimestampAt, 8}, Field{kMaxTimestampAt, 8}, Field{kProducerIdAt, 8},
        Field{kProducerEpochAt, 2},   Field{kBaseSequenceAt, 4},  Field{kRecordCountAt, 4}};
    const auto& field = kFields.at(random_.below(kFields.size()));
    const auto value = odd_number();
    switch (field.size) {
      case 2:
        store_be(batch, field.at, static_cast<std::int16_t>(random_.chance(2) ? value : 1 << random_.below(9)));
        break;
      case 4: store_be(batch, field.at, static_cast<std::int32_t>(value)); break;
      default: store_be(batch, field.at, value); break;
    }
  }
  std::int64_t odd_number() {
    switch (random_.below(5)) {
      case 0: return static_cast<std::int64_t>(random_.below(6)) - 2;
      case 1: return random_.chance(2) ? INT64_MAX : INT64_MIN;
      case 2: return random_.chance(2) ? INT32_MAX : INT32_MIN;
      case 3: return kNow + static_cast<std::int64_t>(random_.below(10'000'000));
      default: return static_cast<std::int64_t>(random_.next());
    }
  }
  void append_junk(Buffer& batch) {
    const auto count = 1 + random_.below(70);
    for (std::uint64_t i = 0; i < count; ++i) {
      batch.push_back(random_.chance(2) ? std::byte{0} : static_cast<std::byte>(random_.below(256)));
    }
  }

  Random random_;
  const Codec codec_;
  BatchFacts header_;
};

class AcceptedBatches : public testing::TestWithParam<Codec> {
 protected:
  struct Expected {
    Buffer bytes;                // of all that was appended, as a reader gets them
    std::vector<Millis> newest;  // of each batch
    std::int64_t records = 0;
  };

  void append(TestLog& test, const std::shared_ptr<Partition>& partition, const ValidBatch& batch, Expected& into) {
    const auto reply = std::make_shared<std::optional<AppendOutcome>>();
    test.log->append(test.request(partition, batch, Acks::all, reply));
    test.queue.run_until_idle();
    ASSERT_TRUE(reply->has_value());
    if ((*reply)->error || (*reply)->duplicate) {  // by its producer: that is another matter
      return;
    }
    const auto base = (*reply)->base_offset;
    ASSERT_EQ(base.value, into.records) << "offsets without a gap";
    Buffer bytes{batch.view().begin(), batch.view().end()};
    patch_base_offset(bytes, base);
    patch_leader_epoch(bytes, LeaderEpoch{0});
    into.bytes.insert(into.bytes.end(), bytes.begin(), bytes.end());
    into.newest.push_back(batch.facts().max_timestamp);
    into.records += batch.facts().record_count;
  }

  static void expect_all(const TestLog& test, const Partition& partition, const Expected& expected,
                         const std::string& when) {
    Buffer bytes;
    for (auto at = partition.log_start(); at < partition.high_watermark();) {
      const auto outcome =
          test.log->read(partition, at, {64 << 10, true, partition.high_watermark()}, ReadFrom::may_block);
      ASSERT_TRUE(outcome && !outcome->batches.empty()) << when;
      const auto some = outcome->batches.flatten();
      bytes.insert(bytes.end(), some.begin(), some.end());
      BatchChain chain{some};
      for (auto batch = chain.next(); batch && *batch; batch = chain.next()) {
        at = Offset{(*batch)->last_offset() + 1};
      }
      ASSERT_TRUE(chain.rest().empty()) << when << ": bytes that are no batch are served";
    }
    EXPECT_EQ(bytes, expected.bytes) << when;
    const auto records = test.read_all(partition);
    ASSERT_TRUE(records) << when << ": " << to_string(records.error());
    EXPECT_EQ(std::ssize(*records), expected.records) << when;
  }

  static void expect_look_ups(const TestLog& test, const Partition& partition, const Expected& expected) {
    std::set<Millis> asked;
    for (const auto newest : expected.newest) {
      if (asked.insert(newest).second) {  // a header may be newer than its records, as with Kafka: then there is none
        const auto found = test.log->find_by_time(partition, newest, partition.high_watermark());
        ASSERT_TRUE(found) << to_string(found.error()) << ", time " << newest;
      }
    }
  }
};

TEST_P(AcceptedBatches, AreTakenByEverybodyWhoReadsTheLog) {
  for (const auto seed : sim::seeds(3)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::size_t accepted = 0;
    std::size_t cut = 0;
    std::size_t whole_but_refused = 0;
    TestLog test{seed};
    ASSERT_TRUE(test.start());
    PartitionRules rules;
    rules.retention_ms = -1;
    test.create(1, 0, rules);
    rules.memory = true;
    auto of_memory = test.create(2, 0, rules);
    test.queue.run_until_idle();
    Expected in_log;
    Expected in_memory;
    Drawn drawn{seed, GetParam()};
    for (int i = 0; i < kBatches; ++i) {
      const auto records = SharedBytes::adopt(drawn.records());
      const auto verdict = validate_batch(records, drawn.rules(), {.now_ms = kNow});
      const auto* batch = std::get_if<ValidBatch>(&verdict);
      if (batch == nullptr) {
        whole_but_refused += RecordBatchView::parse_whole(records.view()) ? 1U : 0U;
        continue;
      }
      ASSERT_TRUE(RecordBatchView::parse_whole(batch->view())) << "batch " << i;
      ++accepted;
      cut += batch->size() < records.size() ? 1U : 0U;
      ASSERT_NO_FATAL_FAILURE(append(test, test.find(1, 0), *batch, in_log)) << "batch " << i;
      ASSERT_NO_FATAL_FAILURE(append(test, of_memory, *batch, in_memory)) << "batch " << i;
    }
    expect_all(test, *test.find(1, 0), in_log, "in memory");
    expect_all(test, *of_memory, in_memory, "memory topic");
    expect_look_ups(test, *of_memory, in_memory);
    of_memory.reset();
    test.crash(sim::CrashMode::process_death);
    ASSERT_TRUE(test.start());
    const auto found = test.log->statistics();
    EXPECT_EQ(found.recovery_damaged_ranges, 0);
    EXPECT_GT(found.recovery_scanned_bytes, 0);
    expect_all(test, *test.find(1, 0), in_log, "after a start that scanned");
    ASSERT_TRUE(test.stop());
    std::string problems;
    const auto report =
        verify_folder(test.disk, "data", [&](std::string_view line) { problems += std::string(line) + "\n"; });
    ASSERT_TRUE(report);
    EXPECT_EQ(report->problems, 0) << problems;
    EXPECT_EQ(report->records, in_log.records);
    ASSERT_TRUE(test.start(true));
    expect_all(test, *test.find(1, 0), in_log, "from files");
    expect_look_ups(test, *test.find(1, 0), in_log);
    // Else the above says nothing.
    EXPECT_GT(accepted, 100U);
    EXPECT_GT(cut, 15U);
    EXPECT_GT(whole_but_refused, 20U) << "produce looks into the records, a start does not";
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, AcceptedBatches,
                         testing::Values(Codec::none, Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd),
                         [](const auto& codec) { return std::string{to_string(codec.param)}; });

}  // namespace
}  // namespace weir::log
