#include "coordinator/metadata/controller.hpp"

#include <atomic>

#include "base/logging.hpp"
#include "coordinator/metadata/image_builder.hpp"
#include "coordinator/metadata/metadata_log.hpp"
#include "coordinator/metadata/plan.hpp"
#include "coordinator/metadata/plan_parts.hpp"

namespace weir::metadata {

using protocol::ErrorCode;

namespace {

std::string text_of(const Error& error) {
  switch (error.code) {
    case Errc::closed: return "The broker stops; nothing was changed.";
    case Errc::disk_failed:
      return "The metadata log failed: the broker takes no writes until it is started again. Nothing was changed, "
             "unless the machine loses its power before that.";
    default: return "The metadata log could not be written; nothing was changed.";
  }
}

ErrorCode wire_error(const Error& /*error*/) {
  return ErrorCode::kafka_storage_error;  // retriable for clients: another start may heal it
}

// Each answer that promised a change says that it did not happen.
template <class Items>
void fail_items(Items& items, const Error& error) {
  for (auto& item : items) {
    if (item.error_code == 0) {
      refuse(item, {wire_error(error), text_of(error)});
    }
  }
}
void fail(protocol::CreateTopicsResponse& response, const Error& error) {
  for (auto& topic : response.topics) {
    if (topic.error_code == 0) {
      refuse(topic, {wire_error(error), text_of(error)});
      topic.topic_id = {};
      topic.num_partitions = topic.replication_factor = -1;
      topic.configs.emplace();
    }
  }
}
void fail(protocol::DeleteTopicsResponse& response, const Error& error) {
  fail_items(response.responses, error);
}
void fail(protocol::CreatePartitionsResponse& response, const Error& error) {
  fail_items(response.results, error);
}
void fail(protocol::AlterConfigsResponse& response, const Error& error) {
  fail_items(response.responses, error);
}
void fail(protocol::IncrementalAlterConfigsResponse& response, const Error& error) {
  fail_items(response.responses, error);
}
void fail(std::vector<AutoCreateResult>& results, const Error& error) {
  for (auto& result : results) {
    result.error = result.error == ErrorCode::none ? wire_error(error) : result.error;
  }
}
void fail(Result<ProducerIdBlock>& block, const Error& error) {
  block = error;
}

template <class Request>
bool wants_validation_only(const Request& request) {
  if constexpr (requires { request.validate_only; }) {
    return request.validate_only;
  }
  return false;
}

}  // namespace

// All but the constructor, images() and is_stopped_ runs on the controller's executor, or at start before anything else
// runs.
class Controller::Engine {
 public:
  Engine(Identity identity, ControllerSettings settings, Runtime& runtime, MetadataLog::Opened opened)
      : executor_(runtime.controller),
        identity_(std::move(identity)),
        settings_(std::move(settings)),
        clock_(runtime.clock),
        random_(Random{runtime.seed}.fork()),
        log_(std::move(opened.log)) {
    set_dynamic_config(*opened.image);
    images_.publish(std::move(opened.image));
  }

  // Posts `work(engine)` to the controller and its result to `reply_on`.
  template <class Response, class Work>
  void run(Executor& reply_on, Answer<Response> done, Work work) {
    executor_.post([this, &reply_on, done = std::move(done), work = std::move(work)]() mutable {
      reply_on.post([done = std::move(done), response = work(*this)]() mutable { done(std::move(response)); });
    });
  }

  [[nodiscard]] PlanInput input() {
    // Only this executor publishes, so the image stays while the input is used.
    return {.image = *images_.current(), .settings = settings_, .identity = identity_, .random = random_};
  }

  template <class Response>
  Response carry_out(Plan<Response> plan, bool validate_only) {
    if (!validate_only) {
      if (const auto applied = apply(plan.records); !applied) {
        fail(plan.response, applied.error());
      }
    }
    return std::move(plan.response);
  }

  void log_refusal(const Error& why) {
    if (std::exchange(logged_refusal_, why) != why) {
      WEIR_LOG(error, "metadata log: write failed ({}); {}", to_string(why),
               log_->read_only() ? "no metadata changes and no writes until the next start"
                                 : "changes are refused until a write succeeds");
    }
  }

  Result<void> apply(const RecordList& records) {
    if (records.empty()) {
      return {};
    }
    if (is_stopped_) {
      return {Errc::closed};
    }
    const auto before = images_.current();
    ImageBuilder builder{*before};
    // Applied before it is written: a record that its own builder refuses must never reach the disk.
    WEIR_CHECK(builder.apply_all(log_->end_offset(), records));
    if (auto appended = log_->append(records, clock_.wall_ms()); !appended) {
      log_refusal(appended.error());
      if (log_->read_only()) {
        for (auto* listener : listeners_) {
          listener->metadata_failed();
        }
      }
      return appended;
    }
    logged_refusal_.reset();
    ImageChanges changes;
    const auto after = builder.build(&changes);
    if (changes.broker_configs_changed) {
      set_dynamic_config(*after);
    }
    for (auto* listener : listeners_) {
      listener->applied(*before, *after, changes);
    }
    images_.publish(after);
    if (log_->bytes_since_snapshot() >= settings_.snapshot_after_bytes) {
      if (const auto written = log_->write_snapshot(*after, clock_.wall_ms()); !written) {
        WEIR_LOG(warn, "metadata snapshot failed ({}); the log goes on", to_string(written.error()));
      }
    }
    return {};
  }

