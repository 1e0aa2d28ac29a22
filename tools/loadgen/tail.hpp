// Tail: records produced one by one at a steady pace, and how long each takes until a consumer that waits at the end of
// the partition has it. Two connections on one io loop; the clock is the same for both.
#pragma once

#include "tools/loadgen/channel.hpp"
#include "tools/loadgen/worker.hpp"

namespace weir::loadgen {

class Tail : public std::enable_shared_from_this<Tail> {
 public:
  static constexpr Millis kPaceMs = 1;  // a record each
  // `records` into partition 0 of the plan's topic, which nobody else writes to. Latencies in the tally are end to end.
  Tail(const Plan& plan, const Clock& clock, IoLoop& loop, std::int64_t records, std::int64_t deadline_ns,
       UniqueFunction<void(Tally)> done);
  void start(std::unique_ptr<Stream> producer, std::unique_ptr<Stream> consumer);

 private:
  void fetch(Millis wait_ms);
  void on_fetched(const SharedBytes& frame);
  void send_next();
  void finish();

  const Plan& plan_;
  const Clock& clock_;
  IoLoop& loop_;
  const std::int64_t records_;
  const std::int64_t deadline_ns_;
  UniqueFunction<void(Tally)> done_;
  std::shared_ptr<Channel> producer_;
  std::shared_ptr<Channel> consumer_;
  std::vector<std::byte> frame_;
  std::int64_t first_offset_ = -1;     // where the partition ended before
  std::int64_t next_offset_ = 0;       // to be fetched
  std::vector<std::int64_t> sent_ns_;  // by offset from first_offset_
  std::int32_t next_correlation_id_ = 1;
  bool finished_ = false;
  Tally tally_;
};

}  // namespace weir::loadgen
