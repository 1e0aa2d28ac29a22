// Connection: one client socket. Reads frames, hands them over one at a time, sends answers in the order of the
// requests. Owned by the server's set of its loop; everything runs on that loop. Handlers see it as a weak ReplySink.
//
// Order: a request is taken up when all before it are answered; only Produce may follow Produce while the first is not
// answered, so that group commit sees them together (Kafka's clients rely on no more). Answers that become ready in one
// turn of the loop leave in one write, at its end or before a close. What cannot be answered (a frame whose size cannot
// be true, a key or version that is not served, a body that does not decode) closes the connection once what came
// before it is answered.
//
// Back-pressure: with kPipelineMax requests unanswered, or without request memory, the socket is not read.
//
// States: reading -> (memory wait) -> handing over -> answering -> (ending); closing from any of them: the stream is
// closed, the sink is dead to handlers, and the server forgets the connection. What was read and not handed over gives
// its memory back then; what was handed over does so when it is answered or dropped (Reply).
#pragma once

#include <deque>
#include <memory>

#include "base/listeners.hpp"
#include "broker/request_context.hpp"
#include "broker/services.hpp"
#include "protocol/frame_reader.hpp"

namespace weir::broker {

class Connection final : public ReplySink, public std::enable_shared_from_this<Connection> {
 public:
  using OnClosed = UniqueFunction<void(Connection&)>;
  static constexpr std::size_t kPipelineMax = 64;

  Connection(Services& services, IoLoop& loop, const ConfiguredListener& listener, std::unique_ptr<Stream> stream,
             OnClosed on_closed);
  ~Connection() override;

  void start();
  void answer(std::uint64_t slot, protocol::ResponseFrame frame) override;
  void refuse(std::uint64_t slot) override;
  void hold(std::uint64_t slot, bool held) override;
  void close();  // now; what is ready goes out first

 private:
  struct Slot {
    std::int16_t api_key = 0;
    std::int64_t taken_ns = 0;  // monotonic
    bool ready = false;
    bool refused = false;  // the connection closes when it is the first
    bool holds_followers = false;
    BufferChain frame;
  };

  void read_more();
  MutableBytes room_to_read();
  void on_read(const Result<std::size_t>& count);
  void take_frames();                 // hands over what may be handed over, then reads on
  [[nodiscard]] bool take_pending();  // false: there is none, or it must wait
  void hand_over(SharedBytes frame);
  void refuse_next(std::string_view why, std::int64_t detail);
  [[nodiscard]] bool may_take(std::int16_t api_key) const;
  bool acquire(std::size_t bytes);  // false: waits, take_frames() runs again when granted
  void flush_later();               // at the end of this turn
  void flush();                     // sends what is ready, then takes up what had to wait for it
  void send_ready();
  void let_go_of_memory();  // of what is not handed over
  void arm_idle_timer();
  void arm_progress_timer();

  Services& services_;
  IoLoop& loop_;
  std::unique_ptr<Stream> stream_;
  const std::shared_ptr<const Endpoints> endpoints_;
  OnClosed on_closed_;
  protocol::FrameReader reader_;
  std::optional<SharedBytes> pending_frame_;  // read, but not yet its turn
  std::deque<Slot> slots_;
  std::uint64_t first_slot_ = 0;
  bool reading_ = false;
  bool writing_ = false;
  bool flush_posted_ = false;
  bool waiting_for_memory_ = false;
  RequestMemory::Ticket memory_ticket_ = RequestMemory::kTaken;  // of the wait
  RequestShare granted_;                                         // for the frame that is on its way in or next in turn
  Millis last_activity_ms_ = 0;
  TimerQueue::TimerId idle_timer_ = 0;
  TimerQueue::TimerId progress_timer_ = 0;
  bool taking_ = false;
  bool ending_ = false;  // a slot is refused: nothing more is taken up
  bool closed_ = false;
};

}  // namespace weir::broker
