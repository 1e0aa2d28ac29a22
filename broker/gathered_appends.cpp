#include "broker/gathered_appends.hpp"

#include <algorithm>

namespace weir::broker {

GatheredAppends::GatheredAppends(log::CommitLog& log, const std::vector<IoLoop*>& loops) : log_(log) {
  for (auto* loop : loops) {
    turns_.push_back(std::make_unique<Turn>(*loop));
  }
}

void GatheredAppends::append(const IoLoop& loop, std::span<log::Append> requests) {
  if (requests.empty()) {
    return;
  }
  const auto found = std::ranges::find_if(turns_, [&](const auto& turn) { return &turn->loop == &loop; });
  WEIR_CHECK(found != turns_.end());
  auto& turn = **found;
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

void GatheredAppends::hand_over(Turn& turn) {
  turn.bytes = 0;
  if (!turn.requests.empty()) {
    log_.append(turn.requests);
    turn.requests.clear();
  }
}

}  // namespace weir::broker
