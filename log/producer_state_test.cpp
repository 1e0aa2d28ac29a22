#include "log/producer_state.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "base/random.hpp"

namespace weir::log {
namespace {

using Verdict = SequenceVerdict;
constexpr Millis kNow = 1'700'000'000'000;

protocol::BatchFacts batch(std::int32_t sequence, std::int32_t count = 1, std::int16_t epoch = 0, std::int64_t id = 7) {
  protocol::BatchFacts facts;
  facts.record_count = count;
  facts.last_offset_delta = count - 1;
  facts.producer_id = id;
  facts.producer_epoch = epoch;
  facts.base_sequence = sequence;
  facts.max_timestamp = kNow + sequence;
  return facts;
}

// A table with the log behind it: what is accepted gets the next offset.
struct Log {
  ProducerTable table;
  std::int64_t end = 0;
  SequenceCheck send(const protocol::BatchFacts& facts) {
    const auto before = table;
    const auto result = table.check(facts);
    EXPECT_EQ(before, table) << "check() changes nothing";
    if (result.verdict == Verdict::accept) {
      table.apply(facts, Offset{end}, kNow);
      end += facts.last_offset_delta + 1;
    }
    return result;
  }
};

TEST(ProducerTable, ABatchWithoutProducerIsAlwaysAcceptedAndLeavesNothing) {
  Log log;
  EXPECT_EQ(log.send(batch(-1, 1, -1, -1)).verdict, Verdict::accept);
  EXPECT_TRUE(log.table.empty());
}

// The steps and answers of a real 4.4.0 broker (probes, "idempotence").
TEST(ProducerTable, AnswersAsKafkaDid) {
  Log log;
  EXPECT_EQ(log.send(batch(5)).verdict, Verdict::accept) << "unknown producer: any first sequence";
  EXPECT_EQ(log.send(batch(0)).verdict, Verdict::out_of_sequence);
  EXPECT_EQ(log.send(batch(6)).verdict, Verdict::accept);
  EXPECT_EQ(log.send(batch(7)).verdict, Verdict::accept);
  EXPECT_EQ(log.send(batch(8)).verdict, Verdict::accept);
  EXPECT_EQ(log.send(batch(8)), (SequenceCheck{Verdict::duplicate, Offset{3}, kNow + 8}));
  EXPECT_EQ(log.send(batch(20)).verdict, Verdict::out_of_sequence) << "a gap";
  EXPECT_EQ(log.send(batch(8, 2)).verdict, Verdict::out_of_sequence) << "first sequence alone does not match";
  EXPECT_EQ(log.send(batch(7, 2)).verdict, Verdict::out_of_sequence) << "last sequence alone does not match";
  EXPECT_EQ(log.send(batch(0, 1, 1)).verdict, Verdict::accept) << "a new epoch begins at 0";
  EXPECT_EQ(log.send(batch(9, 1, 0)).verdict, Verdict::stale_epoch);
  EXPECT_EQ(log.send(batch(3, 1, 3)).verdict, Verdict::out_of_sequence) << "a new epoch that does not";
  EXPECT_EQ(log.send(batch(1, 1, 1)).verdict, Verdict::accept) << "the refused epoch was not remembered";
  EXPECT_EQ(log.send(batch(0, 1, -1)).verdict, Verdict::stale_epoch);
}

// The steps and answers of a real 4.4.0 broker (differ, "a producer without an epoch").
TEST(ProducerTable, AProducerWithoutAnEpochMaySendAnySequenceAndIsStillKnownByItsBatches) {
  Log log;
  EXPECT_EQ(log.send(batch(0, 1, -5)).verdict, Verdict::stale_epoch);
  EXPECT_EQ(log.send(batch(0, 1, -1)).verdict, Verdict::accept);
  EXPECT_EQ(log.send(batch(0, 1, -1)), (SequenceCheck{Verdict::duplicate, Offset{0}, kNow}));
  EXPECT_EQ(log.send(batch(5, 2, -1)).verdict, Verdict::accept) << "a gap";
  EXPECT_EQ(log.send(batch(1, 1, -1)).verdict, Verdict::accept) << "back again";
  EXPECT_EQ(log.send(batch(5, 2, -1)), (SequenceCheck{Verdict::duplicate, Offset{1}, kNow + 5}));
  ProducerTable copy;
  ASSERT_TRUE(copy.merge(log.table.encode().front()));
  EXPECT_EQ(copy, log.table) << "a snapshot keeps it";
  EXPECT_EQ(log.send(batch(9)).verdict, Verdict::accept) << "its first epoch may begin anywhere";
  EXPECT_EQ(log.send(batch(1, 1, -1)).verdict, Verdict::stale_epoch);
  EXPECT_EQ(log.send(batch(11)).verdict, Verdict::out_of_sequence) << "from here on as ever";
  EXPECT_EQ(log.send(batch(10)).verdict, Verdict::accept);
}

TEST(ProducerTable, TheWindowHoldsFiveBatches) {
  Log log;
  for (std::int32_t i = 0; i < 6; ++i) {
    EXPECT_EQ(log.send(batch(i)).verdict, Verdict::accept);
  }
  EXPECT_EQ(log.send(batch(1)), (SequenceCheck{Verdict::duplicate, Offset{1}, kNow + 1}));
  EXPECT_EQ(log.send(batch(0)).verdict, Verdict::out_of_sequence) << "the sixth last";
}

TEST(ProducerTable, SequencesWrapToZeroAlsoInsideABatch) {
  Log log;
  EXPECT_EQ(log.send(batch(INT32_MAX - 1)).verdict, Verdict::accept);
  EXPECT_EQ(log.send(batch(INT32_MAX, 3)).verdict, Verdict::accept);
  EXPECT_EQ(log.table.find(7)->last_sequence(), 1);
  EXPECT_EQ(log.send(batch(INT32_MAX, 3)), (SequenceCheck{Verdict::duplicate, Offset{1}, kNow + INT32_MAX}));
  EXPECT_EQ(log.send(batch(2)).verdict, Verdict::accept);
}

TEST(ProducerTable, AMarkerRaisesTheEpochAndTheNextSequenceIsZero) {
  Log log;
  EXPECT_EQ(log.send(batch(0, 5)).verdict, Verdict::accept);
  auto marker = batch(-1, 1, 1);
  marker.attributes = protocol::kControlBit | protocol::kTransactionalBit;
  EXPECT_EQ(log.send(marker).verdict, Verdict::accept);
  EXPECT_EQ(log.send(batch(5, 1, 1)).verdict, Verdict::out_of_sequence);
  EXPECT_EQ(log.send(batch(0, 1, 1)).verdict, Verdict::accept);
  marker.producer_epoch = 0;
  EXPECT_EQ(log.send(marker).verdict, Verdict::stale_epoch);
}

TEST(ProducerTable, AnIdleProducerExpiresAndIsUnknownAgain) {
  constexpr Millis kDay = 86'400'000;
  Log log;
  log.send(batch(0));
  log.table.expire(kNow + kDay - 1, kDay);
  EXPECT_EQ(log.table.size(), 1U);
  log.table.expire(kNow + kDay, kDay);
  EXPECT_TRUE(log.table.empty());
  EXPECT_EQ(log.send(batch(44)).verdict, Verdict::accept);
}

TEST(ProducerTable, TruncationForgetsTheBatchesThatAreGone) {
  Log log;
  log.send(batch(0, 10));
  log.send(batch(10, 10));
  log.send(batch(0, 1, 0, 8));
  log.table.truncate_to(Offset{20});
  EXPECT_EQ(log.table.find(8), nullptr);
  log.table.truncate_to(Offset{15});
  EXPECT_EQ(log.send(batch(10, 10)).verdict, Verdict::accept) << "its first copy was cut off";
}

TEST(ProducerTable, PiecesOfASnapshotGiveTheTableBack) {
  Random random{11};
  ProducerTable table;
  for (int i = 0; i < 500; ++i) {
    const auto id = static_cast<std::int64_t>(random.below(100));
    const auto facts = batch(static_cast<std::int32_t>(random.below(1000)), 3, 2, id);
    table.apply(facts, Offset{i * 10}, kNow + i);
  }
  for (const std::size_t size : {std::size_t{1}, std::size_t{500}, std::size_t{1} << 20U}) {
    ProducerTable copy;
    for (const auto& piece : table.encode(size)) {
      ASSERT_TRUE(copy.merge(piece));
    }
    EXPECT_EQ(copy, table) << size;
  }
  EXPECT_TRUE(ProducerTable{}.encode().empty());
}

TEST(ProducerTable, NoPrefixOfASnapshotIsTakenAndARefusedOneChangesNothing) {
  Log log;
  log.send(batch(0));
  log.send(batch(1));
  log.send(batch(0, 2, 0, 8));
  const auto pieces = log.table.encode();
  ASSERT_EQ(pieces.size(), 1U);
  const auto& snapshot = pieces.front();
  ProducerTable other;
  for (std::size_t size = 0; size < snapshot.size(); ++size) {
    EXPECT_FALSE(other.merge(Bytes{snapshot}.first(size))) << size;
  }
  auto newer = snapshot;
  store_le(newer, 0, std::uint16_t{2});
  EXPECT_EQ(other.merge(newer).error(), (Error{Errc::unsupported, 2}));
  auto lying = snapshot;
  store_le(lying, 4, UINT32_MAX);
  EXPECT_EQ(other.merge(lying).error().code, Errc::corrupt);
  EXPECT_TRUE(other.empty());
}

// The rules once more, written as plainly as they can be: a deque of (first, last) per producer.
class Model {
 public:
  Verdict send(const protocol::BatchFacts& facts) {
    auto& producer = producers_[facts.producer_id];
    const auto last = static_cast<std::int32_t>(
        (static_cast<std::int64_t>(facts.base_sequence) + facts.last_offset_delta) % (1LL << 31));
    if (producer.epoch >= 0 && facts.producer_epoch < producer.epoch) {
      return Verdict::stale_epoch;
    }
    if (producer.epoch == facts.producer_epoch) {
      for (const auto& known : producer.window) {
        if (known == std::pair{facts.base_sequence, last}) {
          return Verdict::duplicate;
        }
      }
      const auto next = producer.window.back().second == INT32_MAX ? 0 : producer.window.back().second + 1;
      if (next != facts.base_sequence) {
        return Verdict::out_of_sequence;
      }
    } else if (producer.epoch >= 0 && facts.base_sequence != 0) {
      return Verdict::out_of_sequence;
    } else {
      producer.window.clear();
    }
    producer.epoch = facts.producer_epoch;
    producer.window.emplace_back(facts.base_sequence, last);
    if (producer.window.size() > 5) {
      producer.window.pop_front();
    }
    return Verdict::accept;
  }
  [[nodiscard]] std::int32_t next(std::int64_t id) {
    auto& window = producers_[id].window;
    return window.empty() ? 0 : protocol::sequence_plus(window.back().second, 1);
  }

