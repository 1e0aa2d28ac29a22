#include "broker/fetch_session.hpp"

#include <algorithm>
#include <limits>

#include "base/check.hpp"

namespace weir::broker {
using protocol::ErrorCode;

void FetchSessions::Session::set(FetchTarget target) {
  if (const auto found = by_key.find(target.key); found != by_key.end()) {
    found->second->target = std::move(target);
    return;
  }
  auto key = target.key;
  order.push_back({.target = std::move(target)});
  by_key.emplace(std::move(key), std::prev(order.end()));
}

FetchSessions::Opened FetchSessions::open(std::int32_t session_id, std::int32_t session_epoch, bool by_id,
                                          std::vector<FetchTarget> asked, const std::vector<FetchKey>& forgotten,
                                          Millis now_ms) noexcept {
  const std::lock_guard lock{mutex_};
  if (session_epoch == kEpochInitial || session_epoch == kEpochFinal) {
    sessions_.erase(session_id);
    if (session_epoch == kEpochInitial) {
      return open_new(by_id, std::move(asked), now_ms);
    }
    return {.targets = std::move(asked)};
  }
  const auto found = sessions_.find(session_id);
  if (found == sessions_.end()) {
    return {.error = ErrorCode::fetch_session_id_not_found};
  }
  auto& session = found->second;
  if (session.epoch != session_epoch) {
    return {.error = ErrorCode::invalid_fetch_session_epoch};
  }
  if (session.by_id != by_id) {
    return {.error = ErrorCode::fetch_session_topic_id_error};
  }
  session.epoch = session.epoch == std::numeric_limits<std::int32_t>::max() ? 1 : session.epoch + 1;
  session.used_ms = now_ms;
  for (const auto& target : asked) {
    session.set(target);
  }
  for (const auto& key : forgotten) {
    if (auto node = session.by_key.extract(key)) {
      session.order.erase(node.mapped());
    }
  }
  if (session.order.empty()) {
    // Nothing is left of it: what was asked for is answered like a fetch without a session.
    sessions_.erase(found);
    return {.targets = std::move(asked)};
  }
  Opened opened{.session_id = session_id, .incremental = true};
  opened.targets.reserve(session.order.size());
  for (const auto& cached : session.order) {
    opened.targets.push_back(cached.target);
  }
  return opened;
}

FetchSessions::Opened FetchSessions::open_new(bool by_id, std::vector<FetchTarget> asked, Millis now_ms) {
  Opened opened;
  if (make_room(now_ms)) {
    do {
      opened.session_id = static_cast<std::int32_t>(1 + random_.below(std::numeric_limits<std::int32_t>::max()));
    } while (sessions_.contains(opened.session_id));
    auto& session = sessions_[opened.session_id];
    session.by_id = by_id;
    session.used_ms = now_ms;
    for (const auto& target : asked) {
      session.set(target);
    }
  }
  opened.targets = std::move(asked);
  return opened;
}

bool FetchSessions::make_room(Millis now_ms) {
  if (sessions_.size() < slots_max_) {
    return true;
  }
  const auto oldest = std::ranges::min_element(sessions_, {}, [](const auto& entry) { return entry.second.used_ms; });
  if (oldest == sessions_.end() || now_ms - oldest->second.used_ms < kEvictAfterIdleMs) {
    return false;
  }
  sessions_.erase(oldest);
  return true;
}

std::vector<bool> FetchSessions::must_send(std::int32_t session_id, const std::vector<FetchTarget>& targets,
                                           const std::vector<FetchedFacts>& facts) noexcept {
  WEIR_CHECK(targets.size() == facts.size());
  std::vector<bool> send(targets.size(), true);
  const std::lock_guard lock{mutex_};
  const auto found = sessions_.find(session_id);
  if (found == sessions_.end()) {
    return send;
  }
  auto& session = found->second;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto cached = session.by_key.find(targets[i].key);
    if (cached == session.by_key.end()) {
      continue;
    }
    const auto& fact = facts[i];
    auto& sent = *cached->second;
    send[i] = fact.has_records || fact.diverging || fact.error != ErrorCode::none ||
              fact.high_watermark != sent.high_watermark || fact.log_start != sent.log_start;
    // After an error the next good answer must be sent whatever it says.
    sent.high_watermark = fact.error == ErrorCode::none ? fact.high_watermark : -1;
    sent.log_start = fact.log_start;
    // The answer to the full fetch that opened the session leaves the order as it was asked for, as Kafka's does.
    if (fact.has_records && session.epoch != 1) {
      session.order.splice(session.order.end(), session.order, cached->second);
    }
  }
  return send;
}

std::size_t FetchSessions::size() const {
  const std::lock_guard lock{mutex_};
  return sessions_.size();
}

}  // namespace weir::broker
