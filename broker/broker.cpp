#include "broker/broker.hpp"

#include "base/count_of.hpp"
#include "base/logging.hpp"
#include "broker/gathered_appends.hpp"
#include "broker/group_lag.hpp"
#include "broker/group_service.hpp"
#include "broker/start_problem.hpp"
#include "coordinator/metadata/producer_ids.hpp"

namespace weir::broker {
namespace {
constexpr Millis kSlowDiskMs = 5'000;
constexpr Millis kSpaceCheckMs = 1'000;
constexpr Millis kZeroAheadMs = 1'000;

// The line before, from the log itself, names the file.
std::string why_log_stays_closed(const std::string& folder, const Error& error) {
  const auto what = "the log in " + folder + " cannot be opened: " + to_string(error) + "; ";
  switch (error.code) {
    case Errc::unsupported: return what + "a newer version of Weir wrote it: start that version";
    case Errc::out_of_resources:
      return what +
             "raise the limit of the process (ulimit -n for descriptors, -f for the size of a file, or memory), or "
             "close what takes them, and " +
             "start again";
    case Errc::disk_full: return what + "make room on its volume (bytes, or files: `df -i`) and start again";
    case Errc::disk_failed:
      return what + "once the disk can be read and written by this user, start again; `weir log verify " + folder +
             "` names what is damaged";
    default: return what + "`weir log verify " + folder + "` names what is damaged";
  }
}
}  // namespace

Broker::Broker(Config config, std::string data_folder, Runtime& runtime)
    : effective_(std::move(config)),
      config_(effective_.fixed()),
      data_folder_(std::move(data_folder)),
      runtime_(runtime),
      random_(runtime.seed),
      memory_(static_cast<std::size_t>(config_.mq_request_memory_bytes)),
      waiters_(runtime.io),
      fetch_sessions_(static_cast<std::size_t>(config_.max_incremental_fetch_session_cache_slots), random_.fork()),
      topics_(effective_.current()) {}

Broker::~Broker() = default;

std::unique_ptr<Broker> Broker::start(Config config, std::string data_folder, const Uuid& boot_id, Runtime& runtime,
                                      std::string& why) {
  std::unique_ptr<Broker> broker{new Broker(std::move(config), std::move(data_folder), runtime)};
  if (!broker->open_metadata(why) || !broker->open_log(boot_id, why) || !broker->open_http(why) ||
      !broker->open_listeners(why)) {
    return nullptr;
  }
  broker->groups_->start();  // last: it sets other threads to work, and a failed start takes everything down at once
  return broker;
}

bool Broker::open_metadata(std::string& why) {
  auto folder = metadata::DataFolder::open(runtime_.disk, data_folder_, config_.node_id, random_, why);
  if (!folder) {
    return false;
  }
  folder_ = std::move(*folder);
  metadata::ControllerSettings settings{
      .num_partitions = config_.num_partitions,
      .default_replication_factor = static_cast<std::int16_t>(config_.default_replication_factor),
      .delete_topic_enable = config_.delete_topic_enable,
      .offsets_topic_partitions = config_.offsets_topic_num_partitions,
      .offsets_topic_segment_bytes = config_.offsets_topic_segment_bytes,
      .rack = config_.value("broker.rack").value_or(""),
      .config = &effective_};
  auto controller = metadata::Controller::open(data_folder_, folder_->identity(), std::move(settings), runtime_, why);
  if (!controller) {
    return false;
  }
  controller_ = std::move(*controller);
  topics_.set_broker(effective_.current());
  producer_ids_ = std::make_unique<metadata::ProducerIdSource>(*controller_);
  return true;
}

bool Broker::open_log(const Uuid& boot_id, std::string& why) {
  std::vector<log::KnownPartition> known;
  controller_->image()->for_each_topic([&](const metadata::Topic& topic) {
    const auto settings = topics_.of(topic);
    for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
      known.push_back({.key = {topic.id, static_cast<std::int32_t>(i)},
                       .rules = settings->rules,
                       .leader_epoch = topic.partitions[i].leader_epoch});
    }
  });
  log::CommitLogOptions options{
      .folder = data_folder_,
      .io = config_.mq_log_io == "direct" ? log::IoMode::direct : log::IoMode::buffered,
      .segment_bytes = config_.mq_segment_bytes,
      .image_bytes = config_.mq_image_bytes,
      .batch_bytes_max = config_.socket_request_max_bytes,  // no larger one can come in
      .read_cache_bytes = config_.mq_read_cache_bytes,
      .retention_check_ms = config_.log_retention_check_interval_ms,
      .producer_check_ms = std::stoll(*config_.value("producer.id.expiration.check.interval.ms")),  // a checked int32
      .producer_expiration_ms = effective_.current()->producer_id_expiration_ms,
      .disk_reserve_bytes = config_.mq_disk_reserve_bytes,
      .space_check_ms = kSpaceCheckMs,
      .zero_ahead_ms = kZeroAheadMs,
      .scrub_bytes_per_second = config_.mq_scrub_bytes_per_second,
      .scrub_interval_ms = config_.mq_scrub_interval_ms,
      .memory_bytes = config_.mq_memory_bytes,
      .slow_after_ms = kSlowDiskMs,
      .topic_name =
          [this](const Uuid& id) {
            const auto image = controller_->image();
            const auto& topic = image->find_topic(id);
            return topic ? topic->name : to_string(id);
          },
      .boot_id = boot_id,
      .clean_end = folder_->clean_end(),
      .metrics = &metrics_,
      .raise_epochs = [this](std::span<log::KnownPartition* const> partitions) { return raise_epochs(partitions); }};
  auto opened = log::CommitLog::open(std::move(options), runtime_, known, waiters_);
  if (!opened) {
    why = why_log_stays_closed(data_folder_, opened.error());
    return false;
  }
  log_ = std::move(*opened);
  metrics_.log_damaged_entries.add(static_cast<std::uint64_t>(log_->statistics().recovery_damaged_ranges));
  appends_ = std::make_unique<GatheredAppends>(*log_, runtime_.io);
  groups_ = std::make_unique<GroupService>(config_, runtime_, *controller_, *log_, metrics_);
  lag_ = std::make_unique<GroupLag>(runtime_, *controller_, *log_, *groups_);
  controller_->add_listener(*this);
  services_ = std::make_unique<Services>(Services{.config = config_,
                                                  .runtime = runtime_,
                                                  .metrics = metrics_,
                                                  .data_folder = data_folder_,
                                                  .identity = folder_->identity(),
                                                  .controller = *controller_,
                                                  .producer_ids = *producer_ids_,
                                                  .log = *log_,
                                                  .appends = *appends_,
                                                  .waiters = waiters_,
                                                  .fetch_sessions = fetch_sessions_,
                                                  .memory = memory_,
                                                  .topics = topics_,
                                                  .groups = *groups_,
                                                  .lag = *lag_,
                                                  .effective = effective_});
  return true;
}

