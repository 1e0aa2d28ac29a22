#include "tools/loadgen/worker.hpp"

#include "protocol/errors.hpp"

namespace weir::loadgen {
namespace {
constexpr Millis kFetchWaitMs = 100;
constexpr std::int64_t kNanosPerMicro = 1000;
}  // namespace

Worker::Worker(const Plan& plan, Shared& shared, const Clock& clock, std::int32_t number,
               UniqueFunction<void(Tally)> done)
    : plan_(plan), shared_(shared), clock_(clock), done_(std::move(done)), next_partition_(number % plan.partitions) {
  offsets_.resize(static_cast<std::size_t>(plan.partitions));
  if (plan.fetch) {
    return;
  }
  const auto batch = make_batch(plan.shape, static_cast<std::uint64_t>(number) + 1, clock.wall_ms());
  batch_bytes_ = static_cast<std::int64_t>(batch.size());
  for (std::int32_t p = 0; p < plan.partitions; ++p) {
    frames_.push_back(produce_frame(plan.topic, p, plan.acks, batch));
  }
}

void Worker::start(std::unique_ptr<Stream> stream) {
  channel_ = std::make_shared<Channel>(
      std::move(stream), [self = shared_from_this()](const SharedBytes& frame) { self->on_frame(frame); },
      [self = shared_from_this()] { self->on_end(); });
  channel_->start();
  fill_window();
}

bool Worker::may_send() {
  if (clock_.monotonic_ns() >= shared_.deadline_ns) {
    return false;
  }
  return plan_.fetch ? shared_.bytes_left.load(std::memory_order_relaxed) > 0
                     : shared_.requests_left.fetch_sub(1, std::memory_order_relaxed) > 0;
}

void Worker::fill_window() {
  BufferChain unsent;
  while (std::cmp_less(in_flight_.size(), plan_.window) && may_send()) {
    const auto partition = std::exchange(next_partition_, (next_partition_ + 1) % plan_.partitions);
    auto frame = plan_.fetch ? fetch_frame(plan_.topic, partition, offsets_[static_cast<std::size_t>(partition)],
                                           plan_.fetch_bytes, kFetchWaitMs)
                             : std::vector<std::byte>{};
    auto& source = plan_.fetch ? frame : frames_[static_cast<std::size_t>(partition)];
    set_correlation_id(source, next_correlation_id_++);
    // The head is copied, so that its correlation id stays; the batch behind it is sent from where it lies.
    constexpr std::size_t kHead = 12;
    unsent.append(SharedBytes::copy_of(Bytes{source}.first(plan_.fetch ? source.size() : kHead)));
    if (!plan_.fetch) {
      unsent.append(SharedBytes{Bytes{source}.subspan(kHead), shared_from_this()});
    }
    in_flight_.push_back({clock_.monotonic_ns(), partition});
  }
  if (in_flight_.empty()) {
    return finish();
  }
  channel_->send(std::move(unsent));
}

void Worker::on_end() {
  tally_.errors += static_cast<std::int64_t>(in_flight_.size());
  finish();
}

void Worker::on_frame(const SharedBytes& frame) {
  WEIR_CHECK(!in_flight_.empty());
  const auto request = in_flight_.front();
  in_flight_.pop_front();
  ++tally_.requests;
  tally_.latencies_us.push_back(static_cast<std::uint32_t>((clock_.monotonic_ns() - request.sent_ns) / kNanosPerMicro));
  if (plan_.fetch) {
    on_fetched(frame, request.partition);
  } else if (const auto error = read_produce_answer(frame).error; error != 0) {
    note_error(error, request.partition);
  } else {
    tally_.bytes += batch_bytes_;
  }
  fill_window();
}

void Worker::on_fetched(const SharedBytes& frame, std::int32_t partition) {
  const auto answer = read_fetch_answer(frame);
  if (answer.error != 0) {
    note_error(answer.error, partition);
  }
  tally_.bytes += static_cast<std::int64_t>(answer.bytes);
  shared_.bytes_left.fetch_sub(static_cast<std::int64_t>(answer.bytes), std::memory_order_relaxed);
  auto& next = offsets_[static_cast<std::size_t>(partition)];
  if (answer.next_offset >= 0) {
    next = answer.next_offset;
  }
  if (answer.high_watermark >= 0 && next >= answer.high_watermark) {
    next = 0;  // read it again: it is in cache
  }
}

void Worker::note_error(std::int16_t error, std::int32_t partition) {
  if (tally_.errors++ == 0) {
    std::fprintf(stderr, "loadgen: partition %d of %s answers %s\n", partition, plan_.topic.c_str(),
                 std::string(protocol::to_string(static_cast<protocol::ErrorCode>(error))).c_str());
  }
}

void Worker::finish() {
  if (std::exchange(finished_, true)) {
    return;
  }
  channel_->close();
  done_(std::move(tally_));
}

}  // namespace weir::loadgen
