#include "log/producer_state.hpp"

#include <algorithm>

#include "log/little_endian.hpp"

namespace weir::log {
namespace {

constexpr std::uint16_t kSnapshotVersion = 1;
constexpr std::size_t kSnapshotHeaderSize = 8;
constexpr std::size_t kProducerSize = 32;  // without its batches
constexpr std::size_t kBatchSize = 32;

void put_producer(std::vector<std::byte>& out, const Producer& producer) {
  put(out, producer.id);
  put(out, producer.epoch);
  put(out, producer.batch_count);
  put(out, std::uint8_t{0});
  put(out, producer.coordinator_epoch);
  put(out, producer.last_update_ms);
  put(out, producer.open_transaction.value);
  for (std::size_t i = 0; i < producer.batch_count; ++i) {
    const auto& batch = producer.batches[i];
    put(out, batch.first_sequence);
    put(out, batch.last_sequence);
    put(out, batch.base_offset.value);
    put(out, batch.last_offset.value);
    put(out, batch.max_timestamp);
  }
}

// A producer that no writer of ours can have written gives nullopt; so does the end of the bytes.
std::optional<Producer> take_producer(LittleReader& reader) {
  Producer producer;
  producer.id = reader.take<std::int64_t>();
  producer.epoch = reader.take<std::int16_t>();
  producer.batch_count = reader.take<std::uint8_t>();
  const auto reserved = reader.take<std::uint8_t>();
  producer.coordinator_epoch = reader.take<std::int32_t>();
  producer.last_update_ms = reader.take<std::int64_t>();
  producer.open_transaction.value = reader.take<std::int64_t>();
  if (producer.id < 0 || producer.epoch < protocol::kNoProducerEpoch || reserved != 0 ||
      producer.batch_count > kProducerWindow) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < producer.batch_count; ++i) {
    auto& batch = producer.batches[i];
    batch.first_sequence = reader.take<std::int32_t>();
    batch.last_sequence = reader.take<std::int32_t>();
    batch.base_offset.value = reader.take<std::int64_t>();
    batch.last_offset.value = reader.take<std::int64_t>();
    batch.max_timestamp = reader.take<std::int64_t>();
    if (batch.first_sequence < 0 || batch.last_sequence < 0 || batch.last_offset < batch.base_offset ||
        batch.base_offset.value < 0 || (i > 0 && batch.base_offset <= producer.batches[i - 1].last_offset)) {
      return std::nullopt;
    }
  }
  return reader.failed() ? std::nullopt : std::optional{producer};
}

}  // namespace

SequenceCheck ProducerTable::check(const protocol::BatchFacts& facts) const {
  if (!facts.has_producer()) {
    return {};
  }
  if (facts.producer_epoch < protocol::kNoProducerEpoch) {
    return {.verdict = SequenceVerdict::stale_epoch};
  }
  const auto* producer = find(facts.producer_id);
  if (producer == nullptr) {
    return {};  // no state: any first sequence is right
  }
  if (facts.producer_epoch < producer->epoch) {
    return {.verdict = SequenceVerdict::stale_epoch};
  }
  if (facts.is_control()) {
    return {};  // a marker has no sequence
  }
  const bool without_epoch = producer->epoch == protocol::kNoProducerEpoch;  // then any sequence is right, as in Kafka
  if (facts.producer_epoch > producer->epoch) {
    return {.verdict =
                without_epoch || facts.base_sequence == 0 ? SequenceVerdict::accept : SequenceVerdict::out_of_sequence};
  }
  for (std::size_t i = 0; i < producer->batch_count; ++i) {
    const auto& known = producer->batches[i];
    if (known.first_sequence == facts.base_sequence && known.last_sequence == facts.last_sequence()) {
      return {SequenceVerdict::duplicate, known.base_offset, known.max_timestamp};
    }
  }
  // With an empty window (its epoch came from a marker) the next sequence is 0.
  const auto expected = producer->batch_count == 0 ? 0 : protocol::sequence_plus(producer->last_sequence(), 1);
  return {.verdict = without_epoch || facts.base_sequence == expected ? SequenceVerdict::accept
                                                                      : SequenceVerdict::out_of_sequence};
}

