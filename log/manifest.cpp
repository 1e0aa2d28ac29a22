#include "log/manifest.hpp"

#include "log/manifest_layout.hpp"

namespace weir::log {
namespace {
constexpr std::int64_t kEditRoom = 64LL << 10;

// One function per edit; false if it contradicts the state.
bool change(ManifestState& state, const AddSegment& edit) {
  const SegmentFacts facts{
      .id = edit.id, .role = edit.role, .retention_class = edit.retention_class, .start = edit.start};
  if (edit.id.value == 0 || !state.segments.emplace(edit.id, facts).second) {
    return false;
  }
  state.next_segment = std::max(state.next_segment, edit.id + 1);
  return true;
}
bool change(ManifestState& state, const SealSegment& edit) {
  const auto found = state.segments.find(edit.id);
  if (found == state.segments.end() || (found->second.sealed && found->second.valid_end != edit.valid_end)) {
    return false;
  }
  found->second.sealed = true;
  found->second.valid_end = edit.valid_end;
  found->second.has_index = edit.has_index;
  return true;
}
bool change(ManifestState& state, const ReserveSegment& edit) {
  const auto found = state.segments.find(edit.id);
  if (found == state.segments.end() || edit.end < found->second.reserved_end) {
    return false;
  }
  found->second.reserved_end = edit.end;
  return true;
}
bool change(ManifestState& state, const KeepSeed& edit) {
  const auto found = state.segments.find(edit.id);
  if (found == state.segments.end() || found->second.seed.value != 0) {
    return false;
  }
  found->second.seed = edit.seed;
  return true;
}
bool change(ManifestState& state, const RemoveSegment& edit) {
  return state.segments.erase(edit.id) == 1;
}
bool change(ManifestState& state, const CleanPoint& edit) {
  const bool forward = edit.position >= state.clean_point;
  state.clean_point = std::max(state.clean_point, edit.position);
  return forward;
}
bool change(ManifestState& state, const NextNumbers& edit) {
  const bool forward = edit.segment >= state.next_segment && edit.local >= state.next_local;
  state.next_segment = std::max(state.next_segment, edit.segment);
  state.next_local = std::max(state.next_local, edit.local);
  return forward;
}
bool change(ManifestState& state, const StartOffset& edit) {
  auto& start = state.starts[edit.local];
  const bool forward = edit.start >= start;
  start = std::max(start, edit.start);
  return forward;
}
bool change(ManifestState& state, const ForgetPartition& edit) {
  state.starts.erase(edit.local);
  return true;
}
bool change(ManifestState& state, const ReadOnlyMark& edit) {
  state.read_only_cause = edit.cause;
  return true;
}

}  // namespace

Result<void> ManifestState::apply(const ManifestEdit& edit) {
  if (!std::visit([this](const auto& fields) { return change(*this, fields); }, edit)) {
    return {Errc::corrupt, static_cast<std::int64_t>(edit.index() + 1)};
  }
  return {};
}

Result<std::unique_ptr<Manifest>> Manifest::create(Disk& disk, std::string path, std::uint64_t seed,
                                                   ManifestState state) {
  std::unique_ptr<Manifest> manifest{new Manifest{disk, std::move(path), seed}};
  manifest->state_ = std::move(state);
  WEIR_TRY_VOID(manifest->rewrite());
  return manifest;
}

Result<std::unique_ptr<Manifest>> Manifest::open(Disk& disk, std::string path, std::uint64_t seed) {
  if (!disk.exists(path)) {
    return create(disk, std::move(path), seed, {});
  }
  std::unique_ptr<Manifest> manifest{new Manifest{disk, std::move(path), seed}};
  WEIR_TRY(const auto bytes, read_file(disk, manifest->path_, kFileSizeMax));
  WEIR_TRY(auto content, decode_manifest(bytes));
  manifest->state_ = std::move(content.state);
  manifest->torn_bytes_ = content.torn_bytes;
  // Others rely on it from here on, and what was read may be in the page cache alone. To sync it is not enough: after a
  // sync that failed in an earlier process the kernel takes those pages for written.
  auto kept = manifest->rewrite();
  if (!kept && is_shortage(kept.error())) {
    kept = manifest->go_on_with(content);
  }
  if (!kept) {
    return kept.error();
  }
  return manifest;
}

// Without room for another one.
Result<void> Manifest::go_on_with(const ManifestContent& content) {
  seed_ = content.seed;
  next_number_ = content.next_number;
  size_ = content.valid_size;
  WEIR_TRY(file_, disk_.open(path_, {}));
  if (content.torn_bytes > 0) {
    WEIR_TRY_VOID(file_->truncate(content.valid_size));
  }
  WEIR_TRY_VOID(file_->sync());
  reserve_room();
  return {};
}

Result<void> Manifest::append(std::span<const ManifestEdit> edits) {
  if (failed_) {
    return {Errc::read_only, 0};
  }
  if (edits.empty()) {
    return {};
  }
  auto next = state_;
  for (const auto& edit : edits) {
    if (!next.apply(edit)) {
      return {Errc::invalid_argument, static_cast<std::int64_t>(edit.index() + 1)};
    }
  }
  const auto record = encode_manifest_record(edits, next_number_, seed_);
  failed_ = true;  // until all steps have gone well: a failed sync says nothing about what is there
  const Bytes part{record};
  if (const auto written = file_->write_at(size_, {&part, 1}); !written) {
    // There may be room later. What part of the record is there is a torn tail, and is written over then.
    failed_ = !is_shortage(written.error());
    return written;
  }
  WEIR_TRY_VOID(file_->sync());
  state_ = std::move(next);
  next_number_ += 1;
  size_ += static_cast<std::int64_t>(record.size());
  if (size_ >= rewrite_at_) {
    if (auto rewritten = rewrite(); !rewritten && !is_shortage(rewritten.error())) {
      return rewritten;  // else the longer file goes on
    }
  }
  failed_ = false;
  return {};
}

Result<void> Manifest::mark_read_only(std::int32_t cause) {
  if (!failed_) {
    const std::array<ManifestEdit, 1> mark{ReadOnlyMark{cause}};
    return append(mark);
  }
  state_.read_only_cause = cause;
  return rewrite();
}

Result<void> Manifest::rewrite() {
  const auto seed = random_.next();
  const auto content = encode_manifest(state_, seed);
  WEIR_TRY(file_, replace_file_open(disk_, path_, content));
  seed_ = seed;
  size_ = static_cast<std::int64_t>(content.size());
  next_number_ = 2;
  rewrite_at_ = std::max(kRewriteAt, 4 * size_);
  reserve_room();
  return {};
}

// Edits shall find room when the disk is full: what makes room is an edit too. Where it cannot be had, they may not.
void Manifest::reserve_room() {
  static_cast<void>(file_->allocate(std::max(rewrite_at_, size_) + kEditRoom));
}

}  // namespace weir::log
