// The entries of a request, topics with partitions, as Kafka takes them: a topic that is named twice is one topic, one
// without partitions is none, and of a partition that is named twice the last entry counts. Pure; any thread.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

namespace weir::broker {

// True when `of(entry)` differs for all entries. Costs no more than a sort of pointers, and nothing for one entry.
template <class Entry, class Of>
bool all_differ(const std::vector<Entry>& entries, Of of) {
  if (entries.size() < 2) {
    return true;
  }
  std::vector<const Entry*> sorted;
  sorted.reserve(entries.size());
  for (const auto& entry : entries) {
    sorted.push_back(&entry);
  }
  std::ranges::sort(sorted, {}, [&](const Entry* entry) { return of(*entry); });
  return std::ranges::adjacent_find(sorted, {}, [&](const Entry* entry) { return of(*entry); }) == sorted.end();
}

// `key(topic)` may borrow from the topic: its text stays where it is when the topic moves.
template <class Topic, class Partition, class Key>
void merge_topics(std::vector<Topic>& topics, std::vector<Partition> Topic::* partitions, Key key) {
  std::erase_if(topics, [&](const Topic& topic) { return (topic.*partitions).empty(); });
  if (all_differ(topics, key)) {
    return;
  }
  std::map<decltype(key(topics.front())), std::size_t> first;
  std::vector<Topic> merged;
  merged.reserve(topics.size());
  for (auto& topic : topics) {
    const auto [place, fresh] = first.try_emplace(key(topic), merged.size());
    if (fresh) {
      merged.push_back(std::move(topic));
      continue;
    }
    auto& all = merged[place->second].*partitions;
    std::ranges::move(topic.*partitions, std::back_inserter(all));
  }
  topics = std::move(merged);
}

template <class Partition>
void keep_last_of_each(std::vector<Partition>& partitions, std::int32_t Partition::* index) {
  if (all_differ(partitions, [&](const Partition& partition) { return partition.*index; })) {
    return;
  }
  std::map<std::int32_t, std::size_t> places;
  std::vector<Partition> kept;
  for (auto& partition : partitions) {
    const auto [place, fresh] = places.try_emplace(partition.*index, kept.size());
    fresh ? kept.push_back(std::move(partition)) : void(kept[place->second] = std::move(partition));
  }
  partitions = std::move(kept);
}

}  // namespace weir::broker
