// Metadata (key 3): brokers and topics. Topics that do not exist are made when both the request and the broker's config
// say so; the first answer is then error 3, as Kafka's is, and the topic is there when the client asks again.
#include "protocol/gen/metadata.hpp"

#include <set>

#include "broker/advertised.hpp"
#include "broker/handlers/handlers.hpp"
#include "broker/partition_lookup.hpp"
#include "coordinator/metadata/topic_name.hpp"

namespace weir::broker {
namespace {
using protocol::ErrorCode;
using protocol::MetadataRequest;
using protocol::MetadataResponse;
using TopicAnswer = MetadataResponse::MetadataResponseTopic;

constexpr std::int16_t kFirstByIdVersion = 12;
constexpr std::size_t kManyTopics = 1000;  // an answer about more is put together on the pool

TopicAnswer describe(const metadata::Topic& topic, bool with_operations) {
  TopicAnswer answer{.name = topic.name, .topic_id = topic.id, .is_internal = topic.internal()};
  if (with_operations) {
    answer.topic_authorized_operations = kAllTopicOperations;
  }
  answer.partitions.reserve(topic.partitions.size());
  for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
    const auto& partition = topic.partitions[i];
    answer.partitions.push_back({.partition_index = static_cast<std::int32_t>(i),
                                 .leader_id = partition.leader,
                                 .leader_epoch = partition.leader_epoch.value,
                                 .replica_nodes = partition.replicas,
                                 .isr_nodes = partition.isr});
  }
  return answer;
}

TopicAnswer failed(ErrorCode code, std::optional<protocol::Text> name, const Uuid& id = {}) {
  return {.error_code = wire(code), .name = std::move(name), .topic_id = id};
}

// An id, or no name, in a version that has no answer by id: each topic of the request is refused, and nothing else
// said.
bool asks_by_id_too_early(const MetadataRequest& request, std::int16_t version) {
  return version < kFirstByIdVersion && request.topics &&
         std::ranges::any_of(
             *request.topics, [](const auto& asked) { return !asked.name || !asked.topic_id.is_zero(); });
}

MetadataResponse refused(const MetadataRequest& request) {
  MetadataResponse response;
  for (const auto& asked : *request.topics) {
    const auto name = asked.name ? *asked.name : protocol::Text{};
    response.topics.push_back(failed(ErrorCode::invalid_request, name, asked.topic_id));
  }
  return response;
}

class Answering {
 public:
  Answering(const RequestContext& context, const MetadataRequest& request)
      : context_(context), request_(request), image_(context.services.controller.image()) {}

  MetadataResponse run() {
    const auto& identity = context_.services.identity;
    const auto& endpoint = advertised_endpoint(context_);
    response_.brokers.push_back(
        {.node_id = identity.node_id, .host = endpoint.host, .port = endpoint.port, .rack = rack_of(context_)});
    response_.cluster_id = identity.cluster_id;
    response_.controller_id = identity.node_id;
    if (request_.include_cluster_authorized_operations) {
      response_.cluster_authorized_operations = kAllClusterOperations;
    }
    const bool all = !request_.topics || (context_.api_version == 0 && request_.topics->empty());
    all ? add_all() : add_named();
    return std::move(response_);
  }
  std::vector<std::string> to_create;  // unknown names that may come into being

 private:
  void add_all() {
    image_->for_each_topic([&](const metadata::Topic& topic) {
      response_.topics.push_back(describe(topic, request_.include_topic_authorized_operations));
    });
  }

  // By name, or, as soon as one entry has an id, by ids alone.
  void add_named() {
    const auto has_id = [](const auto& asked) { return !asked.topic_id.is_zero(); };
    const bool by_id = std::ranges::any_of(*request_.topics, has_id);
    std::set<std::string_view> names;
    std::set<Uuid> ids;
    for (const auto& asked : *request_.topics) {
      if (has_id(asked) != by_id) {
        continue;
      }
      if (by_id ? !ids.insert(asked.topic_id).second : asked.name && !names.insert(*asked.name).second) {
        continue;
      }
      response_.topics.push_back(by_id ? answer_by_id(asked) : answer_by_name(asked));
    }
  }

  TopicAnswer answer_by_id(const MetadataRequest::MetadataRequestTopic& asked) const {
    const auto& topic = image_->find_topic(asked.topic_id);
    return topic ? describe(*topic, request_.include_topic_authorized_operations)
                 : failed(ErrorCode::unknown_topic_id, std::nullopt, asked.topic_id);
  }

  // Kafka tells operations of a name whether there is such a topic or not.
  [[nodiscard]] TopicAnswer failed_name(ErrorCode code, std::string_view name) const {
    auto answer = failed(code, name);
    if (request_.include_topic_authorized_operations) {
      answer.topic_authorized_operations = kAllTopicOperations;
    }
    return answer;
  }

  TopicAnswer answer_by_name(const MetadataRequest::MetadataRequestTopic& asked) {
    if (!asked.name) {
      return failed(ErrorCode::unknown_server_error, protocol::Text{});
    }
    const auto name = asked.name->view();
    if (const auto& topic = image_->find_topic(name)) {
      return describe(*topic, request_.include_topic_authorized_operations);
    }
    if (metadata::refuse_topic_name(name).has_value()) {
      return failed_name(ErrorCode::invalid_topic_exception, name);
    }
    if (request_.allow_auto_topic_creation && context_.services.config.auto_create_topics_enable) {
      to_create.emplace_back(name);
    }
    return failed_name(ErrorCode::unknown_topic_or_partition, name);
  }

  const RequestContext& context_;
  const MetadataRequest& request_;
  const metadata::ImagePointer image_;
  MetadataResponse response_;
};

void create(const RequestContext& context, std::vector<std::string> names) {
  if (!names.empty()) {
    context.services.controller.auto_create(std::move(names), context.loop,
                                            [](const std::vector<metadata::AutoCreateResult>&) {});
  }
}

}  // namespace

void handle(RequestContext context, MetadataRequest request, Reply<MetadataResponse> reply) {
  if (asks_by_id_too_early(request, context.api_version)) {
    return reply(refused(request));
  }
  const auto topics = request.topics ? request.topics->size() : context.services.controller.image()->topic_count();
  if (topics <= kManyTopics) {
    Answering answering{context, request};
    const auto response = answering.run();
    create(context, std::move(answering.to_create));
    return reply(response);
  }
  context.services.runtime.pool.post(
      [context = std::move(context), request = std::move(request), reply = std::move(reply)]() mutable {
        Answering answering{context, request};
        auto frame = reply.encode(answering.run());
        auto& loop = context.loop;
        loop.post([context = std::move(context), to_create = std::move(answering.to_create), frame = std::move(frame),
                   reply = std::move(reply)]() mutable {
          create(context, std::move(to_create));
          reply.send_encoded(std::move(frame));
        });
      });
}

}  // namespace weir::broker
