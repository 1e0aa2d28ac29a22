// Whole tasks of a simulated client: create a topic, read a partition.
#include "protocol/gen/create_topics.hpp"
#include "protocol/gen/fetch.hpp"
#include "protocol/record.hpp"
#include "sim/sim_producer.hpp"

namespace weir::sim {
namespace {
using protocol::CreateTopicsRequest;
using protocol::CreateTopicsResponse;
using protocol::FetchRequest;
using protocol::FetchResponse;
constexpr std::int16_t kFetchByName = 12;
constexpr std::int16_t kAlreadyExists = 36;
constexpr std::int32_t kFetchBytes = 200'000;

Result<client::Answered<FetchResponse>> fetch(World& world, client::Connection& connection, const SimTopic& topic,
                                              std::int32_t partition, std::int64_t offset) {
  FetchRequest request;
  request.max_wait_ms = 0;
  request.max_bytes = kFetchBytes;
  auto& asked = request.topics.emplace_back();
  asked.topic = topic.name;
  asked.partitions.push_back({.partition = partition, .fetch_offset = offset, .partition_max_bytes = kFetchBytes});
  auto answer = std::make_shared<std::optional<Result<client::Answered<FetchResponse>>>>();
  connection.call_version<FetchRequest, FetchResponse>(
      request, kFetchByName, [answer](Result<client::Answered<FetchResponse>> got) { *answer = std::move(got); });
  if (!world.run_until([&] { return answer->has_value(); }, World::kPatienceMs)) {
    return Errc::timed_out;
  }
  return std::move(**answer);
}
}  // namespace

std::int64_t take_records(Bytes batches, std::int64_t offset, std::vector<ReadBack>& all) {
  protocol::BatchChain chain{batches};
  while (const auto batch = chain.next()) {
    if (!*batch) {
      break;
    }
    protocol::RecordCursor cursor{(*batch)->payload()};
    while (const auto record = cursor.next()) {
      if (!*record) {
        break;
      }
      const auto at = (*batch)->base_offset() + (*record)->offset_delta;
      if (at >= offset) {
        all.push_back({at, std::string{as_text(*(*record)->value)}});
      }
    }
    offset = (*batch)->last_offset() + 1;
  }
  return offset;
}

bool create_topic(World& world, const SimTopic& topic, const std::map<std::string, std::string>& configs) {
  const auto connection = world.connect();
  if (!connection) {
    return false;
  }
  CreateTopicsRequest request;
  request.timeout_ms = 30'000;
  auto& wanted = request.topics.emplace_back();
  wanted.name = topic.name;
  wanted.num_partitions = topic.partitions;
  wanted.replication_factor = 1;
  for (const auto& [name, value] : configs) {
    wanted.configs.push_back({.name = name, .value = protocol::Text{value}});
  }
  const auto answer = world.call<CreateTopicsRequest, CreateTopicsResponse>(**connection, request);
  (*connection)->close();
  if (!answer) {
    return false;
  }
  const auto error = answer->response.topics.front().error_code;
  return error == 0 || error == kAlreadyExists;
}

std::optional<std::vector<ReadBack>> read_all(World& world, const SimTopic& topic, std::int32_t partition,
                                              std::string& why) {
  const auto connection = world.connect();
  if (!connection) {
    why = "no connection";
    return std::nullopt;
  }
  std::vector<ReadBack> all;
  std::int64_t offset = 0;
  while (true) {
    const auto answer = fetch(world, **connection, topic, partition, offset);
    if (!answer) {
      why = "fetch: " + to_string(answer.error());
      return std::nullopt;
    }
    const auto& data = answer->response.responses.front().partitions.front();
    if (data.error_code != 0) {
      why = "fetch at " + std::to_string(offset) + ": error " + std::to_string(data.error_code);
      return std::nullopt;
    }
    if (offset >= data.high_watermark) {
      break;
    }
    const auto bytes = data.records ? data.records->flatten() : std::vector<std::byte>{};
    const auto next = take_records(bytes, offset, all);
    if (next == offset) {
      why = "fetch at " + std::to_string(offset) + " below the high watermark gave nothing";
      return std::nullopt;
    }
    offset = next;
  }
  (*connection)->close();
  return all;
}

}  // namespace weir::sim
