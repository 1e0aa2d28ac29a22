#include "protocol/record_walk.hpp"

#include <algorithm>

namespace weir::protocol {

bool PackedRecords::skip(std::size_t count) {
  while (count > end_ - start_) {
    count -= end_ - start_;
    start_ = end_;
    refill(1);
    if (start_ == end_) {
      return false;
    }
  }
  start_ += count;
  return true;
}

void PackedRecords::refill(std::size_t count) {
  std::memmove(window_.get(), window_.get() + start_, end_ - start_);
  passed_ += start_;
  end_ -= start_;
  start_ = 0;
  while (end_ < count && !ended_) {
    const auto more = from_.read({window_.get() + end_, kWindowSize - end_});
    if (!more) {
      failure_ = more.error();
    }
    ended_ = !more || *more == 0;
    end_ += more ? *more : 0;
  }
}

}  // namespace weir::protocol
