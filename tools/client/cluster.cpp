#include "tools/client/cluster.hpp"

#include "protocol/gen/metadata.hpp"

namespace weir::client {
namespace {

TopicInfo topic_from(const protocol::MetadataResponse::MetadataResponseTopic& told) {
  TopicInfo topic{.name = told.name ? told.name->str() : "",
                  .id = told.topic_id,
                  .error = told.error_code,
                  .internal = told.is_internal};
  for (const auto& part : told.partitions) {
    topic.partitions.push_back({part.partition_index, part.leader_id, part.leader_epoch, part.error_code});
  }
  std::ranges::sort(topic.partitions, {}, &PartitionInfo::index);
  return topic;
}

}  // namespace

TimerQueue::TimerId Cluster::after(Millis delay_ms, Task task) {
  return loop_.timers().schedule(clock_.monotonic_ms() + delay_ms, std::move(task));
}

void Cluster::connect(std::int32_t node, Connection::OnReady done) {
  const auto known = nodes_.find(node);
  known == nodes_.end() ? connect_to_any(options_.bootstrap.size(), std::move(done))
                        : connect_to(known->second, std::move(done));
}

void Cluster::connect_to_any(std::size_t tries, Connection::OnReady done) {
  const auto at = bootstrap_at_;
  connect_to(options_.bootstrap[at], [self = shared_from_this(), at, tries,
                                      done = std::move(done)](Result<std::shared_ptr<Connection>> ready) mutable {
    if (ready || tries <= 1 || self->closed_) {
      return done(std::move(ready));
    }
    if (self->bootstrap_at_ == at) {  // else somebody else has gone on
      self->bootstrap_at_ = (at + 1) % self->options_.bootstrap.size();
    }
    self->connect_to_any(tries - 1, std::move(done));
  });
}

void Cluster::connect_to(const Endpoint& at, Connection::OnReady done) {
  if (closed_) {
    return done(Errc::closed);
  }
  const auto address = to_string(at);
  const auto open = connections_.find(address);
  if (open != connections_.end() && !open->second->closed()) {
    return done(open->second);
  }
  struct Opening {
    Connection::OnReady done;
    bool over = false;
  };
  const auto opening = std::make_shared<Opening>(Opening{std::move(done)});
  const auto timer = after(options_.timeout_ms, [opening] {
    if (!std::exchange(opening->over, true)) {
      opening->done(Errc::timed_out);
    }
  });
  Connection::open(network_, loop_, at, options_.client_id,
                   [self = shared_from_this(), opening, timer, address](Result<std::shared_ptr<Connection>> ready) {
                     if (std::exchange(opening->over, true)) {
                       if (ready) {
                         (*ready)->close();
                       }
                       return;
                     }
                     self->loop_.timers().cancel(timer);
                     if (ready && self->closed_) {
                       (*ready)->close();
                       return opening->done(Errc::closed);
                     }
                     if (ready) {
                       self->connections_[address] = *ready;
                     }
                     opening->done(std::move(ready));
                   });
}

void Cluster::topics(std::optional<std::vector<std::string>> names, bool create, OnTopics done) {
  const auto request = std::make_shared<protocol::MetadataRequest>();
  request->allow_auto_topic_creation = create;
  if (names) {
    for (const auto& name : *names) {
      auto& asked = request->topics->emplace_back();
      asked.name = protocol::Text{name};
    }
  } else {
    request->topics.reset();
  }
  call<protocol::MetadataRequest, protocol::MetadataResponse>(
      kAnyNode, request,
      [self = shared_from_this(),
       done = std::move(done)](const Result<Answered<protocol::MetadataResponse>>& answer) mutable {
        if (!answer) {
          return done(answer.error());
        }
        for (const auto& broker : answer->response.brokers) {
          self->nodes_[broker.node_id] = {broker.host.str(), static_cast<std::uint16_t>(broker.port)};
        }
        std::vector<TopicInfo> topics;
        for (const auto& told : answer->response.topics) {
          topics.push_back(topic_from(told));
        }
        std::ranges::sort(topics, {}, &TopicInfo::name);
        done(std::move(topics));
      });
}

void Cluster::close() {
  closed_ = true;
  const auto connections = std::exchange(connections_, {});
  for (const auto& [address, connection] : connections) {
    connection->close();
  }
}

}  // namespace weir::client
