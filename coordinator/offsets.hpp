// Offsets: the committed offsets of one group, in two layers: what is durable (OffsetFetch shows only that) and the
// writes under way. Owned by a GroupShard; one thread. Writes end in the order in which they began.
#pragma once

#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/group_records.hpp"
#include "coordinator/group_types.hpp"

namespace weir::group {

using WriteId = std::uint64_t;

class Offsets {
 public:
  // A write of `value` (nullopt: a tombstone) has begun / has become durable or was refused.
  void begin(WriteId write, const std::string& topic, std::int32_t partition, std::optional<CommittedOffset> value);
  void end(WriteId write, const std::string& topic, std::int32_t partition, bool durable);
  // From the log at start.
  void replay(const std::string& topic, std::int32_t partition, std::optional<CommittedOffset> value);

  [[nodiscard]] const CommittedOffset* durable(const std::string& topic, std::int32_t partition) const;
  // With the writes under way counted as done.
  [[nodiscard]] const CommittedOffset* newest(const std::string& topic, std::int32_t partition) const;
  [[nodiscard]] bool has_write_under_way(const std::string& topic, std::int32_t partition) const;
  [[nodiscard]] bool empty() const { return topics_.empty(); }  // nothing durable, nothing under way

  template <class Visit>  // visit(topic, partition, const CommittedOffset& durable, Millis changed)
  void for_each_durable(Visit&& visit) const {
    for (const auto& [topic, cells] : topics_) {
      for (const auto& [partition, cell] : cells) {
        if (cell.durable) {
          visit(topic, partition, *cell.durable, cell.changed_ms);
        }
      }
    }
  }
  template <class Visit>  // visit(topic, partition, const CommittedOffset& newest, bool write_under_way)
  void for_each_newest(Visit&& visit) const {
    for (const auto& [topic, cells] : topics_) {
      for (const auto& [partition, cell] : cells) {
        if (const auto& value = cell.newest(); value) {
          visit(topic, partition, *value, !cell.writes.empty());
        }
      }
    }
  }

 private:
  struct Cell {
    std::optional<CommittedOffset> durable;
    Millis changed_ms = -1;  // of the first durable commit in a row that said this offset
    std::list<std::pair<WriteId, std::optional<CommittedOffset>>> writes;  // under way, oldest first; they end in order
    [[nodiscard]] const std::optional<CommittedOffset>& newest() const {
      return writes.empty() ? durable : writes.back().second;
    }
  };
  static void set_durable(Cell& cell, std::optional<CommittedOffset> value);
  [[nodiscard]] const Cell* find(const std::string& topic, std::int32_t partition) const;
  void drop_if_empty(const std::string& topic, std::int32_t partition);

  std::map<std::string, std::map<std::int32_t, Cell>> topics_;
};

// Is the offset of a topic that was deleted and made again? A zero id on either side says nothing.
bool is_of_other_topic(const CommittedOffset& value, const Uuid& topic_id);

}  // namespace weir::group
