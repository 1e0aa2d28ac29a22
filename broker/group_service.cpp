#include "broker/group_service.hpp"

#include "base/logging.hpp"

namespace weir::broker {
namespace {

constexpr std::size_t kInspectedInATurn = 2000;  // offsets and members: about half a millisecond of an io loop

group::GroupConfig group_config(const Config& config) {
  group::GroupConfig made;
  made.initial_rebalance_delay_ms = config.group_initial_rebalance_delay_ms;
  made.session_timeout_min_ms = config.group_min_session_timeout_ms;
  made.session_timeout_max_ms = config.group_max_session_timeout_ms;
  made.group_size_max = config.group_max_size;
  made.offset_metadata_units_max = config.offset_metadata_max_bytes;
  made.offsets_retention_ms = Millis{config.offsets_retention_minutes} * 60'000;
  made.offsets_retention_check_ms = config.offsets_retention_check_interval_ms;
  made.write_timeout_ms = config.offsets_commit_timeout_ms;
  return made;
}

// Runs `done` on the loop that asked; at once when that is the loop we are on.
template <class Body>
void deliver(IoLoop& here, IoLoop& reply_on, UniqueFunction<void(Body)> done, Body body) {
  if (&here == &reply_on) {
    return done(std::move(body));
  }
  reply_on.post([done = std::move(done), body = std::move(body)]() mutable { done(std::move(body)); });
}

// A `done` that waits on another loop than its own. Dropped there uncalled (the topic of offsets was deleted), it goes
// home to end: with it goes a reply, and that closes a connection, which only its own loop may do.
template <class Body>
class Homeward {
 public:
  Homeward(IoLoop& home, UniqueFunction<void(Body)> done) : home_(home), done_(std::move(done)) {}
  Homeward(Homeward&&) noexcept = default;
  Homeward& operator=(Homeward&&) = delete;
  ~Homeward() {
    if (done_) {
      home_.post([done = std::move(done_)] {});
    }
  }
  void operator()(IoLoop& here, Body body) { deliver(here, home_, std::move(done_), std::move(body)); }

 private:
  IoLoop& home_;
  UniqueFunction<void(Body)> done_;
};

bool is_missing(const metadata::MetadataImage& image, const std::string& name, const Uuid& id) {
  const auto& topic = image.find_topic(name);
  return !topic || (!id.is_zero() && topic->id != id);
}

}  // namespace

GroupService::GroupService(const Config& config, Runtime& runtime, metadata::Controller& controller,
                           log::CommitLog& log, Metrics& metrics)
    : config_(config),
      runtime_(runtime),
      controller_(controller),
      group_config_(group_config(config)),
      world_{runtime, log, metrics, group_config_,
             [this](const std::string& topic, const Uuid& id) { return is_missing(*controller_.image(), topic, id); }} {
  Random random{runtime.seed + 1};
  const auto gate = std::make_shared<WorkGate>();
  for (auto* loop : runtime.io) {
    auto& state = *loops_.emplace_back(std::make_unique<LoopState>());
    state.loop = loop;
    state.image = std::make_unique<metadata::ImageView>(controller.images());
    state.gate = gate;
    state.random = random.fork();
  }
}
GroupService::~GroupService() = default;

void GroupService::start() {
  const auto topic = controller_.image()->find_topic(metadata::kOffsetsTopic);
  if (!topic) {
    return;
  }
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    auto& state = *loops_[i];
    state.loop->post([this, &state, i, count = topic->partitions.size()] {
      for (auto index = i; state.gate && index < count; index += loops_.size()) {
        GroupPartition* unused = nullptr;
        find(state, static_cast<std::int32_t>(index), unused);
      }
    });
  }
}

void GroupService::stop(Task done) {
  auto& first = *runtime_.io.front();
  const auto finished = std::make_shared<Task>(std::move(done));
  // Whoever lets go of the gate last says so: a load, an append, or one of the loops below.
  loops_.front()->gate->on_last = [&first, finished] { first.post([finished] { (*finished)(); }); };
  for (auto& state : loops_) {
    state->loop->post([state = state.get()] {
      for (auto& [index, partition] : state->partitions) {
        partition->close();
      }
      state->partitions.clear();
      state->gate.reset();
    });
  }
}

