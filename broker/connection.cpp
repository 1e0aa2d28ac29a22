#include "broker/connection.hpp"

#include <new>

#include "base/logging.hpp"
#include "base/out_of_memory.hpp"
#include "broker/advertised.hpp"
#include "broker/dispatch.hpp"

namespace weir::broker {
namespace {
constexpr std::int16_t kProduceKey = 0;
constexpr Millis kIdleForever = 3'650LL * 86'400'000;  // ten years: the sum with a time does not overflow
constexpr Millis kLargeFrameDeadline = 30'000;         // a large frame that others wait for must be in by then

std::shared_ptr<const Endpoints> endpoints_of(const Stream& stream, const ConfiguredListener& listener) {
  auto local = stream.local_endpoint();
  auto told = advertised_endpoint(listener, local);
  return std::make_shared<const Endpoints>(std::move(local), stream.remote_endpoint(), std::move(told));
}
}  // namespace

Connection::Connection(Services& services, IoLoop& loop, const ConfiguredListener& listener,
                       std::unique_ptr<Stream> stream, OnClosed on_closed)
    : services_(services),
      loop_(loop),
      stream_(std::move(stream)),
      endpoints_(endpoints_of(*stream_, listener)),
      on_closed_(std::move(on_closed)),
      reader_(static_cast<std::size_t>(services.config.socket_request_max_bytes)) {}

Connection::~Connection() {
  let_go_of_memory();
}

void Connection::start() {
  last_activity_ms_ = services_.runtime.clock.monotonic_ms();
  arm_idle_timer();
  read_more();
}

void Connection::arm_idle_timer() {
  if (services_.config.connections_max_idle_ms < 0) {
    return;
  }  // never, as in Kafka
  const auto idle_max = std::min(services_.config.connections_max_idle_ms, kIdleForever);
  idle_timer_ = loop_.timers().schedule(last_activity_ms_ + idle_max, [weak = weak_from_this(), idle_max] {
    const auto self = weak.lock();
    if (!self || self->closed_) {
      return;
    }
    const auto idle = self->services_.runtime.clock.monotonic_ms() - self->last_activity_ms_;
    if (idle >= idle_max && (self->slots_.empty() || self->writing_)) {  // who does not read is as good as gone
      return self->close();
    }
    if (!self->slots_.empty() && !self->writing_) {
      self->last_activity_ms_ = self->services_.runtime.clock.monotonic_ms();
    }
    self->arm_idle_timer();
  });
}

void Connection::read_more() {
  if (closed_ || reading_) {
    return;
  }
  if (const auto large = reader_.large_frame_bytes(); large > 0) {
    if (!acquire(large)) {
      return;
    }
    reader_.grant();
    arm_progress_timer();
  }
  const auto room = room_to_read();
  if (room.empty()) {
    return close();
  }
  reading_ = true;
  stream_->read_some(room, [weak = weak_from_this()](const Result<std::size_t>& count) {
    if (const auto self = weak.lock()) {
      self->on_read(count);
    }
  });
}

// Nothing: there is no memory for what this peer sends, and it costs this connection alone.
MutableBytes Connection::room_to_read() {
  try {
    const MayRunOutOfMemory here;
    return reader_.prepare();
  } catch (const std::bad_alloc&) {
    WEIR_LOG(error, "closing {}: out of memory for what it sends, {} bytes of a frame are here",
             to_string(endpoints_->remote), reader_.buffered());
    return {};
  }
}

// A large frame holds budget while it arrives, and until its turn. One that others wait for, and that does not come in,
// is a slow sender's, or of one who does not read what it asked for before.
void Connection::arm_progress_timer() {
  const auto deadline = services_.runtime.clock.monotonic_ms() + kLargeFrameDeadline;
  progress_timer_ = loop_.timers().schedule(deadline, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || self->closed_ || self->granted_.bytes() == 0) {
      return;
    }
    if (!self->services_.memory.contended()) {
      return self->arm_progress_timer();
    }
    WEIR_LOG(warn,
             "closing {}: a frame of {} bytes did not arrive, or its turn did not come, within {} s while others wait "
             "for request memory",
             to_string(self->endpoints_->remote), self->granted_.bytes(), kLargeFrameDeadline / 1000);
    self->close();
  });
}

