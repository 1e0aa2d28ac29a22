// ShardedMap: an immutable map of shared values that is copied cheaply. A copy shares all shards; an editor copies only
// the shards it touches, and each of them once. Made for the metadata image: adding one topic to 10,000 copies 40
// pairs. A map is read by any thread; an editor belongs to one thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/ids.hpp"

namespace weir::metadata {

inline std::uint64_t shard_hash(std::string_view text) {  // FNV-1a: the same order in every run
  std::uint64_t hash = 14'695'981'039'346'656'037ULL;
  for (const char c : text) {
    hash = (hash ^ static_cast<std::uint8_t>(c)) * 1'099'511'628'211ULL;
  }
  return hash ^ (hash >> 32U);
}
inline std::uint64_t shard_hash(const Uuid& id) {
  return shard_hash({reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
}

template <class Key, class Value>
class ShardedMap {
 public:
  using Pointer = std::shared_ptr<const Value>;
  class Editor;

  ShardedMap() {
    static const auto empty = std::make_shared<Shard>();
    shards_.fill(empty);
  }
  // Null if there is none.
  template <class LookupKey>
  [[nodiscard]] const Pointer& find(const LookupKey& key) const {
    static const Pointer none;
    const auto& entries = shards_[shard_hash(key) % kShards]->entries;
    const auto at = lower_bound(entries, key);
    return at != entries.end() && at->first == key ? at->second : none;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  // All pairs, always in the same order for the same content, which is not the order of the keys.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& shard : shards_) {
      for (const auto& [key, value] : shard->entries) {
        visit(key, value);
      }
    }
  }

 private:
  static constexpr std::size_t kShards = 256;
  using Entries = std::vector<std::pair<Key, Pointer>>;
  struct Shard {
    std::uint64_t edited_by = 0;  // the only editor that may still change it
    Entries entries;              // sorted by key
  };
  template <class LookupKey>
  static auto lower_bound(const Entries& entries, const LookupKey& key) {
    return std::lower_bound(entries.begin(), entries.end(), key,
                            [](const auto& entry, const auto& wanted) { return entry.first < wanted; });
  }

  std::array<std::shared_ptr<Shard>, kShards> shards_;
  std::size_t size_ = 0;
};

// Changes a copy of a map. finish() hands the result out and ends the editor's right to change the shards it made.
template <class Key, class Value>
class ShardedMap<Key, Value>::Editor {
 public:
  explicit Editor(ShardedMap base) : map_(std::move(base)), id_(next_id()) {}

  template <class LookupKey>
  [[nodiscard]] const Pointer& find(const LookupKey& key) const {
    return map_.find(key);
  }
  void set(const Key& key, Pointer value) {
    WEIR_CHECK(value != nullptr);
    auto& entries = own_shard(key).entries;
    const auto at = entries.begin() + (lower_bound(entries, key) - entries.cbegin());
    if (at != entries.end() && at->first == key) {
      at->second = std::move(value);
      return;
    }
    entries.insert(at, {key, std::move(value)});
    ++map_.size_;
  }
  template <class LookupKey>
  bool erase(const LookupKey& key) {
    if (map_.find(key) == nullptr) {
      return false;
    }
    auto& entries = own_shard(key).entries;
    entries.erase(entries.begin() + (lower_bound(entries, key) - entries.cbegin()));
    --map_.size_;
    return true;
  }
  [[nodiscard]] const ShardedMap& view() const { return map_; }
  [[nodiscard]] ShardedMap finish() {
    id_ = next_id();
    return map_;
  }

 private:
  static std::uint64_t next_id() {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  template <class LookupKey>
  Shard& own_shard(const LookupKey& key) {
    auto& shard = map_.shards_[shard_hash(key) % kShards];
    if (shard->edited_by != id_) {
      shard = std::make_shared<Shard>(Shard{id_, shard->entries});
    }
    return *shard;
  }

  ShardedMap map_;
  std::uint64_t id_;
};

}  // namespace weir::metadata