void GroupService::topics_deleted(std::vector<std::shared_ptr<const metadata::Topic>> topics) {
  const auto gone = std::make_shared<const std::vector<std::shared_ptr<const metadata::Topic>>>(std::move(topics));
  for (auto& state : loops_) {
    state->loop->post([state = state.get(), gone] {
      for (auto& [index, partition] : state->partitions) {
        if (!partition->is_ready()) {
          continue;
        }  // it will compare with the image when it has loaded
        partition->run_now([&](group::GroupShard& shard, group::Now now, group::Effects& effects) {
          shard.drop_topics(
              [&](const std::string& name, const Uuid& id) {
                return std::ranges::any_of(
                    *gone, [&](const auto& topic) { return topic->name == name && (id.is_zero() || topic->id == id); });
              },
              now, effects);
          return true;
        });
      }
    });
  }
}

std::int32_t GroupService::partition_count() {
  const auto image = controller_.image();
  const auto& topic = image->find_topic(metadata::kOffsetsTopic);
  return topic ? static_cast<std::int32_t>(topic->partitions.size()) : config_.offsets_topic_num_partitions;
}

GroupService::ErrorCode GroupService::find(LoopState& state, std::int32_t index, GroupPartition*& found) {
  const auto& image = state.image->current();
  const auto& topic = image->find_topic(metadata::kOffsetsTopic);
  if (!topic || std::cmp_greater_equal(index, topic->partitions.size())) {
    return ErrorCode::coordinator_not_available;
  }
  auto& partition = state.partitions[index];
  if (!partition) {
    partition = std::make_shared<GroupPartition>(world_, *state.loop, index, state.random.next());
  }
  const auto error = partition->attach(topic->id, state.gate);
  if (error == ErrorCode::none) {
    found = partition.get();
  }
  return error;
}

void GroupService::with_partition_of(const std::string& group_id, IoLoop& from, Work work) {
  const auto index = group::partition_of_group(group_id, partition_count());
  auto& state = *loops_[static_cast<std::size_t>(index) % loops_.size()];
  auto run = [this, &state, index, work = std::move(work)]() mutable {
    if (!state.gate) {
      return;
    }  // stopped: dropping the request closes its connection
    GroupPartition* partition = nullptr;
    const auto error = find(state, index, partition);
    work(partition, error);
  };
  if (state.loop == &from) {
    return run();
  }
  state.loop->post(std::move(run));
}

template <class Body, class Event>
void GroupService::route(const std::string& group_id, IoLoop& reply_on, Done<Body> done, Body when_refused,
                         Event event) {
  with_partition_of(
      group_id, reply_on,
      [&reply_on, done = std::move(done), refused = std::move(when_refused), event = std::move(event)](
          GroupPartition* partition, ErrorCode error) mutable {
        if (partition == nullptr) {
          group::Answer answer{0, std::move(refused)};
          group::refuse(answer, error);
          // The caller's loop; a hop is as good as a call here.
          reply_on.post([done = std::move(done), body = std::get<Body>(std::move(answer.body))]() mutable {
            done(std::move(body));
          });
          return;
        }
        auto& here = partition->loop();
        partition->run(std::move(event),
                       [&here, done = Homeward<Body>{reply_on, std::move(done)}](group::Answer answer) mutable {
                         done(here, std::get<Body>(std::move(answer.body)));
                       });
      });
}

void GroupService::join(group::JoinRequest request, IoLoop& reply_on, Done<group::JoinAnswer> done) {
  const auto group_id = request.group_id;
  route(group_id, reply_on, std::move(done), group::JoinAnswer{},
        [request = std::move(request)](group::GroupShard& shard, group::Ticket ticket, group::Now now,
                                       group::Effects& effects) mutable {
          shard.join(std::move(request), ticket, now, effects);
        });
}

void GroupService::sync(group::SyncRequest request, IoLoop& reply_on, Done<group::SyncAnswer> done) {
  const auto group_id = request.group_id;
  route(group_id, reply_on, std::move(done), group::SyncAnswer{},
        [request = std::move(request)](group::GroupShard& shard, group::Ticket ticket, group::Now now,
                                       group::Effects& effects) mutable {
          shard.sync(std::move(request), ticket, now, effects);
        });
}