void Connection::on_read(const Result<std::size_t>& count) {
  reading_ = false;
  if (closed_) {
    return;
  }
  if (!count) {
    return close();
  }
  last_activity_ms_ = services_.runtime.clock.monotonic_ms();
  reader_.received(*count);
  take_frames();
}

bool Connection::may_take(std::int16_t api_key) const {
  if (slots_.empty()) {
    return true;
  }
  if (slots_.size() >= kPipelineMax || api_key != kProduceKey) {
    return false;
  }
  return std::ranges::all_of(
      slots_, [](const Slot& slot) { return slot.ready || (slot.api_key == kProduceKey && !slot.holds_followers); });
}

bool Connection::acquire(std::size_t bytes) {
  WEIR_CHECK(granted_.bytes() == 0);
  if (waiting_for_memory_) {
    return false;
  }
  auto& memory = services_.memory;
  memory_ticket_ = memory.acquire(bytes, loop_, [weak = weak_from_this(), &memory, bytes] {
    RequestShare share{memory, bytes};
    const auto self = weak.lock();
    if (!self || self->closed_ || self->ending_) {
      return;
    }
    self->waiting_for_memory_ = false;
    self->memory_ticket_ = RequestMemory::kTaken;
    self->granted_ = std::move(share);
    if (!self->pending_frame_) {  // the leave to read a large frame: its time begins now
      self->reader_.grant();
      self->arm_progress_timer();
    }
    self->take_frames();
  });
  waiting_for_memory_ = memory_ticket_ != RequestMemory::kTaken;
  if (!waiting_for_memory_) {
    granted_ = RequestShare{memory, bytes};
  }
  return !waiting_for_memory_;
}

void Connection::take_frames() {
  if (taking_) {
    return;
  }  // an answer given inside a handler comes back here: the outer turn goes on
  taking_ = true;
  const auto self = shared_from_this();
  while (!closed_ && !ending_ && !waiting_for_memory_ && take_pending()) {
  }
  taking_ = false;
  if (!closed_ && !ending_ && !waiting_for_memory_ && !pending_frame_) {
    read_more();
  }
}

bool Connection::take_pending() {
  if (!pending_frame_) {
    auto next = reader_.next();
    if (!next) {
      refuse_next("frame size is not between 1 and socket.request.max.bytes", next.error().detail);
      return false;
    }
    if (!*next) {
      return false;
    }
    pending_frame_ = std::move(**next);
  }
  const auto api_key = peek_api_key(pending_frame_->view());
  if (!api_key) {
    refuse_next("a frame without a header, of this many bytes", std::ssize(pending_frame_->view()));
    return false;
  }
  if (!may_take(*api_key) || (granted_.bytes() == 0 && !acquire(pending_frame_->size()))) {
    return false;
  }
  hand_over(std::move(*pending_frame_));
  return true;
}

void Connection::hand_over(SharedBytes frame) {
  pending_frame_.reset();
  if (progress_timer_ != 0) {
    loop_.timers().cancel(std::exchange(progress_timer_, 0));
  }
  const auto slot = first_slot_ + slots_.size();
  slots_.push_back({.api_key = *peek_api_key(frame.view()), .taken_ns = services_.runtime.clock.monotonic_ns()});
  const auto outcome =
      dispatch(services_, loop_, std::move(frame), std::move(granted_), endpoints_, shared_from_this(), slot);
  if (outcome == Dispatched::refused) {
    refuse(slot);
  }
}

