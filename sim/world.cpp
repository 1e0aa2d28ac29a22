#include "sim/world.hpp"

namespace weir::sim {
namespace {
constexpr Millis kStopPatienceMs = 60'000;
const std::string kDataFolder = "data";
}  // namespace

Config small_broker_config(const std::vector<ConfigInput>& more) {
  std::vector<ConfigInput> inputs{{"listeners", "PLAINTEXT://127.0.0.1:9092"},
                                  {"mq.segment.bytes", "1048576"},
                                  {"mq.image.bytes", "4194304"},
                                  {"offsets.topic.num.partitions", "4"},
                                  {"group.initial.rebalance.delay.ms", "0"}};
  inputs.insert(inputs.end(), more.begin(), more.end());
  auto loaded = load_config(inputs);
  WEIR_CHECK(loaded.errors.empty());
  return std::move(loaded.config);
}

World::World(std::uint64_t seed, WorldOptions options)
    : random_(seed),
      queue_(random_.next()),
      disk_(random_.next()),
      network_(queue_, random_.next()),
      client_loop_(queue_),
      options_(std::move(options)),
      boot_id_(random_.uuid()) {
  network_.set_faults(options_.network);
  if (options_.wrap_disk) {
    wrapped_ = options_.wrap_disk(disk_);
  }
}

World::~World() {
  if (process_) {
    process_->kill();
  }
  broker_.reset();
}

bool World::start_broker() {
  WEIR_CHECK(!broker_);
  process_ = std::make_unique<SimRuntime>(queue_, wrapped_ ? *wrapped_ : static_cast<Disk&>(disk_), network_,
                                          random_.next(), options_.io_loops);
  runtime_.emplace(process_->runtime());
  broker_ = broker::Broker::start(options_.config, kDataFolder, boot_id_, *runtime_, why_);
  return running();
}

void World::crash(CrashMode mode) {
  if (process_) {
    process_->kill();
  }
  network_.reset_all();
  broker_.reset();
  process_.reset();
  disk_.crash(random_.next(), mode);
  if (mode == CrashMode::power_cut) {
    boot_id_ = random_.uuid();
  }
  if (wrapped_) {
    wrapped_ = options_.wrap_disk(disk_);
  }
  queue_.run_until_idle();
}

bool World::stop_broker() {
  const auto stopped = begin_stop();
  if (!run_until([&] { return *stopped; }, kStopPatienceMs)) {
    return false;
  }
  end_process();
  return true;
}

std::shared_ptr<bool> World::begin_stop() {
  auto stopped = std::make_shared<bool>(false);
  process_->io(0).post([this, stopped] { broker_->stop([stopped] { *stopped = true; }); });
  return stopped;
}

void World::end_process() {
  process_->kill();
  broker_.reset();
  process_.reset();
}

bool World::run_until(const std::function<bool()>& done, Millis patience_ms) {
  const auto deadline = queue_.clock().monotonic_ms() + patience_ms;
  queue_.run_until([&] { return done() || disk_.crashed(); }, deadline);
  return done();
}

Result<std::shared_ptr<client::Connection>> World::connect() {
  auto got = std::make_shared<std::optional<Result<std::shared_ptr<client::Connection>>>>();
  client::Connection::open(network_, client_loop_, address_, "sim",
                           [got](Result<std::shared_ptr<client::Connection>> ready) { *got = std::move(ready); });
  if (!run_until([&] { return got->has_value(); }, kPatienceMs)) {
    return Errc::timed_out;
  }
  return std::move(**got);
}

}  // namespace weir::sim