void GroupService::leave(group::LeaveRequest request, IoLoop& reply_on, Done<group::LeaveAnswer> done) {
  const auto group_id = request.group_id;
  route(group_id, reply_on, std::move(done), group::LeaveAnswer{},
        [request = std::move(request)](group::GroupShard& shard, group::Ticket ticket, group::Now now,
                                       group::Effects& effects) { shard.leave(request, ticket, now, effects); });
}

void GroupService::commit(group::CommitRequest request, IoLoop& reply_on, Done<group::CommitAnswer> done) {
  const auto group_id = request.group_id;
  group::CommitAnswer refused;
  refused.partitions.resize(request.partitions.size(), ErrorCode::none);
  route(group_id, reply_on, std::move(done), std::move(refused),
        [request = std::move(request)](group::GroupShard& shard, group::Ticket ticket, group::Now now,
                                       group::Effects& effects) mutable {
          shard.commit(std::move(request), ticket, now, effects);
        });
}

void GroupService::delete_offsets(group::DeleteOffsetsRequest request, IoLoop& reply_on,
                                  Done<group::DeleteOffsetsAnswer> done) {
  const auto group_id = request.group_id;
  route(
      group_id, reply_on, std::move(done), group::DeleteOffsetsAnswer{},
      [request = std::move(request)](group::GroupShard& shard, group::Ticket ticket, group::Now now,
                                     group::Effects& effects) { shard.delete_offsets(request, ticket, now, effects); });
}

void GroupService::delete_group(std::string group_id, IoLoop& reply_on, Done<group::DeleteGroupAnswer> done) {
  route(group_id, reply_on, std::move(done), group::DeleteGroupAnswer{},
        [group_id](group::GroupShard& shard, group::Ticket ticket, group::Now now, group::Effects& effects) {
          shard.delete_group(group_id, ticket, now, effects);
        });
}

void GroupService::heartbeat(std::string group_id, group::Sender sender, IoLoop& reply_on, Done<ErrorCode> done) {
  with_partition_of(group_id, reply_on,
                    [&reply_on, group_id, sender = std::move(sender), done = std::move(done)](GroupPartition* partition,
                                                                                              ErrorCode error) mutable {
                      if (error == ErrorCode::coordinator_load_in_progress) {
                        error = ErrorCode::none;  // nobody has lost his membership by our restart yet
                      } else if (partition != nullptr) {
                        error = partition->run_now([&](group::GroupShard& shard, group::Now now, group::Effects&) {
                          return shard.heartbeat(group_id, sender, now);
                        });
                      }
                      reply_on.post([done = std::move(done), error]() mutable { done(error); });
                    });
}

void GroupService::fetch(std::string group_id, std::optional<std::vector<group::TopicPartitions>> topics,
                         IoLoop& reply_on, Done<Fetched> done) {
  with_partition_of(
      group_id, reply_on,
      [&reply_on, group_id, topics = std::move(topics), done = std::move(done)](GroupPartition* partition,
                                                                                ErrorCode error) mutable {
        Fetched fetched{.error = error};
        if (partition != nullptr) {
          fetched.topics = partition->run_now([&](const group::GroupShard& shard, group::Now, group::Effects&) {
            return topics ? shard.fetch(group_id, *topics) : shard.fetch_all(group_id);
          });
        }
        reply_on.post([done = std::move(done), fetched = std::move(fetched)]() mutable { done(std::move(fetched)); });
      });
}

void GroupService::describe(std::string group_id, IoLoop& reply_on, Done<Described> done) {
  with_partition_of(group_id, reply_on,
                    [&reply_on, group_id, done = std::move(done)](GroupPartition* partition, ErrorCode error) mutable {
                      Described described{.error = error};
                      if (partition != nullptr) {
                        described.facts = partition->run_now([&](const group::GroupShard& shard, group::Now,
                                                                 group::Effects&) { return shard.describe(group_id); });
                      }
                      reply_on.post([done = std::move(done), described = std::move(described)]() mutable {
                        done(std::move(described));
                      });
                    });
}

