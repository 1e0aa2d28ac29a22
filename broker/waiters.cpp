#include "broker/waiters.hpp"

namespace weir::broker {

FetchWaiters::~FetchWaiters() {
  for (auto& [id, waiting] : waiting_) {
    for (const auto& partition : waiting.partitions) {
      partition->waiters.fetch_sub(1);
    }
  }
}

FetchWaiters::Id FetchWaiters::wait(std::vector<std::shared_ptr<log::Partition>> partitions, Task wake) noexcept {
  const auto id = next_id_++;
  for (const auto& partition : partitions) {
    partition->waiters.fetch_add(1);  // sequentially consistent: before the caller looks at the high watermark
    by_partition_[partition.get()].push_back(id);
  }
  waiting_.emplace(id, Waiting{std::move(partitions), std::move(wake)});
  return id;
}

void FetchWaiters::forget(const Waiting& waiting, Id id) {
  for (const auto& partition : waiting.partitions) {
    partition->waiters.fetch_sub(1);
    const auto found = by_partition_.find(partition.get());
    std::erase(found->second, id);
    if (found->second.empty()) {
      by_partition_.erase(found);
    }
  }
}

void FetchWaiters::cancel(Id id) noexcept {
  auto node = waiting_.extract(id);
  if (node) {
    forget(node.mapped(), id);
  }
}

void FetchWaiters::advanced(std::span<const std::shared_ptr<log::Partition>> partitions) {
  for (const auto& partition : partitions) {
    const auto found = by_partition_.find(partition.get());
    if (found == by_partition_.end()) {
      continue;
    }
    const auto ids = found->second;  // a woken fetch registers again: not in this round
    for (const auto id : ids) {
      auto node = waiting_.extract(id);
      if (!node) {
        continue;
      }
      forget(node.mapped(), id);
      node.mapped().wake();
    }
  }
}

void WaiterHub::advanced(std::span<const std::shared_ptr<log::Partition>> partitions) {
  std::vector<std::shared_ptr<log::Partition>> awaited;
  for (const auto& partition : partitions) {
    if (partition->waiters.load() > 0) {
      awaited.push_back(partition);
    }
  }
  if (awaited.empty()) {
    return;
  }
  mailboxes_.for_each([&](Mailbox& box) {
    bool first = false;
    {
      const std::lock_guard lock{box.mutex};
      first = box.advanced.empty();
      box.advanced.insert(box.advanced.end(), awaited.begin(), awaited.end());
    }
    if (!first) {
      return;
    }
    box.loop.post([&box] {
      std::vector<std::shared_ptr<log::Partition>> news;
      {
        const std::lock_guard lock{box.mutex};
        news.swap(box.advanced);
      }
      box.waiters.advanced(news);
    });
  });
}

}  // namespace weir::broker
