// The HTTP side of a whole broker on simulated seams: what it answers, and where it listens.
#include "broker/admin_http.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "broker/broker.hpp"
#include "sim/seams/sim_runtime.hpp"
#include "sim/seams/talk.hpp"

namespace weir::broker {
namespace {
using testing::HasSubstr;
using testing::StartsWith;

class AdminHttpTest : public testing::Test {
 protected:
  std::unique_ptr<Broker> start(const std::vector<ConfigInput>& inputs = {}) {
    auto loaded = load_config(inputs);
    EXPECT_TRUE(loaded.errors.empty());
    return Broker::start(std::move(loaded.config), "/data", Uuid{}, runtime_, why_);
  }

  // Sends `text` and returns all that comes until the broker closes.
  std::string talk(const Endpoint& at, std::string_view text) {
    auto answer = sim::talk(machine_.queue, machine_.network, loop_, at, text);
    EXPECT_TRUE(answer);
    return std::move(answer).value_or("");
  }
  std::string get(const Endpoint& at, const std::string& target) {
    return talk(at, "GET " + target + " HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n");
  }

  sim::SimMachine machine_{17};
  sim::SimLoop loop_{machine_.queue};
  Runtime runtime_ = machine_.process.runtime();
  std::string why_;
};

TEST_F(AdminHttpTest, HealthAndMetricsAreServedUntilTheBrokerStops) {
  const auto broker = start();
  ASSERT_TRUE(broker) << why_;
  const auto at = broker->http_bound();
  ASSERT_EQ(at, (Endpoint{"127.0.0.1", 9644}));
  EXPECT_THAT(get(*at, "/healthz"), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(get(*at, "/healthz"), HasSubstr("\r\n\r\nok\n"));
  const auto metrics = get(*at, "/metrics");
  EXPECT_THAT(metrics, StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(metrics, HasSubstr("# TYPE "));
  EXPECT_THAT(get(*at, "/nothing"), StartsWith("HTTP/1.1 404"));
  bool stopped = false;
  machine_.process.io(0).post([&] { broker->stop([&] { stopped = true; }); });
  ASSERT_TRUE(machine_.queue.run_until([&] { return stopped; }, machine_.queue.clock().monotonic_ms() + 60'000));
  bool refused = false;
  machine_.network.connect(*at, loop_, [&](const Result<std::unique_ptr<Stream>>& stream) { refused = !stream; });
  EXPECT_TRUE(machine_.queue.run_until([&] { return refused; }, machine_.queue.clock().monotonic_ms() + 60'000));
}

TEST_F(AdminHttpTest, OtherMethodsAreRefusedAndNonsenseClosesTheConnection) {
  const auto broker = start();
  ASSERT_TRUE(broker) << why_;
  const auto at = *broker->http_bound();
  EXPECT_THAT(talk(at, "POST /metrics HTTP/1.1\r\nHost: here\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 405"));
  EXPECT_EQ(talk(at, "no http at all\r\n\r\n"), "");
  EXPECT_EQ(talk(at, "GET /" + std::string(20'000, 'a') + " HTTP/1.1\r\n\r\n"), "") << "a header over the limit";
  EXPECT_EQ(talk(at, "GET /hea"), "") << "a half request, until its time is over";
  EXPECT_THAT(get(at, "/healthz"), StartsWith("HTTP/1.1 200 OK")) << "the others are still served";
}

TEST_F(AdminHttpTest, ATakenPortGivesWayOnlyWhereNobodyChoseIt) {
  const auto taken = machine_.network.listen({"127.0.0.1", 9644}, {&loop_}, [](std::unique_ptr<Stream>, IoLoop&) {});
  ASSERT_TRUE(taken);
  {
    const auto broker = start();
    ASSERT_TRUE(broker) << why_;
    ASSERT_TRUE(broker->http_bound());
    EXPECT_NE(broker->http_bound()->port, 9644);
    EXPECT_THAT(get(*broker->http_bound(), "/healthz"), HasSubstr("ok"));
  }
}

TEST_F(AdminHttpTest, AChosenPortThatIsTakenEndsTheStartWithASentenceThatNamesTheKey) {
  const auto taken = machine_.network.listen({"127.0.0.1", 9644}, {&loop_}, [](std::unique_ptr<Stream>, IoLoop&) {});
  ASSERT_TRUE(taken);
  EXPECT_FALSE(start({{"mq.http.listen", "127.0.0.1:9644"}}));
  EXPECT_THAT(why_, StartsWith("mq.http.listen: port 9644 on 127.0.0.1 is taken"));
}

TEST_F(AdminHttpTest, AnEmptyAddressTurnsItOff) {
  const auto broker = start({{"mq.http.listen", ""}});
  ASSERT_TRUE(broker) << why_;
  EXPECT_FALSE(broker->http_bound());
}

}  // namespace
}  // namespace weir::broker
