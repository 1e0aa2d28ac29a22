#include "tools/client/fetcher.hpp"

#include "protocol/errors.hpp"
#include "protocol/record_batch.hpp"

namespace weir::client {
namespace {
constexpr Millis kRetryMs = 100;
constexpr std::int32_t kNoSession = -1;

bool worth_another_try(std::int16_t code) {
  const auto known = protocol::error_code_from(code);
  return known && protocol::is_retriable(*known);
}
}  // namespace

Fetcher::Fetcher(Blocking& broker, TopicInfo topic, std::map<std::int32_t, std::int64_t> from, Options options)
    : broker_(broker),
      topic_(std::move(topic)),
      from_(std::move(from)),
      options_(options),
      last_progress_ms_(broker.clock().monotonic_ms()) {}

Fetcher::~Fetcher() = default;

void Fetcher::ask(std::int32_t leader) {
  protocol::FetchRequest request;
  request.max_wait_ms = static_cast<std::int32_t>(options_.wait_ms);
  request.min_bytes = 1;
  request.max_bytes = options_.bytes_max;
  request.session_epoch = kNoSession;
  auto& asked = request.topics.emplace_back();
  asked.topic = protocol::Text{topic_.name};
  asked.topic_id = topic_.id;
  for (const auto& part : topic_.partitions) {
    const auto from = from_.find(part.index);
    if (part.leader != leader || from == from_.end()) {
      continue;
    }
    asked.partitions.push_back(
        {.partition = part.index, .fetch_offset = from->second, .partition_max_bytes = options_.partition_bytes});
  }
  if (asked.partitions.empty()) {
    return;
  }
  // The one that waits longest is served first, so that a large partition does not starve the others.
  std::ranges::rotate(asked.partitions, asked.partitions.begin() + (++turn_ % std::ssize(asked.partitions)));
  under_way_[leader] = broker_.begin<Answered<protocol::FetchResponse>>(
      [cluster = broker_.cluster(), leader,
       request = std::make_shared<const protocol::FetchRequest>(std::move(request))](auto done) {
        cluster->template call<protocol::FetchRequest, protocol::FetchResponse>(leader, request, std::move(done));
      });
}

void Fetcher::ask_all() {
  for (const auto& part : topic_.partitions) {
    if (from_.contains(part.index) && !under_way_.contains(part.leader)) {
      ask(part.leader);
    }
  }
}

std::vector<FetchedBatches> Fetcher::next() {
  std::vector<FetchedBatches> fetched;
  if (std::exchange(look_again_, false)) {
    broker_.pause(kRetryMs);
    const auto found = broker_.topics(std::vector<std::string>{topic_.name});
    if (found && !found->empty() && found->front().error == 0) {
      topic_ = found->front();
    }
  }
  if (under_way_.empty()) {
    ask_all();
  }
  if (under_way_.empty()) {
    return fetched;
  }
  const auto first = under_way_.begin();
  const auto leader = first->first;
  const auto answer = first->second.get();
  under_way_.erase(first);
  if (!answer) {
    unhelpful({.error = answer.error()});
    return fetched;
  }
  if (answer->response.error_code != 0) {
    unhelpful({.code = answer->response.error_code});
    return fetched;
  }
  take(answer->response, fetched);
  if (!look_again_ && !failure_) {
    ask(leader);
  }
  return fetched;
}

void Fetcher::take(const protocol::FetchResponse& response, std::vector<FetchedBatches>& fetched) {
  bool helpful = true;
  for (const auto& topic : response.responses) {
    for (const auto& part : topic.partitions) {
      if (!from_.contains(part.partition_index)) {
        continue;
      }
      if (part.error_code != 0) {
        helpful = false;
        unhelpful({.code = part.error_code, .partition = part.partition_index});
      } else if (part.records) {
        take_partition(part.partition_index, *part.records, fetched);
      }
    }
  }
  if (helpful) {
    last_progress_ms_ = broker_.clock().monotonic_ms();
  }
}

void Fetcher::take_partition(std::int32_t index, const BufferChain& records, std::vector<FetchedBatches>& fetched) {
  if (records.empty()) {
    return;
  }
  auto bytes = std::get<SharedBytes>(records.pieces().front());  // what was read from one frame is one piece
  protocol::BatchChain batches{bytes.view()};
  auto next = from_.at(index);
  std::size_t sound = 0;
  for (;;) {
    const auto batch = batches.next();
    if (batch && !*batch) {
      break;  // the last one may be cut
    }
    if (!batch || !(*batch)->crc_ok()) {
      unhelpful({.error = {Errc::corrupt, next}, .partition = index, .damaged_at = next});
      break;
    }
    sound += (*batch)->size();
    next = std::max(next, (*batch)->last_offset() + 1);
  }
  from_[index] = next;
  if (sound > 0) {
    fetched.push_back({index, bytes.part(0, sound)});
  }
}

// Another try may heal it, for a while.
void Fetcher::unhelpful(FetchFailure failure) {
  const bool again = failure.code != 0 ? worth_another_try(failure.code)
                                       : failure.error.code == Errc::closed || failure.error.code == Errc::timed_out;
  if (again && broker_.clock().monotonic_ms() - last_progress_ms_ < options_.give_up_ms) {
    look_again_ = true;
    return;
  }
  if (!failure_) {
    failure_ = failure;
  }
}

}  // namespace weir::client
