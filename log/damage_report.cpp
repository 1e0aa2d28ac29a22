#include "log/damage_report.hpp"

#include "base/logging.hpp"

namespace weir::log {
namespace {
constexpr std::size_t kNamedMax = 10'000;
}

void DamageReport::found(const LogPartition& partition, const BatchCursor& cursor) {
  {
    const std::scoped_lock lock(mutex_);
    if (known_.size() >= kNamedMax || !known_.insert(cursor.position()).second) {
      return;
    }
  }
  if (metrics_ != nullptr) {
    metrics_->log_damaged_entries.add(1);
  }
  const auto& entry = cursor.entry();
  WEIR_LOG(error, "commitlog: damage in {} at position {}: offsets {} to {} of topic {}, partition {}, are not served",
           cursor.segment()->path(), entry.position, entry.base_offset.value, entry.last_offset.value,
           to_string(partition.key().topic_id), partition.key().index);
}

std::int64_t DamageReport::count() const {
  const std::scoped_lock lock(mutex_);
  return std::ssize(known_);
}

}  // namespace weir::log
