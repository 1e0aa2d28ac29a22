#include "coordinator/metadata/producer_ids.hpp"

namespace weir::metadata {

void ProducerIdSource::next(Executor& reply_on, Answer<Result<std::int64_t>> done) noexcept {
  std::optional<std::int64_t> id;
  bool refill_now = false;
  {
    const std::lock_guard lock{mutex_};
    if (next_ < end_) {
      id = next_++;
    } else {
      waiters_.push_back({&reply_on, std::move(done)});
      refill_now = !std::exchange(refilling_, true);
    }
  }
  if (id) {
    reply_on.post([done = std::move(done), id = *id]() mutable { done(id); });
  } else if (refill_now) {
    controller_.allocate_producer_ids(reply_on, [this](Result<ProducerIdBlock> block) { refilled(std::move(block)); });
  }
}

void ProducerIdSource::refilled(Result<ProducerIdBlock> block) {
  std::vector<std::pair<Waiter, Result<std::int64_t>>> answers;
  Executor* ask_again_on = nullptr;
  {
    const std::lock_guard lock{mutex_};
    if (block) {
      next_ = block->first;
      end_ = block->first + block->count;
    }
    while (!waiters_.empty() && (!block || next_ < end_)) {
      answers.emplace_back(std::move(waiters_.front()), block ? Result<std::int64_t>{next_++} : block.error());
      waiters_.pop_front();
    }
    refilling_ = !waiters_.empty();
    ask_again_on = refilling_ ? waiters_.front().reply_on : nullptr;
  }
  for (auto& [waiter, id] : answers) {
    waiter.reply_on->post([done = std::move(waiter.done), given = std::move(id)]() mutable { done(std::move(given)); });
  }
  if (ask_again_on != nullptr) {
    controller_.allocate_producer_ids(*ask_again_on,
                                      [this](Result<ProducerIdBlock> more) { refilled(std::move(more)); });
  }
}

}  // namespace weir::metadata
