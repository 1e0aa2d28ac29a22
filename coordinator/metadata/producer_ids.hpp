// ProducerIdSource: hands out producer ids one by one from blocks that the controller allots. Any thread may ask; the
// answer runs on the asker's executor. Ids are never given twice; what is left of a block is lost at a restart, as in
// Kafka. Owned by the broker, dies before the controller.
#pragma once

#include <deque>
#include <mutex>

#include "coordinator/metadata/controller.hpp"

namespace weir::metadata {

class ProducerIdSource {
 public:
  explicit ProducerIdSource(Controller& controller) : controller_(controller) {}
  void next(Executor& reply_on, Answer<Result<std::int64_t>> done) noexcept;

 private:
  struct Waiter {
    Executor* reply_on;
    Answer<Result<std::int64_t>> done;
  };
  void refilled(Result<ProducerIdBlock> block);

  Controller& controller_;
  std::mutex mutex_;  // held for a few instructions, never while calling out
  std::int64_t next_ = 0;
  std::int64_t end_ = 0;
  bool refilling_ = false;
  std::deque<Waiter> waiters_;
};

}  // namespace weir::metadata
