// InitProducerId (key 22): a fresh producer id for an idempotent producer. Transactional ids are not served yet: 42.
#include "protocol/gen/init_producer_id.hpp"

#include "broker/handlers/handlers.hpp"
#include "broker/handlers/held_request.hpp"
#include "broker/partition_lookup.hpp"
#include "coordinator/metadata/producer_ids.hpp"

namespace weir::broker {
using protocol::ErrorCode;
using protocol::InitProducerIdRequest;
using protocol::InitProducerIdResponse;

namespace {

constexpr std::int64_t kNoId = -1;
constexpr std::int16_t kNoEpoch = -1;

InitProducerIdResponse refused(ErrorCode code) {
  InitProducerIdResponse response;
  response.error_code = wire(code);
  response.producer_epoch = kNoEpoch;
  return response;
}

}  // namespace

void handle(RequestContext context, InitProducerIdRequest request, Reply<InitProducerIdResponse> reply) {
  // Id and epoch go together: one without the other is no producer.
  if (request.transactional_id || (request.producer_id == kNoId) != (request.producer_epoch == kNoEpoch)) {
    return reply(refused(ErrorCode::invalid_request));
  }
  const auto held = hold(std::move(context), std::move(request), std::move(reply));
  held->context.services.producer_ids.next(held->context.loop, [held](const Result<std::int64_t>& id) {
    if (!id) {
      return held->reply(refused(ErrorCode::coordinator_not_available));  // retriable, as a coordinator without its log
    }
    InitProducerIdResponse response;
    response.producer_id = *id;
    response.producer_epoch = 0;
    held->reply(response);
  });
}

}  // namespace weir::broker
