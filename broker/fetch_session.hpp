// Fetch sessions (KIP-227): what a consumer fetches is remembered, so that it sends only changes and is sent only what
// moved. Sessions belong to the broker, not to a connection: any loop may continue one. Guarded by one mutex, held for
// lookups and copies only.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.hpp"
#include "base/random.hpp"
#include "protocol/errors.hpp"

namespace weir::broker {

// Which partition: by id from Fetch version 13 on, by name before; the other one stays empty.
struct FetchKey {
  std::string topic;
  Uuid topic_id;
  std::int32_t partition = 0;
  friend auto operator<=>(const FetchKey&, const FetchKey&) = default;
};

struct FetchTarget {
  FetchKey key;
  std::int32_t current_leader_epoch = -1;
  std::int64_t fetch_offset = 0;
  std::int32_t last_fetched_epoch = -1;
  std::int32_t bytes_max = 0;
};

// What an answer for one partition says, as far as it decides whether it must be sent again.
struct FetchedFacts {
  protocol::ErrorCode error = protocol::ErrorCode::none;
  std::int64_t high_watermark = -1;
  std::int64_t log_start = -1;
  bool has_records = false;
  bool diverging = false;
};

inline constexpr std::int32_t kSessionNone = 0;
inline constexpr std::int32_t kEpochInitial = 0;  // a full fetch that asks for a session
inline constexpr std::int32_t kEpochFinal = -1;   // a full fetch without a session; closes the one it names

class FetchSessions {
 public:
  FetchSessions(std::size_t slots_max, Random random) : slots_max_(slots_max), random_(random) {}
  static constexpr Millis kEvictAfterIdleMs = 120'000;  // a full cache gives way to newcomers only after this idle time

  struct Opened {
    protocol::ErrorCode error = protocol::ErrorCode::none;  // 70, 71, 106: answer it with session 0 and no topics
    std::int32_t session_id = kSessionNone;                 // goes into the answer
    bool incremental = false;                               // leave out what did not change
    std::vector<FetchTarget> targets;                       // what to fetch, in order of service
  };
  // `asked`: the request's partitions in order, each key once; `forgotten`: those to drop from the session.
  Opened open(std::int32_t session_id, std::int32_t session_epoch, bool by_id, std::vector<FetchTarget> asked,
              const std::vector<FetchKey>& forgotten, Millis now_ms) noexcept;

  // Tells which of `facts` (one for each target, in the same order) an incremental answer must carry, and remembers
  // them as sent. Partitions that had records go to the back of the session, so that limits starve nobody.
  std::vector<bool> must_send(std::int32_t session_id, const std::vector<FetchTarget>& targets,
                              const std::vector<FetchedFacts>& facts) noexcept;
  [[nodiscard]] std::size_t size() const;

 private:
  struct Cached {
    FetchTarget target;
    std::int64_t high_watermark = -1;
    std::int64_t log_start = -1;
  };
  struct Session {
    std::int32_t epoch = 1;  // expected next
    bool by_id = false;
    Millis used_ms = 0;
    std::list<Cached> order;
    std::map<FetchKey, std::list<Cached>::iterator> by_key;
    void set(FetchTarget target);
  };
  Opened open_new(bool by_id, std::vector<FetchTarget> asked, Millis now_ms);
  bool make_room(Millis now_ms);

  const std::size_t slots_max_;
  mutable std::mutex mutex_;
  Random random_;
  std::unordered_map<std::int32_t, Session> sessions_;
};

}  // namespace weir::broker
