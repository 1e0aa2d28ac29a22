// Fetcher: reads partitions of one topic from their leaders, the next answer already asked for while the caller works
// on the last one. Owned and used by one thread, not the loop; the Blocking outlives it.
#pragma once

#include <future>
#include <map>
#include <string>
#include <vector>

#include "protocol/gen/fetch.hpp"
#include "tools/client/blocking.hpp"

namespace weir::client {

struct FetchedBatches {
  std::int32_t partition = 0;
  SharedBytes bytes;  // whole batches with right checksums, nothing else
};

struct FetchFailure {
  std::int16_t code =
      0;  // 0: `error` says what was wrong with reaching the broker, or `damaged_at` what with its bytes
  Error error{Errc::closed};
  std::int32_t partition = -1;
  std::int64_t damaged_at = -1;  // what came at this offset is no sound batch; what came before was given out
};

class Fetcher {
 public:
  struct Options {
    Millis wait_ms = 500;  // the broker waits that long for a first byte
    std::int32_t partition_bytes = 1024 * 1024;
    std::int32_t bytes_max = 16 * 1024 * 1024;
    Millis give_up_ms = 30'000;  // without any answer that helps
  };
  // `from`: partition to the first offset wanted. Partitions may be dropped later.
  Fetcher(Blocking& broker, TopicInfo topic, std::map<std::int32_t, std::int64_t> from, Options options);
  ~Fetcher();

  // What the next leader in turn sends; often nothing, when nothing is new. Check failure() when nothing came.
  std::vector<FetchedBatches> next();
  void drop(std::int32_t partition) { from_.erase(partition); }
  // The next offset that is not given out yet.
  [[nodiscard]] const std::map<std::int32_t, std::int64_t>& positions() const { return from_; }
  [[nodiscard]] const std::optional<FetchFailure>& failure() const { return failure_; }

 private:
  using Answer = Result<Answered<protocol::FetchResponse>>;
  void ask(std::int32_t leader);
  void ask_all();
  void take(const protocol::FetchResponse& response, std::vector<FetchedBatches>& fetched);
  void take_partition(std::int32_t index, const BufferChain& records, std::vector<FetchedBatches>& fetched);
  void unhelpful(FetchFailure failure);

  Blocking& broker_;
  TopicInfo topic_;
  std::map<std::int32_t, std::int64_t> from_;
  Options options_;
  std::map<std::int32_t, std::future<Answer>> under_way_;  // by leader
  std::int32_t turn_ = -1;
  std::optional<FetchFailure> failure_;
  Millis last_progress_ms_;
  bool look_again_ = false;  // leaders have to be asked for anew
};

}  // namespace weir::client
