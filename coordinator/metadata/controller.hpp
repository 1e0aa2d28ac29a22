// Controller: the only place that changes metadata. Checks a request against the newest image, appends records to the
// `__cluster_metadata` log, syncs, makes the next image, tells the listeners, publishes, and then answers.
//
// Owned by the broker. Its methods may be called on any thread; the work is done on Runtime::controller, which may
// block on the small metadata log. It never uses the CommitLog, so it works when that is read-only. A request must live
// until its `done` has run (on `reply_on`); `done` always runs, with an error of the controller if need be. When a sync
// fails the controller is read-only until the next start and answers error 56; its listeners hear it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/executor.hpp"
#include "base/result.hpp"
#include "base/runtime.hpp"
#include "coordinator/metadata/data_folder.hpp"
#include "coordinator/metadata/image.hpp"
#include "coordinator/metadata/listener.hpp"
#include "coordinator/metadata/settings.hpp"
#include "log/partition.hpp"

namespace weir::protocol {
struct CreateTopicsRequest;
struct CreateTopicsResponse;
struct DeleteTopicsRequest;
struct DeleteTopicsResponse;
struct CreatePartitionsRequest;
struct CreatePartitionsResponse;
struct AlterConfigsRequest;
struct AlterConfigsResponse;
struct IncrementalAlterConfigsRequest;
struct IncrementalAlterConfigsResponse;
}  // namespace weir::protocol

namespace weir::metadata {

class Controller {
 public:
  // Replays snapshot and log and registers this broker. Blocks. On failure `why` is one sentence for the operator.
  static Result<std::unique_ptr<Controller>> open(const std::string& data_folder, const Identity& identity,
                                                  ControllerSettings settings, Runtime& runtime, std::string& why);
  ~Controller();  // no call may be under way

  [[nodiscard]] const ImageHolder& images() const;
  [[nodiscard]] ImagePointer image() const { return images().current(); }
  // Before the first request; the listener outlives the controller.
  void add_listener(MetadataListener& listener);

  void create_topics(const protocol::CreateTopicsRequest& request, Executor& reply_on,
                     Answer<protocol::CreateTopicsResponse> done);
  void delete_topics(const protocol::DeleteTopicsRequest& request, Executor& reply_on,
                     Answer<protocol::DeleteTopicsResponse> done);
  void create_partitions(const protocol::CreatePartitionsRequest& request, Executor& reply_on,
                         Answer<protocol::CreatePartitionsResponse> done);
  void alter_configs(const protocol::AlterConfigsRequest& request, Executor& reply_on,
                     Answer<protocol::AlterConfigsResponse> done);
  void incremental_alter_configs(const protocol::IncrementalAlterConfigsRequest& request, Executor& reply_on,
                                 Answer<protocol::IncrementalAlterConfigsResponse> done);

  // Makes the topics that do not exist yet, with the broker's defaults, or with their own settings for the internal
  // ones (`__consumer_offsets`). Idempotent; names that are being made already are made once.
  void auto_create(std::vector<std::string> names, Executor& reply_on, Answer<std::vector<AutoCreateResult>> done);

  // Takes the next block of producer ids. Use ProducerIdSource (producer_ids.hpp) for single ids.
  void allocate_producer_ids(Executor& reply_on, Answer<Result<ProducerIdBlock>> done);

  // From then on no change is begun: what waits in the queue is answered as not done too. Any thread.
  void refuse_changes();
  // Refuses them, and when `done` runs on `reply_on` the one under way has been carried out. So nothing that listeners
  // do comes behind it.
  void stop(Executor& reply_on, Task done);

  // New leader epochs after an unclean start (docs/ARCHITECTURE.md, "The log"). Blocks: on Runtime::controller, or at
  // start before anything runs. The image has the new epochs when it returns.
  Result<void> bump_leader_epochs(std::span<const log::PartitionKey> partitions);

 private:
  class Engine;
  explicit Controller(std::unique_ptr<Engine> engine);
  std::unique_ptr<Engine> engine_;
};

}  // namespace weir::metadata
