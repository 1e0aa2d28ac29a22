// Waiters: fetches that wait for partitions to move. FetchWaiters belongs to one io loop; WaiterHub is the log's
// observer and carries "these partitions advanced" from the write role to the loops that have somebody waiting, one
// post a loop.
//
// No lost wake-up: a fetch registers first and looks at the high watermark afterwards; the log publishes that first and
// looks at Partition::waiters afterwards. Why one of the two sees the other: log/partition.hpp, at `waiters`.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "broker/per_loop.hpp"
#include "log/commit_log.hpp"

namespace weir::broker {

class FetchWaiters {
 public:
  using Id = std::uint64_t;
  ~FetchWaiters();

  // `wake` runs once on this loop after any of the partitions advanced or was deleted, unless cancelled before.
  Id wait(std::vector<std::shared_ptr<log::Partition>> partitions, Task wake) noexcept;
  void cancel(Id id) noexcept;
  void advanced(std::span<const std::shared_ptr<log::Partition>> partitions);
  [[nodiscard]] std::size_t size() const { return waiting_.size(); }

 private:
  struct Waiting {
    std::vector<std::shared_ptr<log::Partition>> partitions;
    Task wake;
  };
  void forget(const Waiting& waiting, Id id);

  std::unordered_map<Id, Waiting> waiting_;
  std::unordered_map<const log::Partition*, std::vector<Id>> by_partition_;
  Id next_id_ = 1;
};

class WaiterHub final : public log::VisibilityObserver {
 public:
  explicit WaiterHub(const std::vector<IoLoop*>& loops) : mailboxes_(loops) {}
  void advanced(std::span<const std::shared_ptr<log::Partition>> partitions) override;
  [[nodiscard]] FetchWaiters& of(const IoLoop& loop) const { return mailboxes_.of(loop).waiters; }

 private:
  struct Mailbox {
    explicit Mailbox(IoLoop& owner) : loop(owner) {}
    IoLoop& loop;
    FetchWaiters waiters;  // touched by tasks of `loop` only
    std::mutex mutex;
    std::vector<std::shared_ptr<log::Partition>> advanced;  // under mutex; non-empty means a task is on its way
  };
  PerLoop<Mailbox> mailboxes_;
};

}  // namespace weir::broker
