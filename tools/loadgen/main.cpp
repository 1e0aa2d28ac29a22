// `loadgen`: bounded produce or fetch load on a loopback broker from one thread of prebuilt frames, or a steady trickle
// timed end to end; prints one JSON line.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <future>

#include "base/io_thread.hpp"
#include "base/real_clock.hpp"
#include "base/tcp_network.hpp"
#include "tools/loadgen/tail.hpp"

namespace weir::loadgen {
namespace {

struct Totals {
  Tally tally;
  double seconds = 0;
};

Totals run(const Plan& plan, Shared& shared, std::int32_t connections, Millis limit_ms) {
  RealClock clock;
  IoThread loop{"loadgen", clock};
  TcpNetwork network;
  std::promise<Tally> finished;
  const auto all = std::make_shared<Tally>();
  const auto left = std::make_shared<std::int32_t>(connections);
  const auto started = clock.monotonic_ns();
  shared.deadline_ns = started + limit_ms * 1'000'000;
  const auto one_done = [&finished, all, left](Tally tally) {
    all->requests += tally.requests;
    all->bytes += tally.bytes;
    all->errors += tally.errors;
    all->latencies_us.insert(all->latencies_us.end(), tally.latencies_us.begin(), tally.latencies_us.end());
    if (--*left == 0) {
      finished.set_value(std::move(*all));
    }
  };
  loop.post([&] {
    for (std::int32_t i = 0; i < connections; ++i) {
      auto worker = std::make_shared<Worker>(plan, shared, clock, i, one_done);
      network.connect(plan.to, loop, [worker, one_done](Result<std::unique_ptr<Stream>> stream) mutable {
        if (!stream) {
          return one_done(Tally{.errors = 1});
        }
        worker->start(std::move(*stream));
      });
    }
  });
  Totals totals{.tally = finished.get_future().get()};
  totals.seconds = static_cast<double>(clock.monotonic_ns() - started) / 1e9;
  loop.stop();
  return totals;
}

Totals run_tail(const Plan& plan, std::int64_t records, Millis limit_ms) {
  RealClock clock;
  IoThread loop{"loadgen", clock};
  TcpNetwork network;
  std::promise<Tally> finished;
  const auto started = clock.monotonic_ns();
  const auto tail = std::make_shared<Tail>(plan, clock, loop, records, started + limit_ms * 1'000'000,
                                           [&finished](Tally tally) { finished.set_value(std::move(tally)); });
  const auto failed = [&finished] { finished.set_value(Tally{.errors = 1}); };
  loop.post([&] {
    network.connect(plan.to, loop, [&, tail](Result<std::unique_ptr<Stream>> producer) {
      if (!producer) {
        return failed();
      }
      auto kept = std::make_shared<std::unique_ptr<Stream>>(std::move(*producer));
      network.connect(plan.to, loop, [&, tail, kept](Result<std::unique_ptr<Stream>> consumer) {
        if (!consumer) {
          return failed();
        }
        tail->start(std::move(*kept), std::move(*consumer));
      });
    });
  });
  Totals totals{.tally = finished.get_future().get()};
  totals.seconds = static_cast<double>(clock.monotonic_ns() - started) / 1e9;
  loop.stop();
  return totals;
}

double percentile(std::vector<std::uint32_t>& sorted, double part) {
  if (sorted.empty()) {
    return 0;
  }
  const auto at = std::min(sorted.size() - 1, static_cast<std::size_t>(part * static_cast<double>(sorted.size())));
  return sorted[at] / 1000.0;
}

void print(Totals& totals) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto cpu = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                   static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  auto& latencies = totals.tally.latencies_us;
  std::ranges::sort(latencies);
  std::printf(
      "{\"seconds\": %.4f, \"requests\": %lld, \"bytes\": %lld, \"errors\": %lld, \"p50_ms\": %.3f, \"p99_ms\": %.3f, "
      "\"client_cpu_s\": %.3f}\n",
      totals.seconds, static_cast<long long>(totals.tally.requests), static_cast<long long>(totals.tally.bytes),
      static_cast<long long>(totals.tally.errors), percentile(latencies, 0.5), percentile(latencies, 0.99), cpu);
}

}  // namespace
}  // namespace weir::loadgen

int main(int argc, char** argv) {
  using namespace weir;
  loadgen::Plan plan;
  loadgen::Shared shared;
  std::string to = "127.0.0.1:9092";
  std::int64_t total_mb = 100;
  std::int32_t connections = 6;
  Millis limit_ms = 60'000;
  CLI::App app{"Bounded load on a loopback broker", "loadgen"};
  app.add_option("--to", to, "HOST:PORT");
  app.add_option("--topic", plan.topic)->required();
  app.add_flag("--fetch", plan.fetch, "read instead of write");
  app.add_option("--partitions", plan.partitions)->check(CLI::Range(1, 100'000));
  app.add_option("--connections", connections)->check(CLI::Range(1, 1000));
  app.add_option("--window", plan.window, "requests in flight a connection")->check(CLI::Range(1, 1000));
  app.add_option("--acks", plan.acks);
  app.add_option("--records", plan.shape.records, "records a batch")->check(CLI::Range(1, 100'000));
  app.add_option("--record-bytes", plan.shape.record_bytes);
  app.add_option("--fetch-bytes", plan.fetch_bytes, "limit of one fetch");
  app.add_option("--total-mb", total_mb, "batch bytes to move, in units of 10^6")->check(CLI::Range(1, 20'000));
  std::int64_t tail_records = 0;
  app.add_option("--tail", tail_records,
                 "so many records, one a millisecond, timed from sending to a waiting consumer");
  app.add_option("--limit-ms", limit_ms, "ends here at the latest")->check(CLI::Range(1, 600'000));
  CLI11_PARSE(app, argc, argv);
  const auto at = endpoint_from_string(to);
  if (!at) {
    std::fprintf(stderr, "loadgen: --to wants HOST:PORT\n");
    return 2;
  }
  plan.to = *at;
  const auto batch_bytes = static_cast<std::int64_t>(loadgen::make_batch(plan.shape, 1, 0).size());
  shared.requests_left = std::max<std::int64_t>(1, total_mb * 1'000'000 / batch_bytes);
  shared.bytes_left = total_mb * 1'000'000;
  auto totals = tail_records > 0 ? loadgen::run_tail(plan, tail_records, limit_ms)
                                 : loadgen::run(plan, shared, connections, limit_ms);
  loadgen::print(totals);
  return totals.tally.errors == 0 ? 0 : 1;
}
