#include "tools/loadgen/tail.hpp"

namespace weir::loadgen {
namespace {
constexpr Millis kFetchWaitMs = 500;
constexpr std::int64_t kNanosPerMicro = 1000;
}  // namespace

Tail::Tail(const Plan& plan, const Clock& clock, IoLoop& loop, std::int64_t records, std::int64_t deadline_ns,
           UniqueFunction<void(Tally)> done)
    : plan_(plan), clock_(clock), loop_(loop), records_(records), deadline_ns_(deadline_ns), done_(std::move(done)) {
  frame_ = produce_frame(plan.topic, 0, plan.acks, make_batch({1, plan.shape.record_bytes}, 1, clock.wall_ms()));
  sent_ns_.reserve(static_cast<std::size_t>(records));
}

void Tail::start(std::unique_ptr<Stream> producer, std::unique_ptr<Stream> consumer) {
  const auto self = shared_from_this();
  const auto on_end = [self] {
    ++self->tally_.errors;
    self->finish();
  };
  producer_ = std::make_shared<Channel>(
      std::move(producer),
      [self](const SharedBytes& frame) { self->tally_.errors += read_produce_answer(frame).error != 0 ? 1 : 0; },
      on_end);
  consumer_ = std::make_shared<Channel>(
      std::move(consumer), [self](const SharedBytes& frame) { self->on_fetched(frame); }, on_end);
  producer_->start();
  consumer_->start();
  fetch(0);  // tells where the partition ends
}

void Tail::fetch(Millis wait_ms) {
  auto frame = fetch_frame(plan_.topic, 0, next_offset_, plan_.fetch_bytes, wait_ms);
  set_correlation_id(frame, next_correlation_id_++);
  consumer_->send(BufferChain{SharedBytes::adopt(std::move(frame))});
}

void Tail::on_fetched(const SharedBytes& frame) {
  const auto now = clock_.monotonic_ns();
  const auto answer = read_fetch_answer(frame);
  if (answer.error != 0 || now >= deadline_ns_) {
    ++tally_.errors;
    return finish();
  }
  if (first_offset_ < 0) {
    first_offset_ = next_offset_ = answer.high_watermark;
    send_next();
  } else {
    for (; next_offset_ < answer.next_offset; ++next_offset_) {
      const auto sent = sent_ns_[static_cast<std::size_t>(next_offset_ - first_offset_)];
      tally_.latencies_us.push_back(static_cast<std::uint32_t>((now - sent) / kNanosPerMicro));
    }
    tally_.bytes += static_cast<std::int64_t>(answer.bytes);
  }
  if (std::ssize(tally_.latencies_us) >= records_) {
    return finish();
  }
  fetch(kFetchWaitMs);
}

void Tail::send_next() {
  if (finished_ || std::ssize(sent_ns_) >= records_) {
    return;
  }
  set_correlation_id(frame_, next_correlation_id_++);
  sent_ns_.push_back(clock_.monotonic_ns());
  ++tally_.requests;
  producer_->send(BufferChain{SharedBytes::copy_of(frame_)});
  loop_.timers().schedule(clock_.monotonic_ms() + kPaceMs, [self = shared_from_this()] { self->send_next(); });
}

void Tail::finish() {
  if (!std::exchange(finished_, true)) {
    producer_->close();
    consumer_->close();
    done_(std::move(tally_));
  }
}

}  // namespace weir::loadgen
