// Groups under random joins, syncs, heartbeats, commits, deaths, refused appends and restarts. After every step what
// must always hold is checked. A failing seed is named; the same seed makes the same run.
#include <gtest/gtest.h>

#include <ranges>

#include "coordinator/group_testing.hpp"

namespace weir::group {
namespace {

constexpr std::uint64_t kSeeds = 200;
constexpr int kSteps = 400;
constexpr int kStepsPerReplay = 7;

// A client of one group: it does what a well-behaved consumer does, or dies, or comes back as somebody else.
struct Client {
  std::string member_id;
  std::optional<std::string> instance_id;
  std::int32_t generation = -1;
  bool is_leader = false;
  std::vector<std::string> all;  // members as the leader heard of them
  std::optional<Ticket> join;
  std::optional<Ticket> sync;
  Millis last_seen = 0;
};

class Model {
 public:
  explicit Model(std::uint64_t seed) : random_(seed), test_({.group_size_max = 4}, seed) {
    clients_.resize(5);
    clients_[3].instance_id = "static-3";
    clients_[4].instance_id = "static-4";
  }

  std::string run() {
    for (int i = 0; i < kSteps && why_.empty(); ++i) {
      step();
      collect();
      check();
    }
    return why_;
  }

 private:
  void step() {
    auto& client = clients_[random_.below(clients_.size())];
    switch (random_.below(16)) {
      case 0:
      case 1:
      case 2:
      case 3: return join(client);
      case 4:
      case 5:
      case 6: return sync(client);
      case 7:
      case 8: return heartbeat(client);
      case 9:
      case 10: return commit(client);
      case 11: return test_.advance(static_cast<Millis>(random_.below(4'000)));
      case 12: return leave_or_die(client);
      case 13: return toggle_appends();
      case 14: return release();
      default:
        if (random_.chance(8)) {
          restart();
        }
    }
  }

  void join(Client& client) {
    if (client.join || client.sync) {
      return;
    }
    auto request = join_request("g", client.instance_id ? "" : client.member_id);
    request.instance_id = client.instance_id;
    request.member_id_required = random_.chance(2);
    request.can_skip_assignment = random_.chance(2);
    request.rebalance_timeout_ms = 5'000;
    if (random_.chance(5)) {
      request.protocols[0].metadata = subscription({"t", std::to_string(random_.below(3))});
    }
    client.join = test_.join_async(std::move(request));
  }

  void sync(Client& client) {
    if (client.join || client.sync || client.generation < 0) {
      return;
    }
    auto request = sync_request("g", client.member_id, client.generation);
    request.instance_id = client.instance_id;
    if (client.is_leader) {
      for (const auto& id : client.all) {  // the assignment says whose it is and of which generation
        request.assignments.push_back({id, blob(std::to_string(client.generation) + " " + id)});
      }
    }
    client.sync = test_.sync_async(std::move(request));
  }

  void heartbeat(Client& client) {
    if (client.generation < 0) {
      return;
    }
    const auto error = test_.heartbeat("g", client.member_id, client.generation, client.instance_id);
    if (error == ErrorCode::unknown_member_id || error == ErrorCode::fenced_instance_id ||
        error == ErrorCode::illegal_generation) {
      forget(client);
    } else {
      client.last_seen = test_.now.monotonic_ms;
    }
  }

  void commit(Client& client) {
    if (client.generation < 0) {
      return;
    }
    const auto facts = test_.shard().describe("g");
    const bool is_member =
        std::ranges::any_of(facts.members, [&](const auto& m) { return m.member_id == client.member_id; });
    const auto offset = next_offset_++;
    auto request = commit_request("g", client.member_id, client.generation, offset);
    request.sender.instance_id = client.instance_id;
    const auto ticket = test_.commit_async(std::move(request));
    const bool refused = test_.answered(ticket) && test_.get<CommitAnswer>(ticket).partitions[0] != ErrorCode::none;
    if (!refused && !is_member) {
      fail("a commit of somebody who is no member was taken");
    }
    if (!refused && client.generation < generation_seen_) {
      fail("a commit of an old generation was taken");
    }
    commits_.emplace(ticket, offset);
  }

  void leave_or_die(Client& client) {
    if (random_.chance(2) && !client.member_id.empty() && !client.join && !client.sync) {
      test_.leave_async({"g", {{client.member_id, client.instance_id, ""}}});
    }
    client.join.reset();  // what comes for a dead client goes nowhere
    client.sync.reset();
    forget(client);
  }

  void toggle_appends() {
    switch (random_.below(3)) {
      case 0: test_.hold = true; break;
      case 1:
        test_.hold = false;
        release();
        break;
      default: test_.refuse_appends = random_.chance(3) ? std::optional{Errc::disk_full} : std::nullopt;
    }
  }
  void release() {
    if (test_.holds()) {
      test_.release(random_.chance(4) ? std::optional{Errc::disk_full} : std::nullopt);
    }
  }

  void restart() {
    test_.restart();
    for (auto& client : clients_) {
      client.join.reset();
      client.sync.reset();
    }
    commits_.clear();
    generation_seen_ = 0;  // what was not durable may come again
  }

  static void forget(Client& client) {
    client.member_id.clear();
    client.generation = -1;
    client.is_leader = false;
  }

  void collect() {
    for (auto& client : clients_) {
      if (client.join && test_.answered(*client.join)) {
        joined(client, test_.get<JoinAnswer>(*std::exchange(client.join, {})));
      }
      if (client.sync && test_.answered(*client.sync)) {
        synced(client, test_.get<SyncAnswer>(*std::exchange(client.sync, {})));
      }
    }
    std::erase_if(commits_, [&](const auto& commit) {
      if (!test_.answered(commit.first)) {
        return false;
      }
      if (test_.get<CommitAnswer>(commit.first).partitions[0] == ErrorCode::none) {
        answered_offset_ = std::max(answered_offset_, commit.second);
      }
      return true;
    });
  }

  void joined(Client& client, const JoinAnswer& answer) {
    client.is_leader = false;
    if (answer.error == ErrorCode::member_id_required) {
      client.member_id = answer.member_id;
      return;
    }
    if (answer.error != ErrorCode::none) {
      if (answer.error != ErrorCode::rebalance_in_progress) {
        forget(client);
      }
      client.generation = -1;
      return;
    }
    if (answer.generation < generation_seen_) {
      return fail("a generation came back");
    }
    generation_seen_ = answer.generation;
    client.member_id = answer.member_id;
    client.generation = answer.generation;
    client.is_leader = answer.leader == answer.member_id && !answer.skip_assignment;
    client.last_seen = test_.now.monotonic_ms;
    client.all.clear();
    for (const auto& member : answer.members) {
      client.all.push_back(member.member_id);
    }
  }

  void synced(Client& client, const SyncAnswer& answer) {
    if (answer.error != ErrorCode::none) {
      if (answer.error == ErrorCode::unknown_member_id || answer.error == ErrorCode::fenced_instance_id) {
        forget(client);
      }
      client.generation = -1;
      return;
    }
    client.last_seen = test_.now.monotonic_ms;
    const auto text = text_of(answer.assignment);
    // Empty when the leader did not know this member; else of this generation and nobody else's. A static member that
    // came back keeps the assignment that its old id got.
    const auto own =
        std::to_string(client.generation) + " " + (client.instance_id ? *client.instance_id : client.member_id);
    if (!text.empty() && !text.starts_with(own)) {
      fail("an assignment \"" + text + "\" for \"" + own + "\"");
    }
  }

  // A commit that was answered "timed out" may still come true: the log knows.
  [[nodiscard]] std::int64_t durable_offset() const {
    for (const auto& [at, record] : std::views::reverse(test_.log)) {
      const auto parsed = parse_record(record.key, record.value ? std::optional<Bytes>{*record.value} : std::nullopt);
      if (const auto* commit = std::get_if<OffsetRecord>(&*parsed)) {
        return commit->value ? commit->value->offset : -1;
      }
    }
    return -1;
  }

  void check() {
    const auto facts = test_.shard().describe("g");
    if (committed(test_, "g") != durable_offset() || committed(test_, "g") < answered_offset_) {
      fail("committed " + std::to_string(committed(test_, "g")) + ", durable " + std::to_string(durable_offset()) +
           ", answered " + std::to_string(answered_offset_));
    }
    if (!facts.found) {
      generation_seen_ = 0;
    }  // its first record was refused: it never was
    if (facts.state == GroupState::empty && !facts.members.empty()) {
      fail("an empty group with members");
    }
    if (facts.state == GroupState::stable && facts.members.empty()) {
      fail("a stable group without members");
    }
    if (++checks_ % kStepsPerReplay != 0) {
      return;
    }
    // What a new process would know is what is durable, not less and not more.
    ShardUnderTest other;  // without a size limit: a group over it would rebalance at once
    other.log = test_.log;
    other.now = test_.now;
    other.restart();
    if (committed(other, "g") != committed(test_, "g")) {
      fail("a replay shows another offset");
    }
    if (facts.state == GroupState::stable && !test_.holds() && commits_.empty()) {
      compare(facts, other.shard().describe("g"));
    }
  }
  void compare(const GroupFacts& here, const GroupFacts& there) {
    if (!there.found || there.state != GroupState::stable) {
      return fail("a stable group is not so after a replay");
    }
    if (here.members.size() != there.members.size()) {
      return fail("a replay shows other members");
    }
    for (std::size_t i = 0; i < here.members.size(); ++i) {
      if (here.members[i].member_id != there.members[i].member_id ||
          text_of(here.members[i].assignment) != text_of(there.members[i].assignment)) {
        fail("a replay shows other assignments");
      }
    }
  }

  void fail(std::string why) {
    if (why_.empty()) {
      why_ = std::move(why);
    }
  }

  Random random_;
  ShardUnderTest test_;
  std::vector<Client> clients_;
  std::map<Ticket, std::int64_t> commits_;  // under way
  std::int64_t next_offset_ = 0;
  std::int64_t answered_offset_ = -1;
  std::int32_t generation_seen_ = 0;
  int checks_ = 0;
  std::string why_;
};

TEST(GroupModel, HoldsWhatItPromisesUnderRandomClientsFailuresAndRestarts) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    ASSERT_EQ(Model{seed}.run(), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace weir::group
