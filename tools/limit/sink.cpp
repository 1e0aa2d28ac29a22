#include "tools/limit/sink.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/bytes.hpp"
#include "protocol/frames.hpp"
#include "protocol/gen/produce.hpp"
#include "protocol/record_batch.hpp"

namespace weir::limit {
namespace {

constexpr std::size_t kFrameMax = 2U << 20U;
constexpr std::size_t kZeroPiece = 1U << 20U;
constexpr std::int64_t kBlock = 4096;
constexpr std::int16_t kVersion = 9;
constexpr std::size_t kLengthSize = 4;
constexpr std::size_t kCorrelationIdAt = 4;  // behind key and version

[[noreturn]] void failed(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

bool receive(int socket, MutableBytes into) {
  for (std::size_t got = 0; got < into.size();) {
    const auto count = ::recv(socket, into.data() + got, into.size() - got, 0);
    if (count <= 0) {
      return false;
    }
    got += static_cast<std::size_t>(count);
  }
  return true;
}

// The answer that every request gets; only its correlation id differs.
std::vector<std::byte> make_answer() {
  protocol::ProduceResponse response;
  auto& topic = response.responses.emplace_back();
  topic.name = "limit";
  topic.partition_responses.emplace_back();
  auto frame = protocol::encode_response_frame(0, kVersion, response);
  WEIR_CHECK(frame.has_value());
  return frame->bytes.flatten();
}

// Where the one batch of the frame begins: its size, magic and CRC fit nothing else.
std::optional<protocol::RecordBatchView> batch_in(Bytes frame) {
  constexpr std::size_t kLooked = 256;
  for (std::size_t at = kCorrelationIdAt; at < std::min(frame.size(), kLooked); ++at) {
    const auto batch = protocol::RecordBatchView::parse(frame.subspan(at));
    if (batch && at + batch->size() + 16 >= frame.size()) {
      return *batch;
    }
  }
  return std::nullopt;
}

}  // namespace

Sink::Sink(const std::string& path, std::int64_t file_bytes) : file_bytes_(file_bytes) {
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0644);
  if (file_ < 0) {
    failed(path);
  }
  const AlignedBlock zeros{kZeroPiece};
  for (std::int64_t at = 0; at < file_bytes_; at += static_cast<std::int64_t>(kZeroPiece)) {
    if (::pwrite(file_, zeros.bytes().data(), kZeroPiece, at) != static_cast<ssize_t>(kZeroPiece)) {
      failed(path);
    }
  }
}

Sink::~Sink() {
  ::close(file_);
}

bool Sink::take(std::byte* memory, std::size_t size) {
  const auto whole = (static_cast<std::int64_t>(size) + kBlock - 1) / kBlock * kBlock;
  const auto at = next_.fetch_add(whole) % (file_bytes_ - static_cast<std::int64_t>(kFrameMax));  // whole blocks all
  return ::pwrite(file_, memory, static_cast<std::size_t>(whole), at) == whole;
}

void Sink::serve(int socket) {
  const AlignedBlock memory{kFrameMax};
  auto answer = make_answer();
  std::array<std::byte, kLengthSize> length{};
  while (receive(socket, length)) {
    const auto size = static_cast<std::size_t>(load_be<std::int32_t>(length, 0));
    if (size > kFrameMax || !receive(socket, memory.bytes().first(size))) {
      break;
    }
    const auto batch = batch_in(memory.bytes().first(size));
    if (!batch || !batch->crc_ok() || !take(memory.bytes().data(), size)) {
      break;
    }
    store_be(MutableBytes{answer}, kLengthSize, load_be<std::int32_t>(memory.bytes(), kCorrelationIdAt));
    if (::send(socket, answer.data(), answer.size(), MSG_NOSIGNAL) != std::ssize(answer)) {
      break;
    }
  }
  ::close(socket);
}

}  // namespace weir::limit
