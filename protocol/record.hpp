// Records inside a batch: reading them one by one, from plain or compressed payloads, and building a batch of them.
// Views borrow; a reader or builder belongs to one thread. Nothing here trusts a length or a count of the input.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/compression.hpp"
#include "base/result.hpp"
#include "protocol/record_batch.hpp"
#include "protocol/valid_batch.hpp"

namespace weir::protocol {

// No batch may expand to more: a bomb that Kafka would walk to its end. What produce accepts every reader must take.
inline constexpr std::size_t kExpansionMax = (std::size_t{1} << 31U) - 1;

struct HeaderView {
  std::string_view key;
  std::optional<Bytes> value;
};

// The headers of one record, decoded while one walks them. Made only of bytes that were checked.
class HeaderRange {
 public:
  class Iterator {
   public:
    using value_type = HeaderView;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::forward_iterator_tag;
    Iterator() = default;
    Iterator(Bytes rest, std::int32_t left);
    const HeaderView& operator*() const { return header_; }
    const HeaderView* operator->() const { return &header_; }
    Iterator& operator++();
    Iterator operator++(int);
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.left_ == b.left_; }

   private:
    void take();
    Bytes rest_;
    std::int32_t left_ = 0;
    HeaderView header_;
  };
  HeaderRange() = default;
  HeaderRange(Bytes checked, std::int32_t count) : bytes_(checked), count_(count) {}
  [[nodiscard]] Iterator begin() const { return {bytes_, count_}; }
  [[nodiscard]] Iterator end() const { return {}; }
  [[nodiscard]] std::int32_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }

 private:
  Bytes bytes_;
  std::int32_t count_ = 0;
};

struct RecordView {
  std::int64_t timestamp_delta = 0;
  std::int32_t offset_delta = 0;
  std::optional<Bytes> key;
  std::optional<Bytes> value;  // nullopt: a tombstone
  HeaderRange headers;
};

// Walks plain (not compressed) record bytes. No allocation.
class RecordCursor {
 public:
  explicit RecordCursor(Bytes payload) : rest_(payload) {}
  // nullopt at the end; truncated when the bytes end inside a record; corrupt when its lengths contradict each other.
  Result<std::optional<RecordView>> next();
  [[nodiscard]] Bytes rest() const { return rest_; }

 private:
  Bytes rest_;
};

// Walks the records of a batch, decompressing as it goes: holds one record at a time, not the whole output. Checks that
// there are as many records as the header says and nothing behind them. A view from next() lives until the next call.
class RecordReader {
 public:
  // `batch` outlives the reader. More than `output_max` decompressed bytes are refused (too_large).
  RecordReader(const RecordBatchView& batch, std::size_t output_max);
  Result<std::optional<RecordView>> next();  // nullopt at the end; besides RecordCursor's errors the Decompressor's

  [[nodiscard]] Offset offset_of(const RecordView& record) const;
  [[nodiscard]] Millis timestamp_of(const RecordView& record) const;  // the batch's, where the log stamped it

 private:
  Result<RecordView> take();
  Result<bool> fill();  // false: no more output

  RecordBatchView batch_;
  std::int32_t left_;
  std::optional<Error> failure_;
  std::optional<Decompressor> from_;  // empty for a plain payload
  std::vector<std::byte> window_;     // decompressed bytes not yet given out, [start_, end_)
  std::size_t start_ = 0;
  std::size_t end_ = 0;
  Bytes plain_;
};

// Calls `each(const RecordView&, const RecordReader&)` for every record of the batch.
template <class Each>
Result<void> for_each_record(const RecordBatchView& batch, std::size_t output_max, Each&& each) {
  RecordReader reader{batch, output_max};
  for (;;) {
    WEIR_TRY(const auto record, reader.next());
    if (!record) {
      return {};
    }
    each(*record, reader);
  }
}

struct RecordInput {
  std::optional<Bytes> key;
  std::optional<Bytes> value;
  Millis timestamp = kNoTimestamp;
  std::span<const HeaderView> headers;
};

struct BatchOptions {
  Codec codec = Codec::none;
  std::optional<int> level;
  Offset base_offset{0};
  LeaderEpoch leader_epoch{-1};
  std::int64_t producer_id = kNoProducerId;
  std::int16_t producer_epoch = kNoProducerEpoch;
  std::int32_t base_sequence = kNoSequence;
  bool transactional = false;
  bool control = false;
};

// Collects records with consecutive offsets and writes one batch with a valid checksum.
class RecordBatchBuilder {
 public:
  explicit RecordBatchBuilder(BatchOptions options = {}) : options_(options) {}
  void append(const RecordInput& record);
  [[nodiscard]] std::int32_t count() const { return count_; }
  [[nodiscard]] std::size_t size() const { return kBatchHeaderSize + payload_.size(); }  // before compression
  // The batch; the builder is empty afterwards. At least one record. invalid_argument: no such level; too_large: over
  // 2 GiB.
  Result<std::vector<std::byte>> build();
  // The same for the log: what was built here needs no other validation.
  Result<ValidBatch> build_valid();

 private:
  BatchOptions options_;
  std::vector<std::byte> payload_;
  std::int32_t count_ = 0;
  Millis base_timestamp_ = kNoTimestamp;
  Millis max_timestamp_ = kNoTimestamp;
};

// A batch with this header (its size is ignored) around `payload`, which holds its records in its codec already.
Result<std::vector<std::byte>> wrap_records(const BatchFacts& header, Bytes payload);

// Timestamps wrap as Java's do: no value of the wire may overflow a signed integer here.
constexpr std::int64_t wrapping_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
constexpr std::int64_t wrapping_sub(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

}  // namespace weir::protocol
