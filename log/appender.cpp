#include "log/appender.hpp"

namespace weir::log {
namespace {
constexpr int kTurnWorks = 256;  // an io thread gives its connections their turn after so many
constexpr int kTurnsMax = 16;    // and hands the role to the write thread after so many turns
constexpr std::size_t kBlock = 4096;
constexpr std::int64_t kPadMax = static_cast<std::int64_t>(kBlock + kEntryHeaderSize);
// What closing a group may put behind the last entry: a pad, or a group entry and a pad.
constexpr std::int64_t kReserve = 2 * kPadMax + static_cast<std::int64_t>(kGroupEntrySize);
constexpr std::size_t kPatchedSize = 16;  // base offset, length and leader epoch of a batch
constexpr std::array<std::byte, kBlock + kEntryHeaderSize> kZeros{};

bool is_durable_answer(Acks acks, FlushMode flush) {
  return acks == Acks::internal || (acks == Acks::all && flush == FlushMode::sync);
}
}  // namespace

void Appender::start(Beginning beginning) {
  for (auto& partition : beginning.live) {
    live_.emplace(partition->local(), std::move(partition));
  }
  next_local_ = beginning.next_local;
  image_.start_at(beginning.tail);
  segment_ = std::move(beginning.open);
  segment_entries_ = beginning.open_entries;
  appended_.store(beginning.tail.value, std::memory_order_release);
  if (segment_) {
    data_from_ = file_position();
    delta_from_ = static_cast<std::int64_t>(kSegmentHeaderSize);
  }
}

void Appender::push(Append request) {
  {
    const std::scoped_lock lock(queue_mutex_);
    incoming_.push_back({std::move(request), {}});
  }
  bring();
}

void Appender::push(std::span<Append> requests) {
  {
    const std::scoped_lock lock(queue_mutex_);
    for (auto& request : requests) {
      incoming_.push_back({std::move(request), {}});
    }
  }
  bring();
}

void Appender::push_as_follower(Append request) {
  {
    const std::scoped_lock lock(queue_mutex_);
    incoming_.push_back({.append = std::move(request), .control = {}, .as_follower = true});
  }
  bring();
}

void Appender::push_control(Control control) {
  {
    const std::scoped_lock lock(queue_mutex_);
    incoming_.push_back({{}, std::move(control)});
  }
  bring();
}

void Appender::push_reserve(std::shared_ptr<Partition> partition, Offset end, Executor& reply_on,
                            UniqueFunction<void(const AppendOutcome&)> done) {
  Append request;
  request.partition = std::move(partition);
  request.reply_on = &reply_on;
  request.done = std::move(done);
  {
    const std::scoped_lock lock(queue_mutex_);
    incoming_.push_back({std::move(request), {}, end});
  }
  bring();
}

void Appender::bring() noexcept {
  if (gate_.bring()) {
    run_role();
  }
}

void Appender::run_held_role() noexcept {
  run_role();
}

void Appender::run_role() noexcept {
  if (!gate_.run([this] { return turn(); }, kTurnsMax)) {
    hooks_.continue_log_role();
  }
}

bool Appender::turn() {
  now_ms_ = clock_.wall_ms();
  stalled_on_image_ = false;
  if (backlog_at_ == backlog_.size()) {
    take_incoming();
  }
  // The state goes first, also when nothing is asked.
  bool stalled = !has_ended_ && !is_read_only() && !segment_is_ready();
  if (stalled && !stalled_on_image_) {
    if (const auto why = why_no_segment_comes()) {
      take_incoming();
      refuse_what_has_no_segment(*why);
    }
  }
  for (int made = 0; !stalled && made < kTurnWorks && backlog_at_ < backlog_.size(); ++made) {
    auto& work = backlog_[backlog_at_];
    if (!do_work(work)) {
      stalled = true;
      break;
    }
    work.append.batch = {};
    work.control = {};
    ++backlog_at_;
  }
  appended_.store(image_.tail().value, std::memory_order_release);
  answers_now_.post_all();
  hand_over_if_wanted();
  const bool needed = group_has_bytes_ || !group_.items.empty() || !closed_.empty() || stalled_on_image_;
  writer_needed_.store(needed, std::memory_order_seq_cst);
  if (needed) {
    hooks_.wake_writer();
  }
  if (stalled || backlog_at_ < backlog_.size()) {
    return !stalled;
  }
  // What came while the backlog was stalled has had its turns: nobody brings the role for it again.
  const std::scoped_lock lock(queue_mutex_);
  return !incoming_.empty();
}

bool Appender::request_groups(bool pad, std::vector<Group>& into) {
  close_wanted_.store(pad ? 2 : 1, std::memory_order_release);
  bring();
  if (mailbox_.exchange(awaited, std::memory_order_acq_rel) != filled) {
    return false;
  }
  take_groups(into);
  return true;
}

void Appender::take_groups(std::vector<Group>& into) {
  into.clear();
  into.swap(handed_);
  mailbox_.store(empty, std::memory_order_release);
}

void Appender::hand_over_if_wanted() {
  const auto wanted = close_wanted_.load(std::memory_order_acquire);
  if (wanted == 0) {
    return;
  }
  close_wanted_.store(0, std::memory_order_relaxed);  // the writer asks again only after it has taken these
  close_group(wanted == 2 || limits_.whole_blocks);
  handed_.swap(closed_);
  if (mailbox_.exchange(filled, std::memory_order_acq_rel) == awaited) {
    hooks_.group_is_ready();
  }
}

void Appender::offer_segment(std::shared_ptr<Segment> segment) {
  {
    const std::scoped_lock lock(next_mutex_);
    next_ = std::move(segment);
  }
  bring();
}

// Behind what is left of the backlog.
void Appender::take_incoming() {
  backlog_.erase(backlog_.begin(), backlog_.begin() + static_cast<std::ptrdiff_t>(backlog_at_));
  backlog_at_ = 0;
  const std::scoped_lock lock(queue_mutex_);
  if (backlog_.empty()) {
    backlog_.swap(incoming_);
    return;
  }
  std::move(incoming_.begin(), incoming_.end(), std::back_inserter(backlog_));
  incoming_.clear();
}

std::optional<Error> Appender::why_no_segment_comes() const {
  if (space_.is_short()) {
    return Error{Errc::disk_full};
  }
  if (const auto number = space_.lack(); number != 0) {
    return Error{Errc::out_of_resources, number};
  }
  return std::nullopt;
}

// There will be no segment until there is again what it needs: who waits for one would wait for as long. Controls that
// can be answered without one are; the others stay, in their order.
void Appender::refuse_what_has_no_segment(Error why) {
  has_no_segment_ = true;
  for (auto at = backlog_at_; at < backlog_.size(); ++at) {
    auto& work = backlog_[at];
    if (work.control) {
      if (work.control(*this)) {
        work.control = {};
      }
    } else if (work.append.partition) {
      refuse(work.append, why);
    }
  }
  has_no_segment_ = false;
  std::erase_if(backlog_, [](const Work& work) { return !work.control && !work.append.partition; });
  backlog_at_ = 0;
}

void Appender::refuse(Append& request, Error error) {
  AppendOutcome outcome;
  outcome.error = error;
  if (error.code == Errc::out_of_sequence || error.code == Errc::stale_epoch) {
    outcome.log_start = request.partition->log_start();  // told with what the producer did wrong, as Kafka does
  }
  answers_now_.add({request.reply_on, std::move(request.done), std::move(outcome)});
  request.partition.reset();
}

// False: no room now.
bool Appender::do_work(Work& work) {
  if (work.control) {
    return work.control(*this);
  }
  auto& request = work.append;
  if (!request.partition) {
    return true;  // refused already
  }
  if (const auto why = why_not(request)) {
    refuse(request, *why);
    return true;
  }
  if (work.reserve_to.value >= 0) {
    return do_reserve(request, work.reserve_to);
  }
  return work.as_follower ? do_append_as_follower(request) : do_append(request);
}

std::optional<Error> Appender::why_not(const Append& request) const {
  const auto& partition = static_cast<const LogPartition&>(*request.partition);
  if (closing_) {
    return Error{Errc::closed};
  }
  if (is_read_only()) {
    return Error{static_cast<Errc>(read_only_.load(std::memory_order_acquire))};
  }
  if (request.acks != Acks::internal && (space_.is_short() || is_beyond_limit(request))) {
    return Error{Errc::disk_full};
  }
  if (partition.deleted() || !partition.role.created) {
    return Error{Errc::not_found};
  }
  return std::nullopt;
}

bool Appender::is_beyond_limit(const Append& request) const {
  const auto end = image_.tail() + static_cast<std::int64_t>(entry_size(request.batch.size()));
  const bool is_beyond = end > space_.limit();
  if (is_beyond) {
    hooks_.limit_reached();
  }
  return is_beyond;
}

bool Appender::do_append(Append& request) {
  auto& partition = static_cast<LogPartition&>(*request.partition);
  if (refuse_too_large(request)) {
    return true;
  }
  const auto check = partition.role.producers.check(request.batch.facts());
  switch (check.verdict) {
    case SequenceVerdict::accept: break;
    case SequenceVerdict::duplicate: repeat_answer(request, check); return true;
    case SequenceVerdict::out_of_sequence:
      refuse(request, {Errc::out_of_sequence, request.batch.facts().base_sequence});
      return true;
    case SequenceVerdict::stale_epoch:
      refuse(request, {Errc::stale_epoch, request.batch.facts().producer_epoch});
      return true;
  }
  if (!make_room_for_batch(partition, entry_size(request.batch.size()))) {
    return false;
  }
  put_batch(request, partition.log_end());
  return true;
}

bool Appender::refuse_too_large(Append& request) {
  WEIR_CHECK(!request.batch.empty());
  const bool is_too_large = request.batch.size() > kEntryPayloadMax ||
                            static_cast<std::int64_t>(entry_size(request.batch.size())) > image_.entry_bytes_max();
  if (is_too_large) {
    refuse(request, {Errc::too_large, std::ssize(request.batch.view())});
  }
  return is_too_large;
}

bool Appender::make_room_for_batch(LogPartition& partition, std::size_t entry_bytes) {
  return (partition.role.created_copies_due == 0 || put_created_copy(partition)) && make_room(entry_bytes);
}

// The answer to a duplicate makes the same promise as the first one: it waits for the batch that it repeats.
void Appender::repeat_answer(Append& request, const SequenceCheck& original) {
  auto partition = std::static_pointer_cast<LogPartition>(std::move(request.partition));
  AppendOutcome outcome;
  outcome.base_offset = original.base_offset;
  outcome.log_append_time = original.max_timestamp;
  outcome.log_start = partition->log_start();
  outcome.duplicate = true;
  const auto end = original.base_offset + (request.batch.facts().last_offset_delta + 1);
  const bool durable = is_durable_answer(request.acks, partition->flush());
  const bool is_producers = request.acks != Acks::internal;
  Answer answer{request.reply_on, std::move(request.done), std::move(outcome)};
  // The ends of a partition that was just truncated may be of what is gone: then the answer goes behind that.
  if (!partition->is_replicated() && (durable ? partition->durable_end() : partition->written_end()) >= end) {
    answers_now_.add(std::move(answer));
    return;
  }
  group_.needs_sync = group_.needs_sync || durable;
  group_.items.push_back({std::move(partition), end, durable, std::move(answer), Tells::log_end, is_producers});
}

void Appender::put_batch(Append& request, Offset base) {
  auto partition = std::static_pointer_cast<LogPartition>(std::move(request.partition));
  has_entries_ = true;
  const auto batch = request.batch.view();
  const auto last = base + request.batch.facts().last_offset_delta;

  begin_bytes();
  std::array<std::byte, kEntryHeaderSize + kBatchSizeMin> front;
  const auto prefix = MutableBytes{front}.subspan(kEntryHeaderSize);
  std::memcpy(prefix.data(), batch.data(), prefix.size());
  protocol::patch_base_offset(prefix, base);
  protocol::patch_leader_epoch(prefix, partition->leader_epoch());
  static_assert(kPatchedSize <= kBatchSizeMin);
  const auto at = file_position();
  // Only the size and the first 21 bytes of the batch are looked at: those are in `front`, patched.
  encode_batch_header(front, segment_->seed(), at, partition->local(), now_ms_, Bytes{prefix.data(), batch.size()});
  image_.put(front);
  image_.put(batch.subspan(kBatchSizeMin));
  put_zeros(entry_size(batch.size()) - kEntryHeaderSize - batch.size());

  auto& role = partition->role;
  auto& index = role.index != nullptr ? *role.index : partition->begin_index(segment_);
  index.entries.append({base, last, at + static_cast<std::int64_t>(kEntryHeaderSize),
                        static_cast<std::uint32_t>(batch.size()), request.batch.facts().max_timestamp});
  index.batch_bytes.store(index.batch_bytes.load(std::memory_order_relaxed) + std::ssize(batch),
                          std::memory_order_relaxed);
  index.newest_append_ms.store(std::max(index.newest_append_ms.load(std::memory_order_relaxed), now_ms_),
                               std::memory_order_relaxed);
  segment_->count_batch(std::ssize(batch));
  partition->count_appended(std::ssize(batch));
  ++segment_entries_;
  if (request.batch.facts().has_producer()) {
    role.producers.apply(request.batch.facts(), base, now_ms_);
  }
  if (!request.batch.facts().is_control()) {
    role.record_count += request.batch.facts().record_count;
  }
  partition->set_log_end(last + 1);
  mark_changed(partition);

  AppendOutcome outcome;
  outcome.base_offset = base;
  outcome.log_start = partition->log_start();
  if (request.batch.facts().timestamp_type() == protocol::TimestampType::log_append_time) {
    outcome.log_append_time = request.batch.facts().max_timestamp;
  }
  const auto flush = partition->flush();
  const bool durable = is_durable_answer(request.acks, flush);
  const auto flush_ms = partition->flush_ms();
  group_.needs_sync = group_.needs_sync || durable || flush == FlushMode::sync || flush_ms <= 0;
  group_.sync_within_ms = std::min(group_.sync_within_ms, flush_ms);
  group_.items.push_back({std::move(partition),
                          last + 1,
                          durable,
                          {request.reply_on, std::move(request.done), std::move(outcome)},
                          Tells::log_end,
                          request.acks != Acks::internal});
  take_delta_if_due();
}

bool Appender::make_room(std::size_t entry_bytes) {
  const auto size = static_cast<std::int64_t>(entry_bytes);
  if (!segment_is_ready()) {
    return false;
  }
  const bool has_data = file_position() > data_from_;
  const bool index_is_full =
      segment_entries_ * static_cast<std::int64_t>(kPackedIndexEntrySize) >= limits_.segment_index_bytes_max;
  if (has_data && (index_is_full || file_position() + size + kReserve > file_end_max())) {
    if (!image_.room_for(kReserve)) {
      stalled_on_image_ = true;
      return false;
    }
    fill_segment();
    if (!segment_is_ready()) {
      return false;
    }
  }
  if (!image_.room_for(size + kReserve)) {
    stalled_on_image_ = true;
    return false;
  }
  return true;
}

// However much state a segment begins with, it has room for more than that: else each would hold one batch.
std::int64_t Appender::file_end_max() const {
  return std::min(std::max(limits_.segment_bytes, data_from_ + limits_.segment_bytes / 2), kSegmentLimitMax);
}

// First bytes of a group: it begins with what was known to be durable then.
void Appender::begin_bytes() {
  if (group_has_bytes_) {
    return;
  }
  WEIR_CHECK(!has_ended_);  // what lies behind a clean end is nobody's
  group_has_bytes_ = true;
  group_.segment = segment_;
  group_.from = image_.tail();
  std::array<std::byte, kGroupEntrySize> entry;
  encode_entry(entry, segment_->seed(), file_position(), kNoPartition, now_ms_, GroupPayload{synced()});
  image_.put(entry);
}

void Appender::close_group(bool pad) {
  // The sync that an earlier group of the same hand-over needs will cover this one too.
  pad = pad || std::any_of(closed_.begin(), closed_.end(), [](const Group& group) { return group.needs_sync; });
  const bool exists = group_has_bytes_ || !group_.items.empty();
  const auto unaligned = image_.tail().value % static_cast<std::int64_t>(kBlock) != 0;
  if (!exists && !(pad && unaligned)) {
    return;
  }
  if (segment_ && unaligned && (pad || group_.needs_sync)) {
    begin_bytes();
    if (const auto size = pad_entry_size(image_.tail().value, kBlock); size > 0) {
      std::array<std::byte, kEntryHeaderSize> header;
      encode_pad_header(header, segment_->seed(), file_position(), size, now_ms_);
      image_.put(header);
      put_zeros(size - header.size());
    }
  }
  if (!group_has_bytes_) {
    group_.from = image_.tail();
  }
  group_.to = image_.tail();
  group_.delta = std::move(due_delta_);
  const auto items_like_last = group_.items.size();
  closed_.push_back(std::move(group_));
  group_ = {};
  group_.items.reserve(items_like_last);
  group_has_bytes_ = false;
}

void Appender::put_zeros(std::size_t count) {
  WEIR_DCHECK(count <= kZeros.size());
  image_.put(Bytes{kZeros}.first(count));
}

template <class Payload>
bool Appender::put_control_entry(LocalPartition partition, const Payload& payload) {
  constexpr auto kSize = entry_size(Payload::kSize);
  WEIR_CHECK(!closing_);  // who asks has looked
  if (!make_room(kSize)) {
    return false;
  }
  has_entries_ = true;
  begin_bytes();
  std::array<std::byte, kSize> entry;
  encode_entry(entry, segment_->seed(), file_position(), partition, now_ms_, payload);
  image_.put(entry);
  return true;
}

bool Appender::put_created_entry(const LogPartition& partition, LeaderEpoch epoch) {
  const auto& key = partition.key();
  return put_control_entry(partition.local(), PartitionCreatedPayload{key.topic_id, key.index, epoch, {0}, 0});
}

// Without its created entry nothing of a partition can be recovered: the next deltas and segments have its state, until
// then copies in other blocks stand by.
bool Appender::put_created_copy(LogPartition& partition) {
  auto& role = partition.role;
  const auto block = image_.tail().value / kDirectAlignment;
  if (block == role.created_copy_block) {
    return true;
  }
  if (!put_created_entry(partition, partition.leader_epoch())) {
    return false;
  }
  role.created_copy_block = block;
  --role.created_copies_due;
  return true;
}

bool Appender::put_created(const std::shared_ptr<LogPartition>& partition, LeaderEpoch epoch) {
  if (is_over()) {
    return true;  // it exists in the image of the metadata; the next start creates it again
  }
  if (!put_created_entry(*partition, epoch)) {
    return false;
  }
  partition->role.created = true;
  partition->role.created_copies_due = 2;
  live_.emplace(partition->local(), partition);
  next_local_ = std::max(next_local_, partition->local() + 1U);
  mark_changed(partition);
  return true;
}

bool Appender::put_deleted(LogPartition& partition) {
  if (is_over() || !partition.role.created) {
    return true;
  }
  const auto& key = partition.key();
  if (!put_control_entry(partition.local(), DeletedPayload{key.topic_id, key.index})) {
    return false;
  }
  live_.erase(partition.local());
  return true;
}

std::optional<Error> Appender::why_closed(const LogPartition& partition) const {
  if (!is_over() && !partition.deleted()) {
    return has_no_segment_ ? why_no_segment_comes() : std::nullopt;
  }
  return Error{closing_ ? Errc::closed : is_read_only() ? Errc::read_only : Errc::not_found};
}

void Appender::answer_at_once(Answer& answer, Error error) {
  answer.outcome.error = error;
  answers_now_.add(std::move(answer));
}

bool Appender::put_start_moved(const std::shared_ptr<LogPartition>& partition, Offset start, Answer& answer) {
  if (const auto why = why_closed(*partition)) {
    answer_at_once(answer, *why);
    return true;
  }
  if (start > partition->high_watermark()) {
    answer_at_once(answer, {Errc::out_of_range, start.value});
    return true;
  }
  if (start > partition->log_start()) {
    if (!put_control_entry(partition->local(), StartMovedPayload{start})) {
      return false;
    }
    partition->set_log_start(start);
    partition->forget_epochs_before(start);
    mark_changed(partition);
  }
  answer.outcome.log_start = partition->log_start();
  group_.needs_sync = true;
  group_.items.push_back({partition, partition->high_watermark(), true, std::move(answer)});
  return true;
}

bool Appender::put_epoch_start(const std::shared_ptr<LogPartition>& partition, Offset start) {
  if (is_over()) {
    return true;
  }
  if (!put_control_entry(partition->local(), EpochStartPayload{partition->leader_epoch(), start})) {
    return false;
  }
  mark_changed(partition);
  return true;
}

bool Appender::put_reserved(const std::shared_ptr<LogPartition>& partition, Offset end) {
  if ((partition->role.created_copies_due > 0 && !put_created_copy(*partition)) ||
      !put_control_entry(partition->local(), OffsetsReservedPayload{end})) {
    return false;
  }
  partition->role.reserved_end = std::max(partition->role.reserved_end, end);
  mark_changed(partition);
  return true;
}

bool Appender::do_reserve(Append& request, Offset end) {
  if (!put_reserved(std::static_pointer_cast<LogPartition>(request.partition), end)) {
    return false;
  }
  request.partition.reset();
  answer_when_synced({request.reply_on, std::move(request.done), {}});
  return true;
}

bool Appender::put_reserved_copy(const std::shared_ptr<LogPartition>& partition) {
  return is_over() || partition->deleted() || put_reserved(partition, partition->role.reserved_end);
}

void Appender::end(Answer answer) {
  answer_when_synced(std::move(answer));
  if (is_read_only()) {
    return;
  }
  close_group(true);
  has_ended_ = true;
}

bool Appender::ask_for_sync() {
  if (!closing_ && !is_read_only()) {
    answer_when_synced({});
  }
  return true;
}

void Appender::answer_when_synced(Answer answer) {
  group_.needs_sync = true;
  group_.items.push_back({nullptr, {}, true, std::move(answer)});
}

}  // namespace weir::log
