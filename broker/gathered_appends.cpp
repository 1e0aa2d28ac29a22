#include "broker/gathered_appends.hpp"

namespace weir::broker {

void GatheredAppends::append(const IoLoop& loop, std::span<log::Append> requests) noexcept {
  if (requests.empty()) {
    return;
  }
  auto& turn = turns_.of(loop);
  if (turn.requests.empty()) {
    turn.loop.post([this, &turn] { hand_over(turn); });
  }
  for (auto& request : requests) {
    turn.bytes += request.batch.size();
    turn.requests.push_back(std::move(request));
  }
  if (turn.bytes >= kBytesMax) {
    hand_over(turn);
  }
}

void GatheredAppends::hand_over(Turn& turn) noexcept {
  turn.bytes = 0;
  if (!turn.requests.empty()) {
    log_.append(turn.requests);
    turn.requests.clear();
  }
}

}  // namespace weir::broker