// Before the listeners: a start that ends here has no client yet.
bool Broker::open_http(std::string& why) {
  const auto at = config_.http_endpoint();
  if (!at) {
    return true;
  }
  http_ = std::make_unique<AdminHttp>(*services_, *runtime_.io.front());
  auto bound = http_->listen(*at);
  // Only a default may give way: two brokers on one machine need no word about it, an address that somebody chose does.
  if (!bound && bound.error().code == Errc::in_use && !config_.is_set("mq.http.listen")) {
    bound = http_->listen({at->host, 0});
  }
  if (!bound) {
    why = cannot_listen("mq.http.listen", *at, bound.error(), {}, "--set mq.http.listen=HOST:PORT");
    return false;
  }
  http_bound_ = *bound;
  return true;
}

// Runs inside open_log(), on its thread.
Result<void> Broker::raise_epochs(std::span<log::KnownPartition* const> partitions) {
  std::vector<log::PartitionKey> keys;
  for (const auto* partition : partitions) {
    keys.push_back(partition->key);
  }
  WEIR_LOG(warn,
           "records may be gone (the machine restarted without a clean stop, a sync failed, or a file of the log is "
           "missing): {} a new leader epoch",
           count_of(std::ssize(keys), "partition gets", "partitions get"));
  WEIR_TRY_VOID(controller_->bump_leader_epochs(keys));
  const auto image = controller_->image();
  for (auto* partition : partitions) {
    const auto& topic = image->find_topic(partition->key.topic_id);
    partition->leader_epoch = topic->partitions[static_cast<std::size_t>(partition->key.index)].leader_epoch;
  }
  return {};
}

