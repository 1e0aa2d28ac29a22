// Worker: one connection that keeps a window of prebuilt requests in flight until the shared budget is used up. Lives
// on one io loop. Latencies are kept in microseconds, one a request.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "tools/loadgen/channel.hpp"
#include "tools/loadgen/frames.hpp"

namespace weir::loadgen {

struct Plan {
  Endpoint to;
  std::string topic;
  bool fetch = false;
  std::int32_t partitions = 6;
  std::int32_t window = 1;
  std::int16_t acks = -1;
  BatchShape shape;
  std::int32_t fetch_bytes = 1 << 20;
};

struct Shared {
  std::atomic<std::int64_t> requests_left{0};  // produce: what is still to send
  std::atomic<std::int64_t> bytes_left{0};     // fetch: what is still to read
  std::int64_t deadline_ns = 0;                // everything ends here at the latest
};

struct Tally {
  std::int64_t requests = 0;
  std::int64_t bytes = 0;  // of batches
  std::int64_t errors = 0;
  std::vector<std::uint32_t> latencies_us;
};

class Worker : public std::enable_shared_from_this<Worker> {
 public:
  Worker(const Plan& plan, Shared& shared, const Clock& clock, std::int32_t number, UniqueFunction<void(Tally)> done);
  void start(std::unique_ptr<Stream> stream);

 private:
  struct InFlight {
    std::int64_t sent_ns;
    std::int32_t partition;
  };
  [[nodiscard]] bool may_send();
  void fill_window();
  void on_end();
  void on_frame(const SharedBytes& frame);
  void on_fetched(const SharedBytes& frame, std::int32_t partition);
  void note_error(std::int16_t error, std::int32_t partition);  // tells the first one
  void finish();

  const Plan& plan_;
  Shared& shared_;
  const Clock& clock_;
  UniqueFunction<void(Tally)> done_;
  std::shared_ptr<Channel> channel_;
  std::vector<std::vector<std::byte>> frames_;  // produce: one a partition
  std::vector<std::int64_t> offsets_;           // fetch: next one a partition
  std::int32_t next_partition_;
  std::int32_t next_correlation_id_ = 1;
  std::int64_t batch_bytes_ = 0;
  std::deque<InFlight> in_flight_;
  bool finished_ = false;
  Tally tally_;
};

}  // namespace weir::loadgen
