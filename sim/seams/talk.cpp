#include "sim/seams/talk.hpp"

#include <array>
#include <functional>

namespace weir::sim {
namespace {
constexpr Millis kPatienceMs = 60'000;
}  // namespace

std::optional<std::string> talk(EventQueue& queue, SimNetwork& network, SimLoop& loop, const Endpoint& to,
                                std::string_view text) {
  std::unique_ptr<Stream> stream;
  std::string got;
  std::array<std::byte, 512> chunk{};
  bool over = false;
  std::function<void()> read = [&] {
    stream->read_some(MutableBytes{chunk}, [&](const Result<std::size_t>& count) {
      if (!count) {
        over = true;
        return;
      }
      got += as_text(Bytes{chunk}.first(*count));
      read();
    });
  };
  bool refused = false;
  network.connect(to, loop, [&](Result<std::unique_ptr<Stream>> connected) {
    if (!connected) {
      refused = over = true;
      return;
    }
    stream = std::move(*connected);
    stream->write(BufferChain{SharedBytes::copy_of(as_bytes(text))}, [](const Result<void>&) {});
    read();
  });
  queue.run_until([&] { return over; }, queue.clock().monotonic_ms() + kPatienceMs);
  return over && !refused ? std::optional{std::move(got)} : std::nullopt;
}

}  // namespace weir::sim