 private:
  struct State {
    std::int16_t epoch = -1;
    std::deque<std::pair<std::int32_t, std::int32_t>> window;
  };
  std::map<std::int64_t, State> producers_;
};

TEST(ProducerTable, AgreesWithAPlainModelOnRandomTraffic) {
  std::map<Verdict, int> seen;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random{seed};
    Log log;
    Model model;
    std::deque<protocol::BatchFacts> sent;
    for (int i = 0; i < 1000; ++i) {
      const auto id = static_cast<std::int64_t>(random.below(3));
      auto facts = batch(model.next(id), static_cast<std::int32_t>(1 + random.below(4)),
                         static_cast<std::int16_t>(random.below(200) / 199), id);
      if (!sent.empty() && random.chance(3)) {
        facts = sent[random.below(sent.size())];  // a retry, perhaps too late
      } else if (random.chance(10)) {
        facts.base_sequence = random.chance(2) ? 0 : static_cast<std::int32_t>(random.below(1ULL << 31U));
      }
      const auto expected = model.send(facts);
      ASSERT_EQ(log.send(facts).verdict, expected) << "step " << i;
      seen[expected] += 1;
      sent.push_back(facts);
      if (sent.size() > 8) {
        sent.pop_front();
      }
    }
  }
  EXPECT_EQ(seen.size(), 4U) << "the traffic met every verdict";
}

}  // namespace
}  // namespace weir::log
