#include "coordinator/offsets.hpp"

#include "base/check.hpp"

namespace weir::group {

void Offsets::begin(WriteId write, const std::string& topic, std::int32_t partition,
                    std::optional<CommittedOffset> value) {
  topics_[topic][partition].writes.emplace_back(write, std::move(value));
}

void Offsets::end(WriteId write, const std::string& topic, std::int32_t partition, bool durable) {
  auto& cell = topics_.at(topic).at(partition);
  const auto found = std::ranges::find(cell.writes, write, [](const auto& entry) { return entry.first; });
  WEIR_CHECK(found != cell.writes.end());
  if (durable) {
    set_durable(cell, std::move(found->second));
  }
  cell.writes.erase(found);
  drop_if_empty(topic, partition);
}

void Offsets::replay(const std::string& topic, std::int32_t partition, std::optional<CommittedOffset> value) {
  set_durable(topics_[topic][partition], std::move(value));
  drop_if_empty(topic, partition);
}

void Offsets::set_durable(Cell& cell, std::optional<CommittedOffset> value) {
  if (value && (!cell.durable || cell.durable->offset != value->offset)) {
    cell.changed_ms = value->commit_ms;
  }
  cell.durable = std::move(value);
}

void Offsets::drop_if_empty(const std::string& topic, std::int32_t partition) {
  const auto cells = topics_.find(topic);
  const auto& cell = cells->second.at(partition);
  if (!cell.durable && cell.writes.empty()) {
    cells->second.erase(partition);
  }
  if (cells->second.empty()) {
    topics_.erase(cells);
  }
}

const Offsets::Cell* Offsets::find(const std::string& topic, std::int32_t partition) const {
  const auto cells = topics_.find(topic);
  if (cells == topics_.end()) {
    return nullptr;
  }
  const auto cell = cells->second.find(partition);
  return cell == cells->second.end() ? nullptr : &cell->second;
}

const CommittedOffset* Offsets::durable(const std::string& topic, std::int32_t partition) const {
  const auto* cell = find(topic, partition);
  return cell != nullptr && cell->durable ? &*cell->durable : nullptr;
}

const CommittedOffset* Offsets::newest(const std::string& topic, std::int32_t partition) const {
  const auto* cell = find(topic, partition);
  return cell != nullptr && cell->newest() ? &*cell->newest() : nullptr;
}

bool Offsets::has_write_under_way(const std::string& topic, std::int32_t partition) const {
  const auto* cell = find(topic, partition);
  return cell != nullptr && !cell->writes.empty();
}

bool is_of_other_topic(const CommittedOffset& value, const Uuid& topic_id) {
  return !value.topic_id.is_zero() && !topic_id.is_zero() && value.topic_id != topic_id;
}

}  // namespace weir::group
