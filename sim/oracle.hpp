// Oracle: what must be true of what producers were told and readers saw. Keeps every record that was sent with its fate
// and judges what is read back: nothing acknowledged is missing, moved or changed; nothing comes twice from a producer
// that is idempotent; per producer and partition the order is the order of sending; nothing appears that nobody sent.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weir::sim {

struct ReadBack {
  std::int64_t offset;
  std::string value;
};

class Oracle {
 public:
  // `value` names its record uniquely; values of one producer are sent in ascending `number`.
  void sent(std::int32_t partition, std::int32_t producer, std::int64_t number, const std::string& value);
  void acknowledged(std::int32_t partition, const std::string& value, std::int64_t offset);
  // A reader saw this before a crash: it must be there, at that offset, for ever.
  void seen(std::int32_t partition, const ReadBack& record);

  // The first violation in words, or "".
  [[nodiscard]] std::string judge(std::int32_t partition, const std::vector<ReadBack>& records, bool idempotent) const;
  [[nodiscard]] std::size_t acknowledged_count() const;

 private:
  struct Sent {
    std::int32_t producer;
    std::int64_t number;
  };
  struct PartitionFacts {
    std::map<std::string, Sent> sent;
    std::map<std::int64_t, std::string> promised;  // acknowledged or seen: offset -> value
  };
  std::map<std::int32_t, PartitionFacts> partitions_;
  std::size_t acknowledged_ = 0;
};

}  // namespace weir::sim
