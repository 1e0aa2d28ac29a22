// Broker: one node, put together from its services. The same class runs behind sockets (tools/cli/serve) and in the
// simulator; only the Runtime differs.
//
// Start order: data folder (lock, identity) -> metadata -> CommitLog (recovery) -> groups -> HTTP -> listeners; blocks
// until it listens. Stop order: HTTP -> listeners and connections -> groups -> controller (no topic is made or deleted
// any more) -> log (drain, sync) -> clean-shutdown file, if the log is clean.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "broker/admin_http.hpp"
#include "broker/server.hpp"
#include "broker/services.hpp"
#include "coordinator/metadata/listener.hpp"

namespace weir::broker {

class Broker final : public metadata::MetadataListener {
 public:
  // `boot_id` tells restarts of the machine apart. On failure `why` is one sentence that names what, where and what to
  // do.
  static std::unique_ptr<Broker> start(Config config, std::string data_folder, const Uuid& boot_id, Runtime& runtime,
                                       std::string& why);
  ~Broker() override;  // stop() must have finished, or the simulated world has ended

  // Ends everything in order, then runs `done` on the first io loop. Call it on that loop.
  void stop(Task done);

  // What stop() waits for just now, in words for the operator. Any thread.
  [[nodiscard]] std::string waits_for() const;

  [[nodiscard]] const std::vector<Endpoint>& bound() const { return bound_; }
  // Where /metrics and /healthz are; nullopt: off.
  [[nodiscard]] const std::optional<Endpoint>& http_bound() const { return http_bound_; }
  [[nodiscard]] Services& services() { return *services_; }
  [[nodiscard]] const metadata::Identity& identity() const { return folder_->identity(); }

  void metadata_failed() override { log_->refuse_writes(); }
  void applied(const metadata::MetadataImage& before, const metadata::MetadataImage& after,
               const metadata::ImageChanges& changes) override;

 private:
  Broker(Config config, std::string data_folder, Runtime& runtime);
  bool open_metadata(std::string& why);
  bool open_log(const Uuid& boot_id, std::string& why);
  Result<void> raise_epochs(std::span<log::KnownPartition* const> partitions);
  bool open_http(std::string& why);
  bool open_listeners(std::string& why);
  void create_partitions(const metadata::Topic& topic);
  void set_rules(const metadata::Topic& topic);
  void mark_clean(std::optional<LogPosition> clean_end);

  EffectiveConfig effective_;
  const Config& config_;  // the static part
  std::string data_folder_;
  Runtime& runtime_;
  Random random_;
  Metrics metrics_;
  RequestMemory memory_;
  WaiterHub waiters_;
  FetchSessions fetch_sessions_;
  TopicSettings topics_;
  std::unique_ptr<metadata::DataFolder> folder_;
  std::unique_ptr<metadata::Controller> controller_;
  std::unique_ptr<metadata::ProducerIdSource> producer_ids_;
  std::unique_ptr<log::CommitLog> log_;
  std::unique_ptr<GatheredAppends> appends_;
  std::unique_ptr<GroupService> groups_;
  std::unique_ptr<GroupLag> lag_;
  std::unique_ptr<Services> services_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<AdminHttp> http_;
  std::vector<Endpoint> bound_;
  std::optional<Endpoint> http_bound_;
  std::atomic<const char*> stop_waits_for_{"connections"};
};

}  // namespace weir::broker
