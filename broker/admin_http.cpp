#include "broker/admin_http.hpp"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <sstream>

#include "broker/group_lag.hpp"
#include "protocol/errors.hpp"
#include "protocol/gen/api_table.hpp"

namespace weir::broker {
namespace {
namespace http = boost::beast::http;

constexpr std::size_t kHeaderBytesMax = 8 * 1024;
constexpr std::size_t kBodyBytesMax = 1024;  // nobody sends us one that matters
constexpr std::size_t kSessionsMax = 64;
constexpr Millis kIdleMs = 10'000;
constexpr std::string_view kPlain = "text/plain; charset=utf-8";

std::string metrics_text(const Services& services, const GroupLag::Lines& lag) {
  const auto log = services.log.statistics();
  auto& metrics = services.metrics;
  metrics.log_segments.set(log.segments);
  metrics.log_read_only.set(log.read_only ? 1 : 0);
  metrics.log_short_of_space.set(log.short_of_space ? 1 : 0);
  metrics.log_free_bytes.set(log.free_bytes);
  metrics.image_bytes.set(log.image_bytes_used);
  metrics.read_cache_bytes.set(log.read_cache_bytes_used);
  metrics.memory_topic_bytes.set(log.memory_topic_bytes_used);
  metrics.request_memory_bytes.set(static_cast<std::int64_t>(services.memory.in_use()));
  const auto image = services.controller.image();
  metrics.topics.set(static_cast<std::int64_t>(image->topic_count()));
  metrics.partitions.set(image->partition_count());
  return prometheus_text(
      metrics,
      [](std::string_view label, int value) {
        if (label == "api") {
          return std::string{protocol::api_name(static_cast<std::int16_t>(value))};
        }
        return std::string{protocol::to_string(static_cast<protocol::ErrorCode>(value))};
      },
      [&](std::string_view metric) -> std::string_view {
        if (metric == "weir_group_records_behind") {
          return lag.records_behind;
        }
        return metric == "weir_group_lag_state" ? std::string_view{lag.lag_state} : std::string_view{};
      });
}
}  // namespace

class AdminHttp::Session : public std::enable_shared_from_this<AdminHttp::Session> {
 public:
  Session(AdminHttp& owner, std::unique_ptr<Stream> stream) : owner_(owner), stream_(std::move(stream)) {}

  void start() {
    parser_.emplace();
    parser_->header_limit(kHeaderBytesMax);
    parser_->body_limit(kBodyBytesMax);
    const auto deadline = owner_.services_.runtime.clock.monotonic_ms() + kIdleMs;
    timer_ = owner_.loop_.timers().schedule(deadline, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) {
        self->close();
      }
    });
    read_more();
  }

  void close() {
    if (std::exchange(closed_, true)) {
      return;
    }
    owner_.loop_.timers().cancel(timer_);
    stream_->close();
    auto node = owner_.sessions_.extract(this);
    owner_.loop_.post([self = std::move(node.mapped())]() mutable { self.reset(); });
  }

  void respond(const Answer& answer) {
    if (closed_) {
      return;
    }
    const auto& request = parser_->get();
    http::response<http::empty_body> head{static_cast<http::status>(answer.status), request.version()};
    head.set(http::field::content_type, answer.type);
    head.keep_alive(request.keep_alive());
    head.content_length(answer.body.size());
    std::ostringstream text;
    text << head;
    BufferChain bytes{SharedBytes::copy_of(as_bytes(text.str()))};
    if (request.method() != http::verb::head) {
      bytes.append(SharedBytes::copy_of(as_bytes(answer.body)));
    }
    const bool keep = head.keep_alive();
    stream_->write(std::move(bytes), [weak = weak_from_this(), keep](const Result<void>& written) {
      const auto self = weak.lock();
      if (!self || self->closed_) {
        return;
      }
      if (!written || !keep) {
        return self->close();
      }
      self->owner_.loop_.timers().cancel(self->timer_);
      self->start();
    });
  }

 private:
  void read_more() {
    stream_->read_some(MutableBytes{chunk_}, [weak = weak_from_this()](const Result<std::size_t>& count) {
      const auto self = weak.lock();
      if (!self || self->closed_) {
        return;
      }
      count ? self->parse(*count) : self->close();
    });
  }

  void parse(std::size_t count) {
    const auto room = buffer_.prepare(count);
    std::memcpy(room.data(), chunk_.data(), count);
    buffer_.commit(count);
    boost::system::error_code problem;
    while (buffer_.size() > 0 && !parser_->is_done()) {
      const auto used = parser_->put(buffer_.data(), problem);
      buffer_.consume(used);
      if (problem == http::error::need_more) {
        return buffer_.size() > kHeaderBytesMax ? close() : read_more();
      }
      if (problem) {
        return close();
      }
    }
    parser_->is_done() ? ask() : read_more();
  }

  void ask() {
    const auto& request = parser_->get();
    if (auto answer = owner_.answer(request.method_string(), request.target(), *this)) {
      respond(std::move(*answer));
    }
  }

  AdminHttp& owner_;
  std::unique_ptr<Stream> stream_;
  std::array<std::byte, 4096> chunk_{};
  boost::beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  TimerQueue::TimerId timer_ = 0;
  bool closed_ = false;
};

AdminHttp::~AdminHttp() = default;

Result<Endpoint> AdminHttp::listen(const Endpoint& at) {
  WEIR_TRY(listener_, services_.runtime.network.listen(at, {&loop_}, [this](std::unique_ptr<Stream> stream, IoLoop&) {
    if (sessions_.size() >= kSessionsMax) {
      return;
    }
    auto session = std::make_shared<Session>(*this, std::move(stream));
    sessions_.emplace(session.get(), session);
    session->start();
  }));
  return listener_->bound();
}

void AdminHttp::stop() {
  listener_.reset();
  while (!sessions_.empty()) {
    const auto session = sessions_.begin()->second;
    session->close();
  }
}

std::optional<AdminHttp::Answer> AdminHttp::answer(std::string_view method, std::string_view target, Session& asker) {
  if (method != "GET" && method != "HEAD") {
    return Answer{405, std::string{kPlain}, "only GET and HEAD\n"};
  }
  if (target == "/healthz") {
    const auto log = services_.log.statistics();
    const std::string_view state = log.read_only        ? "read-only: a write or sync failed\n"
                                   : log.short_of_space ? "the disk is nearly full: producers are refused\n"
                                                        : "ok\n";
    return Answer{log.read_only ? 503U : 200U, std::string{kPlain}, std::string{state}};
  }
  if (target == "/metrics") {
    awaiting_metrics_.push_back(asker.weak_from_this());
    measure();
    return std::nullopt;
  }
  return Answer{404, std::string{kPlain}, "there are /metrics and /healthz\n"};
}

void AdminHttp::measure() {
  if (awaiting_metrics_.empty() || std::exchange(measuring_, true)) {
    return;
  }
  auto askers = std::exchange(awaiting_metrics_, {});
  services_.lag.measure(loop_, [this, askers = std::move(askers)](const GroupLag::Lines& lines) {
    measuring_ = false;
    const Answer told{200, "text/plain; version=0.0.4; charset=utf-8", metrics_text(services_, lines)};
    for (const auto& weak : askers) {
      if (const auto asker = weak.lock()) {
        asker->respond(told);
      }
    }
    measure();
  });
}

}  // namespace weir::broker
