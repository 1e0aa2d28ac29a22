// The only place where our failures become error codes on the wire. No default: a new Errc does not compile without
// one.
#pragma once

#include "base/result.hpp"
#include "protocol/errors.hpp"

namespace weir::broker {

constexpr protocol::ErrorCode to_wire(Errc code) {
  using protocol::ErrorCode;
  switch (code) {
    case Errc::truncated:
    case Errc::corrupt: return ErrorCode::corrupt_message;
    case Errc::unsupported: return ErrorCode::unsupported_for_message_format;
    case Errc::invalid_argument: return ErrorCode::invalid_request;
    case Errc::too_large: return ErrorCode::message_too_large;
    case Errc::not_found: return ErrorCode::unknown_topic_or_partition;
    case Errc::already_exists: return ErrorCode::topic_already_exists;
    case Errc::out_of_range: return ErrorCode::offset_out_of_range;
    case Errc::disk_failed:
    case Errc::disk_full:
    case Errc::out_of_resources:
    case Errc::read_only: return ErrorCode::kafka_storage_error;
    case Errc::in_use: return ErrorCode::resource_not_found;
    case Errc::closed:
      return ErrorCode::not_leader_or_follower;  // a stop is under way: the client looks elsewhere, retries
    case Errc::timed_out: return ErrorCode::request_timed_out;
    case Errc::out_of_sequence: return ErrorCode::out_of_order_sequence_number;
    case Errc::stale_epoch: return ErrorCode::invalid_producer_epoch;
  }
  return ErrorCode::unknown_server_error;
}

// Of a failed read. `corrupt` is an index file that is damaged and being made again from its segment: after a storage
// error every client comes again by itself, while librdkafka hands a corrupt message to the application.
constexpr protocol::ErrorCode read_error(Errc code) {
  return code == Errc::corrupt ? protocol::ErrorCode::kafka_storage_error : to_wire(code);
}

}  // namespace weir::broker