void Connection::refuse_next(std::string_view why, std::int64_t detail) {
  WEIR_LOG(debug, "closing {}: {} ({})", to_string(endpoints_->remote), why, detail);
  slots_.emplace_back();
  refuse(first_slot_ + slots_.size() - 1);
}

void Connection::refuse(std::uint64_t slot) {
  if (closed_ || slot < first_slot_ || slot - first_slot_ >= slots_.size()) {
    return;
  }
  auto& refused = slots_[slot - first_slot_];
  refused.refused = true;
  ending_ = true;
  // The close may have to wait for a peer that does not read: no memory of what is not taken up any more waits with it.
  if (std::exchange(pending_frame_, std::nullopt)) {
    let_go_of_memory();
  }
  flush_later();
}

void Connection::answer(std::uint64_t slot, protocol::ResponseFrame frame) {
  if (closed_) {
    return;
  }
  WEIR_CHECK(slot >= first_slot_ && slot - first_slot_ < slots_.size());
  auto& answered = slots_[slot - first_slot_];
  WEIR_CHECK(!answered.ready);
  answered.ready = true;
  services_.metrics.request_duration.observe_ns(answered.api_key,
                                                services_.runtime.clock.monotonic_ns() - answered.taken_ns);
  answered.frame = std::move(frame.bytes);
  for (const auto code : frame.error_codes) {
    services_.metrics.errors.add(code);
  }
  flush_later();
}

// Several requests of a connection are often answered in one turn of its loop: their answers leave together.
void Connection::flush_later() {
  if (std::exchange(flush_posted_, true)) {
    return;
  }
  loop_.post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && !self->closed_) {
      self->flush_posted_ = false;
      self->flush();
    }
  });
}

void Connection::hold(std::uint64_t slot, bool held) {
  if (closed_ || slot < first_slot_ || slot - first_slot_ >= slots_.size()) {
    return;
  }  // answered meanwhile
  slots_[slot - first_slot_].holds_followers = held;
  if (!held) {
    take_frames();
  }
}

void Connection::flush() {
  send_ready();
  if (!writing_ && !slots_.empty() && slots_.front().refused) {
    return close();
  }
  take_frames();
}

// Everything that is ready at the front goes out in one write.
void Connection::send_ready() {
  if (writing_) {
    return;
  }
  BufferChain out;
  while (!slots_.empty() && slots_.front().ready && !slots_.front().refused) {
    out.append(std::move(slots_.front().frame));
    slots_.pop_front();
    ++first_slot_;
  }
  if (!out.empty()) {
    writing_ = true;
    stream_->write(std::move(out), [weak = weak_from_this()](const Result<void>& written) {
      const auto self = weak.lock();
      if (!self || self->closed_) {
        return;
      }
      self->writing_ = false;
      if (!written) {
        return self->close();
      }
      self->last_activity_ms_ = self->services_.runtime.clock.monotonic_ms();  // it reads what it asked for: not idle
      self->flush();
    });
  }
}

void Connection::close() {
  if (closed_) {
    return;
  }
  send_ready();  // what was answered before the reason to close
  closed_ = true;
  const auto self = shared_from_this();
  if (idle_timer_ != 0) {
    loop_.timers().cancel(idle_timer_);
  }
  if (progress_timer_ != 0) {
    loop_.timers().cancel(progress_timer_);
  }
  let_go_of_memory();
  slots_.clear();
  stream_->close();
  on_closed_(*this);
}

void Connection::let_go_of_memory() {
  if (memory_ticket_ != RequestMemory::kTaken) {
    services_.memory.forget(std::exchange(memory_ticket_, RequestMemory::kTaken));
  }
  granted_.give_back();
}

void report_unencodable(std::string_view name, std::int16_t version, const Error& error) {
  WEIR_LOG(error, "cannot encode {} version {}: {}; the connection is closed", name, version, to_string(error));
}

}  // namespace weir::broker
