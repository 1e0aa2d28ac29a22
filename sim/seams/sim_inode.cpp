#include "sim/seams/sim_inode.hpp"

#include <algorithm>

namespace weir::sim {

void SimInode::apply(std::vector<std::byte>& content, const Change& change) {
  const auto position = static_cast<std::size_t>(change.position);
  if (change.truncation) {
    content.resize(position);
    return;
  }
  if (change.bytes.empty()) {
    return;
  }
  content.resize(std::max(content.size(), position + change.bytes.size()));
  std::copy(change.bytes.begin(), change.bytes.end(), content.begin() + change.position);
}

void SimInode::write(std::int64_t position, std::span<const Bytes> parts, std::size_t bytes_max) {
  Change change{.position = position};
  for (const auto part : parts) {
    const auto kept = part.first(std::min(part.size(), bytes_max - change.bytes.size()));
    change.bytes.insert(change.bytes.end(), kept.begin(), kept.end());
  }
  if (!change.bytes.empty()) {
    const auto from = static_cast<std::size_t>(position) / kPageBytes;
    const auto to = (static_cast<std::size_t>(position) + change.bytes.size() + kPageBytes - 1) / kPageBytes;
    written_.resize(std::max(written_.size(), to));
    std::fill(written_.begin() + static_cast<std::ptrdiff_t>(from), written_.begin() + static_cast<std::ptrdiff_t>(to),
              true);
  }
  apply(current_, change);
  journal_.push_back(std::move(change));
}

void SimInode::truncate(std::int64_t size) {
  written_.resize(std::min(written_.size(), (static_cast<std::size_t>(size) + kPageBytes - 1) / kPageBytes));
  Change change{.position = size, .truncation = true};
  apply(current_, change);
  journal_.push_back(std::move(change));
}

void SimInode::sync() {
  for (const auto& change : journal_) {
    apply(durable_, change);
  }
  journal_.clear();
}

std::vector<std::byte> SimInode::content_of_device() const {
  auto content = durable_;
  for (const auto& change : journal_) {
    apply(content, change);
  }
  content.resize(current_.size());
  return content;
}

void SimInode::apply_torn(std::vector<std::byte>& content, const Change& change, Random& random,
                          std::uint64_t keep_of_8) {
  const auto sector_bytes = random.chance(2) ? kSectorBytes : kPageBytes;
  std::size_t at = 0;
  while (at < change.bytes.size()) {
    const auto position = static_cast<std::size_t>(change.position) + at;
    const auto count = std::min(sector_bytes - position % sector_bytes, change.bytes.size() - at);
    if (random.below(8) < keep_of_8) {
      apply(content, {.position = static_cast<std::int64_t>(position),
                      .bytes = {change.bytes.begin() + static_cast<std::ptrdiff_t>(at),
                                change.bytes.begin() + static_cast<std::ptrdiff_t>(at + count)}});
    } else if (random.chance(4)) {
      content.resize(std::max(content.size(), position + count));  // the size reached the disk, the data did not
    }
    at += count;
  }
}

// Sectors of the write arrive in places of others of it: nothing synced is hit, but what was not synced is no mere
// mixture of old and new.
void SimInode::misdirect(std::vector<std::byte>& content, const Change& change, Random& random) {
  if (change.truncation || change.bytes.size() < 2 * kSectorBytes || random.chance(3)) {
    apply(content, change);
    return;
  }
  auto moved = change;
  const auto sectors = change.bytes.size() / kSectorBytes;
  for (auto count = 1 + random.below(3); count > 0; --count) {
    const auto from = random.below(sectors) * kSectorBytes;
    const auto to = random.below(sectors) * kSectorBytes;
    std::copy_n(change.bytes.begin() + static_cast<std::ptrdiff_t>(from), kSectorBytes,
                moved.bytes.begin() + static_cast<std::ptrdiff_t>(to));
  }
  apply(content, moved);
}

void SimInode::settle(Random& random) {
  // One habit a crash, so that the extremes (all lost, all kept, a clean prefix) come up as often as the mixtures.
  enum class Habit : std::uint8_t { lose_all, keep_all, prefix, any_subset, tear, misdirect };
  const auto habit = static_cast<Habit>(random.below(6));
  const auto keep_of_8 = random.below(9);
  auto prefix = random.below(journal_.size() + 1);
  for (const auto& change : journal_) {
    bool keep = false;
    bool torn = false;
    switch (habit) {
      case Habit::lose_all: break;
      case Habit::keep_all: keep = true; break;
      case Habit::prefix:
        keep = prefix > 0;
        torn = prefix == 1;
        prefix -= prefix > 0 ? 1 : 0;
        break;
      case Habit::any_subset: keep = random.below(8) < keep_of_8; break;
      case Habit::tear: torn = true; break;
      case Habit::misdirect: misdirect(durable_, change, random); continue;
    }
    if (torn && !change.truncation) {
      apply_torn(durable_, change, random, keep_of_8);
    } else if (keep || (torn && random.chance(2))) {
      apply(durable_, change);
    }
  }
  journal_.clear();
}

void SimInode::lose_unsynced(Random& random) {
  settle(random);
  current_ = durable_;
  allocated_ = std::min(allocated_, size());
}

void SimInode::fail_sync(Random& random) {
  settle(random);
}

std::int64_t SimInode::first_unwritten(std::int64_t position) const {
  auto page = static_cast<std::size_t>(position) / kPageBytes;
  while (page < written_.size() && written_[page]) {
    ++page;
  }
  const auto from = static_cast<std::int64_t>(page * kPageBytes);
  return std::min(size(), std::max(position, from));
}

std::int64_t SimInode::first_written(std::int64_t position) const {
  auto page = static_cast<std::size_t>(position) / kPageBytes;
  while (page < written_.size() && !written_[page]) {
    ++page;
  }
  const auto from = page < written_.size() ? static_cast<std::int64_t>(page * kPageBytes) : size();
  return std::min(size(), std::max(position, from));
}

void SimInode::damage(std::int64_t position, std::byte mask) {
  const auto at = static_cast<std::size_t>(position);
  sync();
  current_[at] ^= mask;
  durable_[at] ^= mask;
}

}  // namespace weir::sim