void ProducerTable::apply(const protocol::BatchFacts& facts, Offset base_offset, Millis append_ms) {
  if (!facts.has_producer() || facts.producer_epoch < protocol::kNoProducerEpoch) {
    return;
  }
  auto& producer = producers_[facts.producer_id];
  producer.id = facts.producer_id;
  if (facts.producer_epoch != producer.epoch) {
    producer.epoch = facts.producer_epoch;
    producer.batch_count = 0;
    producer.batches = {};
  }
  producer.last_update_ms = append_ms;
  if (facts.is_control() || facts.base_sequence < 0) {
    return;
  }
  if (producer.batch_count == kProducerWindow) {
    std::move(producer.batches.begin() + 1, producer.batches.end(), producer.batches.begin());
    producer.batch_count -= 1;
  }
  producer.batches[producer.batch_count++] = {facts.base_sequence, facts.last_sequence(), base_offset,
                                              base_offset + facts.last_offset_delta, facts.max_timestamp};
}

void ProducerTable::expire(Millis now, Millis expiration_ms) {
  std::erase_if(producers_, [&](const auto& entry) {
    const auto& producer = entry.second;
    return producer.open_transaction.value < 0 && now - producer.last_update_ms >= expiration_ms;
  });
}

void ProducerTable::truncate_to(Offset log_end) {
  for (auto at = producers_.begin(); at != producers_.end();) {
    auto& producer = at->second;
    const auto had = producer.batch_count;
    while (producer.batch_count > 0 && producer.batches[producer.batch_count - 1U].last_offset >= log_end) {
      producer.batch_count -= 1;
      producer.batches[producer.batch_count] = {};
    }
    if (producer.open_transaction >= log_end) {
      producer.open_transaction = Offset{-1};
    }
    at = had > 0 && producer.batch_count == 0 ? producers_.erase(at) : std::next(at);
  }
}

const Producer* ProducerTable::find(std::int64_t producer_id) const {
  const auto found = producers_.find(producer_id);
  return found == producers_.end() ? nullptr : &found->second;
}

std::vector<Producer> ProducerTable::list() const {
  std::vector<Producer> all;
  all.reserve(producers_.size());
  for (const auto& [id, producer] : producers_) {
    all.push_back(producer);
  }
  std::ranges::sort(all, {}, &Producer::id);
  return all;
}

std::vector<std::vector<std::byte>> ProducerTable::encode(std::size_t bytes_max) const {
  std::vector<std::vector<std::byte>> pieces;
  std::uint32_t count = 0;
  for (const auto& producer : list()) {
    const auto size = kProducerSize + producer.batch_count * kBatchSize;
    if (pieces.empty() || pieces.back().size() + size > bytes_max) {
      pieces.emplace_back();
      put(pieces.back(), kSnapshotVersion);
      put(pieces.back(), std::uint16_t{0});
      put(pieces.back(), std::uint32_t{0});
      count = 0;
    }
    put_producer(pieces.back(), producer);
    store_le(pieces.back(), 4, ++count);
  }
  return pieces;
}

Result<void> ProducerTable::merge(Bytes snapshot) {
  LittleReader reader{snapshot};
  const auto version = reader.take<std::uint16_t>();
  const auto reserved = reader.take<std::uint16_t>();
  const auto count = reader.take<std::uint32_t>();
  if (reader.failed()) {
    return {Errc::truncated, static_cast<std::int64_t>(kSnapshotHeaderSize)};
  }
  if (version != kSnapshotVersion) {
    return {Errc::unsupported, version};
  }
  if (reserved != 0 || count > reader.rest().size() / kProducerSize) {
    return {Errc::corrupt, count};
  }
  std::vector<Producer> found;
  found.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto producer = take_producer(reader);
    if (!producer || (!found.empty() && producer->id <= found.back().id)) {
      return {Errc::corrupt, i};
    }
    found.push_back(*producer);
  }
  if (!reader.at_end()) {
    return {Errc::corrupt, count};
  }
  for (auto& producer : found) {
    producers_.insert_or_assign(producer.id, producer);
  }
  return {};
}

}  // namespace weir::log
