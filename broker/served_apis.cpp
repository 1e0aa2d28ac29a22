// The table of served APIs: versions as the schemas have them (what Kafka 4.4 serves), handlers from the list of rows.
#include <new>

#include "base/logging.hpp"
#include "base/out_of_memory.hpp"
#include "broker/dispatch.hpp"
#include "broker/handlers/handlers.hpp"
#include "protocol/gen/alter_configs.hpp"
#include "protocol/gen/api_table.hpp"
#include "protocol/gen/api_versions.hpp"
#include "protocol/gen/create_partitions.hpp"
#include "protocol/gen/create_topics.hpp"
#include "protocol/gen/delete_groups.hpp"
#include "protocol/gen/delete_records.hpp"
#include "protocol/gen/delete_topics.hpp"
#include "protocol/gen/describe_cluster.hpp"
#include "protocol/gen/describe_configs.hpp"
#include "protocol/gen/describe_groups.hpp"
#include "protocol/gen/describe_log_dirs.hpp"
#include "protocol/gen/describe_topic_partitions.hpp"
#include "protocol/gen/explain_group.hpp"
#include "protocol/gen/fetch.hpp"
#include "protocol/gen/find_coordinator.hpp"
#include "protocol/gen/heartbeat.hpp"
#include "protocol/gen/incremental_alter_configs.hpp"
#include "protocol/gen/init_producer_id.hpp"
#include "protocol/gen/join_group.hpp"
#include "protocol/gen/leave_group.hpp"
#include "protocol/gen/list_config_resources.hpp"
#include "protocol/gen/list_groups.hpp"
#include "protocol/gen/list_offsets.hpp"
#include "protocol/gen/metadata.hpp"
#include "protocol/gen/offset_commit.hpp"
#include "protocol/gen/offset_delete.hpp"
#include "protocol/gen/offset_fetch.hpp"
#include "protocol/gen/offset_for_leader_epoch.hpp"
#include "protocol/gen/produce.hpp"
#include "protocol/gen/sync_group.hpp"

namespace weir::broker {
namespace {

constexpr std::int16_t kProduceKey = protocol::ProduceRequest::kApiKey;
// From here on a request is decoded on the pool: 200,000 names are 20 ms, and others of the loop would wait for them. A
// Produce of any size decodes at once, as its records are one view.
constexpr std::size_t kLargeRequestBytes = 256 * 1024;

// A version above ours comes through for ApiVersions alone; its handler answers it without looking at the body.
template <class Request>
Result<void> decode_known(protocol::Reader& body, std::int16_t version, Request& request) {
  const bool known = version >= Request::kMinVersion && version <= Request::kMaxVersion;
  try {
    const MayRunOutOfMemory here;
    return known ? decode(body, version, request) : Result<void>{};
  } catch (const std::bad_alloc&) {
    WEIR_LOG(error, "out of memory for a request of {}: its connection is closed", Request::kName);
    return Errc::too_large;
  }
}

template <class Request, class Response>
void take(RequestContext context, const Result<void>& decoded, Request request, Reply<Response> reply) {
  if (!decoded) {
    WEIR_LOG(debug, "closing {}: {} version {} does not decode: {}", to_string(context.endpoints->remote),
             Request::kName, context.api_version, to_string(decoded.error()));
    return reply.refuse();
  }
  handle(std::move(context), std::move(request), std::move(reply));
}

template <class Request, class Response>
void serve(RequestContext context, protocol::Reader body, std::weak_ptr<ReplySink> sink, std::uint64_t slot) {
  Reply<Response> reply{std::move(sink), slot, std::move(context.memory), context.api_version, context.correlation_id};
  if (Request::kApiKey == kProduceKey || context.frame.size() < kLargeRequestBytes) {
    Request request;
    const auto decoded = decode_known(body, context.api_version, request);
    return take(std::move(context), decoded, std::move(request), std::move(reply));
  }
  context.services.runtime.pool.post([context = std::move(context), body, reply = std::move(reply)]() mutable {
    Request request;
    const auto decoded = decode_known(body, context.api_version, request);
    auto& loop = context.loop;
    loop.post(
        [context = std::move(context), decoded, request = std::move(request), reply = std::move(reply)]() mutable {
          take(std::move(context), decoded, std::move(request), std::move(reply));
        });
  });
}

template <class Request, class Response>
ServedApi row() {
  const auto* info = protocol::find_api(Request::kApiKey);
  WEIR_CHECK(info != nullptr);
  const auto max = static_cast<std::int16_t>(info->max_version - (info->top_unstable ? 1 : 0));
  const auto advertised_min = Request::kApiKey == kProduceKey ? std::int16_t{0} : info->min_version;
  return {.key = info->key,
          .version_min = info->min_version,
          .version_max = max,
          .advertised_min = advertised_min,
          .name = info->name,
          .handler = &serve<Request, Response>};
}

std::vector<ServedApi> make_table() {
  std::vector<ServedApi> rows;
#define WEIR_ROW(Name) rows.push_back(row<protocol::Name##Request, protocol::Name##Response>());
  WEIR_SERVED_APIS(WEIR_ROW)
#undef WEIR_ROW
  std::ranges::sort(rows, {}, &ServedApi::key);
  return rows;
}

}  // namespace

std::span<const ServedApi> served_apis() {
  static const auto rows = make_table();
  return rows;
}

}  // namespace weir::broker
