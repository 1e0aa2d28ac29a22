#include "sim/oracle.hpp"

namespace weir::sim {

void Oracle::sent(std::int32_t partition, std::int32_t producer, std::int64_t number, const std::string& value) {
  partitions_[partition].sent.emplace(value, Sent{producer, number});
}

void Oracle::acknowledged(std::int32_t partition, const std::string& value, std::int64_t offset) {
  partitions_[partition].promised.emplace(offset, value);
  ++acknowledged_;
}

void Oracle::seen(std::int32_t partition, const ReadBack& record) {
  partitions_[partition].promised.emplace(record.offset, record.value);
}

std::size_t Oracle::acknowledged_count() const {
  return acknowledged_;
}

std::string Oracle::judge(std::int32_t partition, const std::vector<ReadBack>& records, bool idempotent) const {
  const auto facts = partitions_.find(partition);
  if (facts == partitions_.end()) {
    return records.empty() ? "" : "records in a partition to which nobody wrote";
  }
  const auto where = [&](std::int64_t offset) {
    return " at offset " + std::to_string(offset) + " of partition " + std::to_string(partition);
  };
  std::map<std::int64_t, std::string> there;
  std::map<std::int32_t, std::int64_t> newest;  // by producer
  std::map<std::string, int> times;
  std::int64_t previous = -1;
  for (const auto& record : records) {
    if (record.offset <= previous) {
      return "offsets do not grow" + where(record.offset);
    }
    previous = record.offset;
    const auto origin = facts->second.sent.find(record.value);
    if (origin == facts->second.sent.end()) {
      return "nobody sent '" + record.value + "'" + where(record.offset);
    }
    const bool repeated = ++times[record.value] > 1;
    if (repeated && idempotent) {
      return "'" + record.value + "' is there twice" + where(record.offset);
    }
    auto& last = newest[origin->second.producer];
    if (!repeated && origin->second.number < last) {
      return "'" + record.value + "' is out of order" + where(record.offset);
    }
    last = std::max(last, origin->second.number);
    there.emplace(record.offset, record.value);
  }
  for (const auto& [offset, value] : facts->second.promised) {
    const auto found = there.find(offset);
    if (found == there.end()) {
      return "'" + value + "' was promised and is gone" + where(offset);
    }
    if (found->second != value) {
      return "'" + value + "' was promised, '" + found->second + "' is there" + where(offset);
    }
  }
  return "";
}

}  // namespace weir::sim
