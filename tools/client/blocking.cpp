#include "tools/client/blocking.hpp"

#include <map>

#include "protocol/errors.hpp"
#include "protocol/gen/list_offsets.hpp"

namespace weir::client {
namespace {
using protocol::ErrorCode;
constexpr Millis kRetryMs = 50;

// Of the topic, or the first of its partitions that has no leader.
std::int16_t error_of(const TopicInfo& topic) {
  if (topic.error != 0) {
    return topic.error;
  }
  for (const auto& part : topic.partitions) {
    if (part.leader < 0) {
      return part.error != 0 ? part.error : wire(ErrorCode::leader_not_available);
    }
  }
  return topic.partitions.empty() ? wire(ErrorCode::leader_not_available) : std::int16_t{0};
}

bool worth_another_try(std::int16_t error, bool create) {
  if (error == wire(ErrorCode::leader_not_available)) {
    return true;
  }
  return create && error == wire(ErrorCode::unknown_topic_or_partition);
}

}  // namespace

Blocking::Blocking(std::vector<Endpoint> servers, Millis timeout_ms)
    : cluster_(Cluster::make(network_, io_, clock_, {.bootstrap = std::move(servers), .timeout_ms = timeout_ms})) {}

Blocking::~Blocking() {
  io_.post([this] { cluster_->close(); });
  io_.stop();
}

Result<std::vector<TopicInfo>> Blocking::topics(std::optional<std::vector<std::string>> names, bool create) {
  return wait<std::vector<TopicInfo>>([&](auto done) { cluster_->topics(std::move(names), create, std::move(done)); });
}

Result<TopicInfo> Blocking::topic(const std::string& name, bool create) {
  const auto deadline = clock_.monotonic_ms() + cluster_->options().timeout_ms;
  for (;;) {
    WEIR_TRY(auto found, topics(std::vector<std::string>{name}, create));
    if (found.empty()) {
      return {Errc::not_found};
    }
    found.front().error = error_of(found.front());
    if (!worth_another_try(found.front().error, create) || clock_.monotonic_ms() >= deadline) {
      return std::move(found.front());
    }
    pause(kRetryMs);
  }
}

Result<std::vector<PartitionOffset>> Blocking::offsets(const TopicInfo& topic, std::int64_t time) {
  std::map<std::int32_t, std::vector<std::int32_t>> by_leader;
  for (const auto& part : topic.partitions) {
    by_leader[part.leader].push_back(part.index);
  }
  std::vector<PartitionOffset> offsets;
  for (const auto& [leader, indexes] : by_leader) {
    protocol::ListOffsetsRequest request;
    request.replica_id = -1;
    auto& asked = request.topics.emplace_back();
    asked.name = protocol::Text{topic.name};
    for (const auto index : indexes) {
      asked.partitions.push_back({.partition_index = index, .timestamp = time});
    }
    WEIR_TRY(const auto answer,
             (call<protocol::ListOffsetsRequest, protocol::ListOffsetsResponse>(std::move(request), leader)));
    for (const auto& told : answer.response.topics) {
      for (const auto& part : told.partitions) {
        offsets.push_back({part.partition_index, part.offset, part.error_code});
      }
    }
  }
  std::ranges::sort(offsets, {}, &PartitionOffset::index);
  return offsets;
}

std::string Blocking::address() const {
  std::string all;
  for (const auto& server : cluster_->options().bootstrap) {
    all += (all.empty() ? "" : ",") + to_string(server);
  }
  return all;
}

void Blocking::pause(Millis delay_ms) {
  [[maybe_unused]] const auto passed =
      wait<bool>([&](auto done) { cluster_->after(delay_ms, [done = std::move(done)]() mutable { done(true); }); });
}

}  // namespace weir::client
