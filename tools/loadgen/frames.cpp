#include "tools/loadgen/frames.hpp"

#include "base/random.hpp"
#include "protocol/frames.hpp"
#include "protocol/gen/fetch.hpp"
#include "protocol/gen/produce.hpp"
#include "protocol/record.hpp"

namespace weir::loadgen {
namespace {
constexpr std::int16_t kProduceVersion = 9;
constexpr std::int16_t kFetchVersion = 12;
constexpr std::size_t kCorrelationIdAt = 8;  // length, key, version
constexpr std::string_view kText = "the quick brown fox jumps over the lazy dog ";

template <class Request>
std::vector<std::byte> frame_of(const Request& request, std::int16_t version) {
  protocol::Writer body;
  WEIR_CHECK(encode(body, version, request).has_value());
  return protocol::request_frame(Request::kApiKey, version, 0, "weir-loadgen", body.finish()).flatten();
}

template <class Response>
Response read_answer(const SharedBytes& frame, std::int16_t version) {
  auto parsed = protocol::parse_response(frame, Response::kApiKey, version);
  Response response;
  WEIR_CHECK(parsed && decode(parsed->body, version, response));
  return response;
}
}  // namespace

std::vector<std::byte> make_batch(const BatchShape& shape, std::uint64_t seed, Millis timestamp) {
  Random random{seed};
  protocol::RecordBatchBuilder builder;
  std::vector<std::byte> value(shape.record_bytes);
  for (std::int32_t i = 0; i < shape.records; ++i) {
    for (std::size_t at = 0; at < value.size(); ++at) {
      value[at] = at < value.size() / 2 ? static_cast<std::byte>(random.below(256))
                                        : static_cast<std::byte>(kText[at % kText.size()]);
    }
    builder.append({.value = Bytes{value}, .timestamp = timestamp});
  }
  auto batch = builder.build();
  WEIR_CHECK(batch.has_value());
  return std::move(*batch);
}

std::vector<std::byte> produce_frame(const std::string& topic, std::int32_t partition, std::int16_t acks,
                                     std::vector<std::byte> batch) {
  protocol::ProduceRequest request;
  request.acks = acks;
  request.timeout_ms = 30'000;
  auto& data = request.topic_data.emplace_back();
  data.name = topic;
  data.partition_data.push_back({.index = partition, .records = BufferChain{SharedBytes::adopt(std::move(batch))}});
  return frame_of(request, kProduceVersion);
}

std::vector<std::byte> fetch_frame(const std::string& topic, std::int32_t partition, std::int64_t offset,
                                   std::int32_t bytes_max, Millis wait_ms) {
  protocol::FetchRequest request;
  request.max_wait_ms = static_cast<std::int32_t>(wait_ms);
  request.min_bytes = 1;
  request.max_bytes = bytes_max;
  auto& asked = request.topics.emplace_back();
  asked.topic = topic;
  asked.partitions.push_back({.partition = partition, .fetch_offset = offset, .partition_max_bytes = bytes_max});
  return frame_of(request, kFetchVersion);
}

void set_correlation_id(std::vector<std::byte>& frame, std::int32_t id) {
  store_be(MutableBytes{frame}, kCorrelationIdAt, id);
}

ProduceAnswer read_produce_answer(const SharedBytes& frame) {
  const auto response = read_answer<protocol::ProduceResponse>(frame, kProduceVersion);
  for (const auto& topic : response.responses) {
    for (const auto& part : topic.partition_responses) {
      if (part.error_code != 0) {
        return {part.error_code};
      }
    }
  }
  return {};
}

FetchAnswer read_fetch_answer(const SharedBytes& frame) {
  const auto response = read_answer<protocol::FetchResponse>(frame, kFetchVersion);
  FetchAnswer answer{.error = response.error_code};
  for (const auto& topic : response.responses) {
    for (const auto& part : topic.partitions) {
      if (part.error_code != 0) {
        answer.error = part.error_code;
      }
      answer.high_watermark = part.high_watermark;
      if (!part.records || part.records->empty()) {
        continue;
      }
      answer.bytes += part.records->size();
      protocol::BatchChain batches{std::get<SharedBytes>(part.records->pieces().front()).view()};
      while (const auto batch = batches.next()) {
        if (!*batch) {
          break;
        }
        answer.next_offset = (*batch)->last_offset() + 1;
      }
    }
  }
  return answer;
}

}  // namespace weir::loadgen
