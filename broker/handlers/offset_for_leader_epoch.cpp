// OffsetForLeaderEpoch (key 23): where an epoch ended (EpochList::end_of).
#include "protocol/gen/offset_for_leader_epoch.hpp"

#include "broker/handlers/handlers.hpp"
#include "broker/partition_lookup.hpp"

namespace weir::broker {
using protocol::ErrorCode;
using protocol::OffsetForLeaderEpochRequest;
using protocol::OffsetForLeaderEpochResponse;

void handle(RequestContext context, OffsetForLeaderEpochRequest request, Reply<OffsetForLeaderEpochResponse> reply) {
  const auto& services = context.services;
  const auto image = services.controller.image();
  OffsetForLeaderEpochResponse response;
  for (const auto& topic : request.topics) {
    auto& answers = response.topics.emplace_back();
    answers.topic = topic.topic;
    for (const auto& part : topic.partitions) {
      auto& answer = answers.partitions.emplace_back();
      answer.partition = part.partition;
      const auto found = find_partition(*image, services.log, topic.topic, Uuid{}, part.partition);
      auto code = found.error;
      if (code == ErrorCode::none) {
        code = check_leader_epoch(*found.partition, part.current_leader_epoch);
      }
      answer.error_code = wire(code);
      if (code != ErrorCode::none) {
        continue;
      }
      const auto end = services.log.epoch_end(*found.partition, LeaderEpoch{part.leader_epoch});
      answer.leader_epoch = end.epoch.value;
      answer.end_offset = end.end_offset.value;
    }
  }
  reply(response);
}

}  // namespace weir::broker
