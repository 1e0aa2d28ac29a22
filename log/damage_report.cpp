#include "log/damage_report.hpp"

#include "base/logging.hpp"

namespace weir::log {
namespace {
constexpr std::size_t kNamedMax = 10'000;
}

bool DamageReport::is_new(LogPosition position) {
  {
    const std::scoped_lock lock(mutex_);
    if (known_.size() >= kNamedMax || !known_.insert(position).second) {
      return false;
    }
  }
  if (metrics_ != nullptr) {
    metrics_->log_damaged_entries.add(1);
  }
  return true;
}

void DamageReport::found(const PartitionKey& key, const Segment& segment, const IndexEntry& entry) {
  if (is_new(segment.start() + entry.position)) {
    WEIR_LOG(error,
             "commitlog: damage in {} at position {}: offsets {} to {} of topic {}, partition {}, are not served",
             segment.path(), entry.position, entry.base_offset.value, entry.last_offset.value, to_string(key.topic_id),
             key.index);
  }
}

void DamageReport::found_beside(const Segment& segment, std::int64_t from, std::int64_t to) {
  if (is_new(segment.start() + from)) {
    WEIR_LOG(error, "commitlog: damage in {}, bytes {} to {}: no batch is concerned", segment.path(), from, to);
  }
}

std::int64_t DamageReport::count() const {
  const std::scoped_lock lock(mutex_);
  return std::ssize(known_);
}

}  // namespace weir::log