void GroupService::inspect(std::string group_id, IoLoop& reply_on, Done<Inspected> done) {
  with_partition_of(group_id, reply_on,
                    [&reply_on, group_id, done = std::move(done)](GroupPartition* partition, ErrorCode error) mutable {
                      Inspected inspected{.error = error, .group = {}};
                      if (partition != nullptr) {
                        inspected.group = partition->run_now([&](const group::GroupShard& shard, group::Now,
                                                                 group::Effects&) { return shard.inspect(group_id); });
                      }
                      reply_on.post([done = std::move(done), inspected = std::move(inspected)]() mutable {
                        done(std::move(inspected));
                      });
                    });
}

// One loop's share of inspect_all: where it stands, and what it has.
struct GroupService::Inspection {
  std::int32_t partition = 0;
  std::string after;  // the group of that partition that came last
  std::vector<group::InspectedGroup> groups;
  UniqueFunction<void(std::vector<group::InspectedGroup>)> done;
};

void GroupService::inspect_all(IoLoop& reply_on, Done<std::vector<group::InspectedGroup>> done) {
  struct Gathering {
    Done<std::vector<group::InspectedGroup>> done;
    std::vector<group::InspectedGroup> groups;
    std::size_t missing = 0;
  };
  const auto gathering = std::make_shared<Gathering>();
  gathering->done = std::move(done);
  gathering->missing = loops_.size();
  for (auto& state : loops_) {
    const auto inspection = std::make_shared<Inspection>();
    inspection->done = [&reply_on, gathering](std::vector<group::InspectedGroup> groups) {
      reply_on.post([gathering, groups = std::move(groups)]() mutable {
        std::ranges::move(groups, std::back_inserter(gathering->groups));
        if (--gathering->missing == 0) {
          gathering->done(std::move(gathering->groups));
        }
      });
    };
    state->loop->post([this, state = state.get(), inspection] { inspect_more(*state, inspection); });
  }
}

void GroupService::inspect_more(LoopState& state, std::shared_ptr<Inspection> inspection) {
  if (!state.gate) {
    return;
  }
  const auto at = state.partitions.lower_bound(inspection->partition);
  if (at == state.partitions.end()) {
    return inspection->done(std::move(inspection->groups));
  }
  auto& [index, partition] = *at;
  std::vector<group::InspectedGroup> some;
  if (partition->is_ready()) {
    some = partition->run_now([&](const group::GroupShard& shard, group::Now, group::Effects&) {
      return shard.inspect_some(index == inspection->partition ? inspection->after : "", kInspectedInATurn);
    });
  }
  inspection->partition = some.empty() ? index + 1 : index;
  inspection->after = some.empty() ? "" : some.back().group_id;
  std::ranges::move(some, std::back_inserter(inspection->groups));
  state.loop->post([this, &state, inspection] { inspect_more(state, inspection); });
}

void GroupService::list(IoLoop& reply_on, Done<Listed> done) {
  struct Gathering {
    Done<Listed> done;
    Listed listed;
    std::size_t missing = 0;
  };
  const auto gathering = std::make_shared<Gathering>();
  gathering->done = std::move(done);
  gathering->missing = loops_.size();
  const auto topic = controller_.image()->find_topic(metadata::kOffsetsTopic);
  const auto count = topic ? topic->partitions.size() : 0;
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    auto& state = *loops_[i];
    state.loop->post([this, &state, &reply_on, gathering, i, count] {
      if (!state.gate) {
        return;
      }
      auto part = std::make_shared<Listed>();
      for (auto index = i; index < count; index += loops_.size()) {
        GroupPartition* partition = nullptr;
        const auto error = find(state, static_cast<std::int32_t>(index), partition);
        if (partition == nullptr) {
          part->error = error;
          continue;
        }
        auto groups = partition->run_now(
            [](const group::GroupShard& shard, group::Now, group::Effects&) { return shard.list(); });
        std::ranges::move(groups, std::back_inserter(part->groups));
      }
      reply_on.post([gathering, part] {
        if (part->error != ErrorCode::none) {
          gathering->listed.error = part->error;
        }
        std::ranges::move(part->groups, std::back_inserter(gathering->listed.groups));
        if (--gathering->missing == 0) {
          gathering->done(std::move(gathering->listed));
        }
      });
    });
  }
}

}  // namespace weir::broker
