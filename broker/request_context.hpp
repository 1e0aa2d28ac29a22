// RequestContext: what a handler knows about the request besides its body. Reply<Response>: the one answer it owes.
// Both live on the connection's loop; a handler that works elsewhere posts back to context.loop before it answers.
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/executor.hpp"
#include "base/network.hpp"
#include "base/out_of_memory.hpp"
#include "broker/request_memory.hpp"
#include "protocol/frames.hpp"

namespace weir::broker {

struct Services;

// Of one connection.
struct Endpoints {
  Endpoint local;  // the address the client came in on
  Endpoint remote;
  Endpoint told;  // what its listener tells as this broker's address
};

struct RequestContext {
  Services& services;
  IoLoop& loop;
  std::int16_t api_key;
  std::int16_t api_version;
  std::int32_t correlation_id;
  std::optional<std::string> client_id;
  SharedBytes frame;  // what the request's strings and records are views into
  std::shared_ptr<const Endpoints> endpoints;
  std::int64_t received_ns;  // monotonic
  RequestShare memory;       // goes over to the request's Reply before its handler runs
};

// Where answers go: the connection, seen through a weak reference, and the place of this answer in its order.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  virtual void answer(std::uint64_t slot, protocol::ResponseFrame frame) = 0;  // no bytes: nothing is sent (acks=0)
  // There will be none: the connection closes once what came before it is answered, as in Kafka.
  virtual void refuse(std::uint64_t slot) = 0;
  // While held, no later request of the connection is taken up: the order of this one is not fixed yet.
  virtual void hold(std::uint64_t slot, bool held) = 0;
};

// Answers exactly once, or refuses. Dropped unanswered (a stop, a failed load) it refuses: the client sees its
// connection close and retries. It holds what the request has taken of the request memory until then, also when its
// connection is gone: the request and its frame are still here.
class ReplyBase {
 public:
  ReplyBase(std::weak_ptr<ReplySink> sink, std::uint64_t slot, RequestShare memory)
      : sink_(std::move(sink)), slot_(slot), memory_(std::move(memory)) {}
  ReplyBase(ReplyBase&& other) noexcept
      : sink_(std::move(other.sink_)), slot_(other.slot_), memory_(std::move(other.memory_)) {
    other.sink_.reset();
  }
  ReplyBase& operator=(ReplyBase&&) = delete;
  ~ReplyBase() { refuse(); }

  void nothing() { send({}); }
  // False: the connection is gone, so an answer would reach nobody.
  [[nodiscard]] bool wanted() const { return !sink_.expired(); }
  void hold_followers() { hold(true); }
  void release_followers() { hold(false); }
  // For a request that waits: once it has let go of its frame, others may have the memory.
  void return_memory() { memory_.give_back(); }
  void refuse() {
    if (const auto sink = take()) {
      sink->refuse(slot_);
    }
  }

 protected:
  void send(protocol::ResponseFrame frame) {
    if (const auto sink = take()) {
      sink->answer(slot_, std::move(frame));
    }
  }

 private:
  void hold(bool held) {
    if (const auto sink = sink_.lock()) {
      sink->hold(slot_, held);
    }
  }
  std::shared_ptr<ReplySink> take() {
    memory_.give_back();
    auto sink = sink_.lock();
    sink_.reset();
    return sink;
  }
  std::weak_ptr<ReplySink> sink_;
  std::uint64_t slot_;
  RequestShare memory_;
};

// Logs and counts it (broker/connection.cpp).
void report_unencodable(std::string_view name, std::int16_t version, const Error& error);

template <class Response>
class Reply : public ReplyBase {
 public:
  Reply(std::weak_ptr<ReplySink> sink, std::uint64_t slot, RequestShare memory, std::int16_t version,
        std::int32_t correlation_id)
      : ReplyBase(std::move(sink), slot, std::move(memory)), version_(version), correlation_id_(correlation_id) {}
  // Encodes in the request's version. A response that this version cannot carry is our bug: the connection closes.
  void operator()(const Response& response) { send_encoded(encode(response)); }
  // ApiVersions alone answers in another body version than asked.
  void in_version(const Response& response, std::int16_t version) {
    send_encoded(protocol::encode_response_frame(correlation_id_, version, response));
  }
  // The two halves: a large answer is encoded on the pool, so that the loop only sends it. Any thread; the loop.
  [[nodiscard]] Result<protocol::ResponseFrame> encode(const Response& response) const {
    try {
      const MayRunOutOfMemory here;
      return protocol::encode_response_frame(correlation_id_, version_, response);
    } catch (const std::bad_alloc&) {
      return Errc::too_large;  // told by report_unencodable()
    }
  }
  void send_encoded(Result<protocol::ResponseFrame> frame) {
    if (!frame) {
      report_unencodable(Response::kName, version_, frame.error());
      return refuse();
    }
    send(std::move(*frame));
  }

 private:
  std::int16_t version_;
  std::int32_t correlation_id_;
};

}  // namespace weir::broker
