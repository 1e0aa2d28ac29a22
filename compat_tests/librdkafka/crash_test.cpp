// The producer of the crash run, and the reading back. The protocol with the harness is told in harness/program.py; the
// comparison of the two files is the harness's.
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "librdkafka/admin_client.hpp"
#include "librdkafka/support.hpp"

namespace compat {

namespace {

constexpr std::size_t kWindow = 10'000;
constexpr std::size_t kStep = 500;

// Deliveries go on while we wait: the harness may need more of them before it kills.
void await_kill(RdKafka::Producer& producer) {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  until("the harness has killed the broker", [&] { return ::poll(&input, 1, 0) == 1; }, [&] { producer.poll(50); });
  std::string line;
  std::getline(std::cin, line);
  if (line != "KILLED") {
    throw Refused("the harness went away");
  }
}

TEST(Crash, EverySendIsDeliveredThoughTheBrokerIsKilledOnTheWay) {
  const auto total = environment_number("WEIR_CRASH_TOTAL");
  const auto gate = environment_number("WEIR_CRASH_GATE");
  const auto folder = environment("WEIR_OUT");
  AdminClient().create_topic_and_wait("crash");
  Deliveries deliveries;
  deliveries.on_each = [&](const Delivery&) {
    if (deliveries.all.size() % kStep == 0) {
      std::printf("ACKED %zu\n", deliveries.all.size());
      std::fflush(stdout);
    }
  };
  const auto producer = make_producer({{"enable.idempotence", "true"}, {"compression.codec", "lz4"}}, &deliveries);
  for (std::int64_t id = 0; id < total; ++id) {
    if (id == gate) {
      await_kill(*producer);
    }
    const auto in_window = [&] {
      return static_cast<std::size_t>(id) - deliveries.all.size() - deliveries.failed.size() < kWindow;
    };
    until("the window has room", in_window, [&] { producer->poll(100); });
    send(*producer, standard_record("crash", id, "lz4"));
  }
  flush(*producer);
  EXPECT_EQ(deliveries.failed, std::vector<std::string>{});
  EXPECT_EQ(deliveries.all.size(), static_cast<std::size_t>(total));
  std::ofstream acks(folder + "/acks-crash.txt");
  for (const auto& delivery : deliveries.all) {
    acks << line(delivery);
  }
  std::ofstream reads(folder + "/reads-crash.txt");
  read_all("crash", kPartitions, [&](RdKafka::Message& message) {
    reads << line({message.partition(), message.offset(), check_content(message, "lz4")});
  });
}

}  // namespace

}  // namespace compat
