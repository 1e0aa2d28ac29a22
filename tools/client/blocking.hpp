// Blocking: a Cluster on a thread of its own behind calls that wait for their answer, for the command line. Owned by
// the command, which may use it from one thread; not from the loop.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/io_thread.hpp"
#include "base/real_clock.hpp"
#include "base/tcp_network.hpp"
#include "tools/client/cluster.hpp"

namespace weir::client {

inline constexpr std::int64_t kLatest = -1;  // times that ListOffsets takes for the ends of a partition
inline constexpr std::int64_t kEarliest = -2;

struct PartitionOffset {
  std::int32_t index = 0;
  std::int64_t offset = -1;  // -1: no record is that young
  std::int16_t error = 0;
};

class Blocking {
 public:
  Blocking(std::vector<Endpoint> servers, Millis timeout_ms);
  ~Blocking();
  Blocking(const Blocking&) = delete;
  Blocking& operator=(const Blocking&) = delete;

  template <class Request, class Response>
  Result<Answered<Response>> call(Request request, std::int32_t node = Cluster::kAnyNode,
                                  std::int16_t version_max = Cluster::kNewest) {
    return wait<Answered<Response>>([&](auto done) {
      cluster_->call<Request, Response>(node, std::make_shared<const Request>(std::move(request)), std::move(done),
                                        version_max);
    });
  }
  Result<std::vector<TopicInfo>> topics(std::optional<std::vector<std::string>> names, bool create = false);
  // One topic with a leader for each partition; asks again for as long as the timeout allows while it is being made.
  Result<TopicInfo> topic(const std::string& name, bool create = false);
  // Where `time` (or kLatest, kEarliest) is in each partition, from their leaders.
  Result<std::vector<PartitionOffset>> offsets(const TopicInfo& topic, std::int64_t time);

  // Runs `start(done)` on the loop; the future is ready once done was called.
  template <class T, class Start>
  std::future<Result<T>> begin(Start start) {
    auto answered = std::make_shared<std::promise<Result<T>>>();
    auto answer = answered->get_future();
    io_.post([start = std::move(start), answered]() mutable {
      start(UniqueFunction<void(Result<T>)>{[answered](Result<T> result) { answered->set_value(std::move(result)); }});
    });
    return answer;
  }
  template <class T, class Start>
  Result<T> wait(Start start) {
    return begin<T>(std::move(start)).get();
  }

  [[nodiscard]] const std::shared_ptr<Cluster>& cluster() const { return cluster_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] IoLoop& loop() { return io_; }
  [[nodiscard]] std::string address() const;  // all servers as the user named them
  // Lets `delay_ms` pass.
  void pause(Millis delay_ms);

 private:
  RealClock clock_;
  IoThread io_{"weir-client", clock_};
  TcpNetwork network_;
  std::shared_ptr<Cluster> cluster_;
};

}  // namespace weir::client
