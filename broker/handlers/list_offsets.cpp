// ListOffsets (key 2): offsets by time or by special timestamp. Time lookups may read batches, so they run on the
// pool, and so does a request about very many partitions.
#include "protocol/gen/list_offsets.hpp"

#include <map>

#include "broker/error_map.hpp"
#include "broker/handlers/handlers.hpp"
#include "broker/partition_lookup.hpp"
#include "broker/request_entries.hpp"

namespace weir::broker {
namespace {
using protocol::ErrorCode;
using protocol::ListOffsetsRequest;
using protocol::ListOffsetsResponse;
using PartitionAnswer = ListOffsetsResponse::ListOffsetsPartitionResponse;

constexpr std::int8_t kReadCommitted = 1;
constexpr std::int16_t kFirstWithEpoch = 4;
constexpr int kAnswered = -1;
constexpr std::size_t kManyPartitions = 1000;

// The special timestamps and the first version that knows each. There is no tiered storage here: what is local is all.
enum Special : std::int64_t {
  latest = -1,
  earliest = -2,
  max_timestamp = -3,
  earliest_local = -4,
  latest_tiered = -5,
  earliest_pending_upload = -6
};
struct SpecialVersion {
  std::int64_t timestamp;
  std::int16_t since;
};
constexpr std::array kSpecials{SpecialVersion{latest, 1},        SpecialVersion{earliest, 1},
                               SpecialVersion{max_timestamp, 7}, SpecialVersion{earliest_local, 8},
                               SpecialVersion{latest_tiered, 9}, SpecialVersion{earliest_pending_upload, 11}};

bool known_special(std::int64_t timestamp, std::int16_t version) {
  return std::ranges::any_of(
      kSpecials, [&](const auto& special) { return special.timestamp == timestamp && version >= special.since; });
}

PartitionAnswer failed(std::int32_t index, ErrorCode code) {
  return {.partition_index = index, .error_code = wire(code), .timestamp = -1, .offset = -1, .leader_epoch = -1};
}

PartitionAnswer at(std::int32_t index, Offset offset, LeaderEpoch epoch, Millis timestamp = -1) {
  return {.partition_index = index, .timestamp = timestamp, .offset = offset.value, .leader_epoch = epoch.value};
}

class Listing {
 public:
  Listing(const Services& services, const ListOffsetsRequest& request, std::int16_t version)
      : services_(services), request_(request), version_(version), image_(services.controller.image()) {}

  // Topics that are named twice are one by now (merge_topics).
  ListOffsetsResponse run() {
    std::map<std::pair<std::string_view, std::int32_t>, int> named;
    for (const auto& topic : request_.topics) {
      for (const auto& part : topic.partitions) {
        ++named[{topic.name.view(), part.partition_index}];
      }
    }
    ListOffsetsResponse response;
    for (const auto& topic : request_.topics) {
      auto& answers = response.topics.emplace_back();
      answers.name = topic.name;
      for (const auto& part : topic.partitions) {
        auto& times = named[{topic.name.view(), part.partition_index}];
        if (times == kAnswered) {
          continue;
        }
        const bool twice = times > 1;
        answers.partitions.push_back(twice ? failed(part.partition_index, ErrorCode::invalid_request)
                                           : look_up(topic.name, part));
        times = kAnswered;  // a partition that is named twice is refused once
        if (version_ < kFirstWithEpoch) {
          answers.partitions.back().leader_epoch = -1;
        }
      }
    }
    return response;
  }

 private:
  PartitionAnswer look_up(std::string_view topic, const ListOffsetsRequest::ListOffsetsPartition& part) const {
    const auto index = part.partition_index;
    if (part.timestamp < 0 && !known_special(part.timestamp, version_)) {
      return failed(index, ErrorCode::unsupported_version);
    }
    const auto found = find_partition(*image_, services_.log, topic, Uuid{}, index);
    if (found.error != ErrorCode::none) {
      return failed(index, found.error);
    }
    const auto& partition = *found.partition;
    if (const auto code = check_leader_epoch(partition, part.current_leader_epoch); code != ErrorCode::none) {
      return failed(index, code);
    }
    const auto bound =
        request_.isolation_level == kReadCommitted ? partition.last_stable_offset() : partition.high_watermark();
    switch (part.timestamp) {
      case latest: return at(index, bound, partition.leader_epoch());
      case earliest:
      case earliest_local: {
        const auto start = partition.log_start();
        return at(index, start, services_.log.epoch_at(partition, start));
      }
      case latest_tiered:
      case earliest_pending_upload: return failed(index, ErrorCode::none);
      case max_timestamp: return by_time(index, services_.log.find_max_timestamp(partition, bound));
      default: return by_time(index, services_.log.find_by_time(partition, part.timestamp, bound));
    }
  }

  static PartitionAnswer by_time(std::int32_t index, const Result<std::optional<log::TimestampAndOffset>>& found) {
    if (!found) {
      return failed(index, read_error(found.error().code));
    }
    if (!*found) {
      return failed(index, ErrorCode::none);
    }
    return at(index, (*found)->offset, (*found)->leader_epoch, (*found)->timestamp);
  }

  const Services& services_;
  const ListOffsetsRequest& request_;
  const std::int16_t version_;
  const metadata::ImagePointer image_;
};

bool takes_long(const ListOffsetsRequest& request) {
  std::size_t partitions = 0;
  for (const auto& topic : request.topics) {
    partitions += topic.partitions.size();
  }
  if (partitions > kManyPartitions) {
    return true;
  }
  return std::ranges::any_of(request.topics, [](const auto& topic) {
    return std::ranges::any_of(topic.partitions,
                               [](const auto& part) { return part.timestamp >= 0 || part.timestamp == max_timestamp; });
  });
}

}  // namespace

void handle(RequestContext context, ListOffsetsRequest request, Reply<ListOffsetsResponse> reply) {
  merge_topics(request.topics, &ListOffsetsRequest::ListOffsetsTopic::partitions,
               [](const auto& topic) { return topic.name.view(); });
  if (!takes_long(request)) {
    return reply(Listing{context.services, request, context.api_version}.run());
  }
  context.services.runtime.pool.post(
      [context = std::move(context), request = std::move(request), reply = std::move(reply)]() mutable {
        auto frame = reply.encode(Listing{context.services, request, context.api_version}.run());
        context.loop.post(
            [frame = std::move(frame), reply = std::move(reply)]() mutable { reply.send_encoded(std::move(frame)); });
      });
}

}  // namespace weir::broker
