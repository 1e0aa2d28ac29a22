// Prebuilt request frames for the load generator: the generator's own cost stays small, so that what is measured is the
// broker. Only the correlation id of a copy is patched.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/ids.hpp"

namespace weir::loadgen {

struct BatchShape {
  std::int32_t records = 1;
  std::size_t record_bytes = 1024;
};

// Half random bytes, half repeating text, so that codecs find something and not too much. `timestamp` is of all
// records; one far in the past makes brokers drop them by age.
std::vector<std::byte> make_batch(const BatchShape& shape, std::uint64_t seed, Millis timestamp);
// Produce version 9 / Fetch version 12, by topic name: the newest that both Kafka and Weir take without topic ids.
std::vector<std::byte> produce_frame(const std::string& topic, std::int32_t partition, std::int16_t acks,
                                     std::vector<std::byte> batch);
std::vector<std::byte> fetch_frame(const std::string& topic, std::int32_t partition, std::int64_t offset,
                                   std::int32_t bytes_max, Millis wait_ms);
void set_correlation_id(std::vector<std::byte>& frame, std::int32_t id);

// What an answer says; error is the first that is not 0.
struct ProduceAnswer {
  std::int16_t error = 0;
};
struct FetchAnswer {
  std::int16_t error = 0;
  std::size_t bytes = 0;
  std::int64_t next_offset = -1;  // behind the last whole batch; -1 when there was none
  std::int64_t high_watermark = -1;
};
ProduceAnswer read_produce_answer(const SharedBytes& frame);
FetchAnswer read_fetch_answer(const SharedBytes& frame);

}  // namespace weir::loadgen