  void set_dynamic_config(const MetadataImage& image) {
    if (settings_.config != nullptr) {
      settings_.config->set_dynamic(*image.overrides(ResourceType::broker, ""),
                                    *image.overrides(ResourceType::broker, std::to_string(identity_.node_id)));
    }
  }

  Executor& executor_;
  const Identity identity_;
  const ControllerSettings settings_;
  Clock& clock_;
  Random random_;
  std::unique_ptr<MetadataLog> log_;
  ImageHolder images_;
  std::vector<MetadataListener*> listeners_;
  std::atomic<bool> is_stopped_ = false;  // set on any thread
  std::optional<Error> logged_refusal_;   // cause of the last change's refusal; logged once until it changes
};

Controller::Controller(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
Controller::~Controller() = default;

Result<std::unique_ptr<Controller>> Controller::open(const std::string& data_folder, const Identity& identity,
                                                     ControllerSettings settings, Runtime& runtime, std::string& why) {
  WEIR_TRY(auto opened, MetadataLog::open(runtime.disk, data_folder, why));
  for (const auto& finding : opened.findings) {
    WEIR_LOG(warn, "{}", finding);
  }
  auto engine = std::make_unique<Engine>(identity, std::move(settings), runtime, std::move(opened));
  if (const auto registered = engine->apply(plan_registration(engine->input())); !registered) {
    why = "cannot write the metadata log in " + data_folder + "/metadata: " + to_string(registered.error());
    return registered.error();
  }
  return std::unique_ptr<Controller>{new Controller{std::move(engine)}};
}

const ImageHolder& Controller::images() const {
  return engine_->images_;
}

void Controller::add_listener(MetadataListener& listener) {
  engine_->listeners_.push_back(&listener);
}

void Controller::create_topics(const protocol::CreateTopicsRequest& request, Executor& reply_on,
                               Answer<protocol::CreateTopicsResponse> done) {
  engine_->run(reply_on, std::move(done), [&request](Engine& engine) {
    return engine.carry_out(plan_create_topics(engine.input(), request), wants_validation_only(request));
  });
}

void Controller::delete_topics(const protocol::DeleteTopicsRequest& request, Executor& reply_on,
                               Answer<protocol::DeleteTopicsResponse> done) {
  engine_->run(reply_on, std::move(done), [&request](Engine& engine) {
    return engine.carry_out(plan_delete_topics(engine.input(), request), false);
  });
}

void Controller::create_partitions(const protocol::CreatePartitionsRequest& request, Executor& reply_on,
                                   Answer<protocol::CreatePartitionsResponse> done) {
  engine_->run(reply_on, std::move(done), [&request](Engine& engine) {
    return engine.carry_out(plan_create_partitions(engine.input(), request), wants_validation_only(request));
  });
}

void Controller::alter_configs(const protocol::AlterConfigsRequest& request, Executor& reply_on,
                               Answer<protocol::AlterConfigsResponse> done) {
  engine_->run(reply_on, std::move(done), [&request](Engine& engine) {
    return engine.carry_out(plan_alter_configs(engine.input(), request), wants_validation_only(request));
  });
}

void Controller::incremental_alter_configs(const protocol::IncrementalAlterConfigsRequest& request, Executor& reply_on,
                                           Answer<protocol::IncrementalAlterConfigsResponse> done) {
  engine_->run(reply_on, std::move(done), [&request](Engine& engine) {
    return engine.carry_out(plan_incremental_alter_configs(engine.input(), request), wants_validation_only(request));
  });
}

void Controller::auto_create(std::vector<std::string> names, Executor& reply_on,
                             Answer<std::vector<AutoCreateResult>> done) {
  engine_->run(reply_on, std::move(done), [names = std::move(names)](Engine& engine) {
    return engine.carry_out(plan_auto_create(engine.input(), names), false);
  });
}

void Controller::allocate_producer_ids(Executor& reply_on, Answer<Result<ProducerIdBlock>> done) {
  engine_->run(reply_on, std::move(done),
               [](Engine& engine) { return engine.carry_out(plan_producer_ids(engine.input()), false); });
}

void Controller::refuse_changes() {
  engine_->is_stopped_ = true;
}

void Controller::stop(Executor& reply_on, Task done) {
  refuse_changes();
  engine_->executor_.post([&reply_on, done = std::move(done)]() mutable { reply_on.post(std::move(done)); });
}

Result<void> Controller::bump_leader_epochs(std::span<const log::PartitionKey> partitions) {
  WEIR_TRY(const auto records, plan_leader_epochs(engine_->input(), partitions));
  return engine_->apply(records);
}

}  // namespace weir::metadata