bool Broker::open_listeners(std::string& why) {
  server_ = std::make_unique<Server>(*services_);
  for (const auto& listener : config_.bound_listeners()) {
    auto bound = server_->listen(listener);
    if (!bound) {
      auto ours = bound_;
      ours.insert(ours.end(), http_bound_ ? 1U : 0U, http_bound_.value_or(Endpoint{}));
      why = cannot_listen("listeners", listener.endpoint, bound.error(), ours, "--listen HOST:PORT");
      return false;
    }
    bound_.push_back(*bound);
  }
  return true;
}

void Broker::create_partitions(const metadata::Topic& topic) {
  const auto settings = topics_.of(topic);
  for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
    const log::PartitionKey key{topic.id, static_cast<std::int32_t>(i)};
    if (!log_->find(key)) {
      log_->create(key, settings->rules, topic.partitions[i].leader_epoch);
    }
  }
}

// On the controller's executor: the log has the partitions before the image that names them is published.
void Broker::applied(const metadata::MetadataImage& /*before*/, const metadata::MetadataImage& after,
                     const metadata::ImageChanges& changes) {
  for (const auto& topic : changes.topics_deleted) {
    for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
      log_->remove({topic->id, static_cast<std::int32_t>(i)});
    }
    topics_.forget(topic->id);
  }
  if (!changes.topics_deleted.empty()) {
    groups_->topics_deleted(changes.topics_deleted);
  }
  for (const auto& ids : {changes.topics_created, changes.topics_changed}) {
    for (const auto& id : ids) {
      if (const auto& topic = after.find_topic(id)) {
        create_partitions(*topic);
      }
    }
  }
  if (changes.broker_configs_changed) {
    log_->set_producer_expiration(effective_.current()->producer_id_expiration_ms);
  }
  if (changes.broker_configs_changed && topics_.set_broker(effective_.current())) {
    after.for_each_topic([this](const metadata::Topic& topic) { set_rules(topic); });
    return;
  }
  for (const auto& name : changes.topic_configs_changed) {
    if (const auto& topic = after.find_topic(name)) {
      set_rules(*topic);
    }
  }
}

void Broker::set_rules(const metadata::Topic& topic) {
  const auto settings = topics_.of(topic);
  for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
    log_->set_rules({topic.id, static_cast<std::int32_t>(i)}, settings->rules);
  }
}

std::string Broker::waits_for() const {
  const auto of_log = log_ ? log_->waits_for() : std::string{};
  return of_log.empty() ? stop_waits_for_.load() : of_log;
}

void Broker::stop(Task done) {
  const auto finished = std::make_shared<Task>(std::move(done));
  if (http_) {
    http_->stop();
  }
  server_->stop([this, finished] {
    controller_->refuse_changes();  // thousands may be queued, and nobody hears the answers any more
    log_->stop_waiting();           // groups wait for what they have appended, and that may wait for room
    stop_waits_for_ = "groups";
    groups_->stop([this, finished] {
      stop_waits_for_ = "the metadata log, a write or a sync of it";
      controller_->stop(*runtime_.io.front(), [this, finished] {
        stop_waits_for_ = "the log";
        log_->stop([this, finished](std::optional<LogPosition> clean_end) {
          stop_waits_for_ = "a write of the clean-shutdown file";
          mark_clean(clean_end);
          runtime_.io.front()->post([finished] { (*finished)(); });
        });
      });
    });
  });
}

// Only what the log itself says is clean: the next start does not look behind that end.
void Broker::mark_clean(std::optional<LogPosition> clean_end) {
  if (!clean_end) {
    WEIR_LOG(warn, "no clean-shutdown file in {}: the next start scans the log", data_folder_);
    return;
  }
  if (const auto marked = folder_->mark_clean_shutdown(*clean_end); !marked) {
    WEIR_LOG(warn, "no clean-shutdown file in {}: {}; the next start scans the log", data_folder_,
             to_string(marked.error()));
  }
}

}  // namespace weir::broker
