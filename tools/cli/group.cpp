// `weir group list|describe|reset|delete`: consumer groups, their members, and how far they have read.
#include "tools/cli/group_lag.hpp"
#include "tools/cli/time_text.hpp"
#include "tools/client/groups.hpp"

namespace weir::cli {
namespace {
using client::OffsetsByPartition;
using client::TopicPartition;

struct GroupOptions {
  ServerOptions server;
  std::string group;
  std::vector<std::string> groups;
  std::vector<std::string> topics;
  bool execute = false;
  bool to_earliest = false;
  bool to_latest = false;
  std::optional<std::int64_t> to_offset;
  std::string to_time;
  std::optional<std::int64_t> shift_by;
};

int list(const GroupOptions& options) {
  const auto broker = options.server.open();
  std::int16_t error = 0;
  const auto groups = client::Groups{*broker}.list(error);
  if (!groups) {
    return fail("cannot list groups", *broker, groups.error());
  }
  if (error != 0) {
    return refused("cannot list groups", error);
  }
  json::array told;
  Table table{{"group", "state", "type"}};
  for (const auto& group : *groups) {
    told.push_back({{"group", group.id}, {"state", group.state}, {"type", group.type}});
    table.add({group.id, group.state, group.type});
  }
  if (options.server.json) {
    print_json(told);
  } else if (groups->empty()) {
    print_line("no groups");
  } else {
    table.print();
  }
  return kDone;
}

// Start, end and wanted offsets of the topics that a group reads; asked for once a topic.
class TopicOffsets {
 public:
  explicit TopicOffsets(client::Blocking& broker) : broker_(broker) {}

  // False: `error` says what the broker refused, or 0 and `trouble` what was wrong with reaching it.
  bool load(const std::string& name, std::optional<Millis> time) {
    const auto topic = broker_.topic(name);
    if (!topic) {
      return failed(topic.error());
    }
    if (topic->error != 0) {
      return refused_with(topic->error);
    }
    return take(*topic, client::kEarliest, starts) && take(*topic, client::kLatest, ends) &&
           (!time || take(*topic, *time, at_time));
  }

  OffsetsByPartition starts;
  OffsetsByPartition ends;
  OffsetsByPartition at_time;  // -1: no record is that young
  std::int16_t error = 0;
  Error trouble{Errc::closed};

 private:
  bool take(const client::TopicInfo& topic, std::int64_t time, OffsetsByPartition& into) {
    const auto offsets = broker_.offsets(topic, time);
    if (!offsets) {
      return failed(offsets.error());
    }
    for (const auto& part : *offsets) {
      if (part.error != 0) {
        return refused_with(part.error);
      }
      into[{topic.name, part.index}] = part.offset;
    }
    return true;
  }
  bool failed(const Error& why) {
    trouble = why;
    return false;
  }
  bool refused_with(std::int16_t code) {
    error = code;
    return false;
  }
  client::Blocking& broker_;
};

struct Described {
  client::GroupState state;
  std::vector<client::PartitionLag> partitions;
};

void print_members(const client::GroupState& state) {
  if (state.members.empty()) {
    return print_line("no members");
  }
  Table table{{"member", "client", "host", "partitions"}};
  for (const auto& member : state.members) {
    std::string assigned;
    for (const auto& [topic, index] : member.assigned) {
      assigned += (assigned.empty() ? "" : " ") + topic + ":" + std::to_string(index);
    }
    table.add({member.instance_id.empty() ? member.id : member.id + " (static " + member.instance_id + ")",
               member.client_id, member.host, assigned.empty() ? "none" : assigned});
  }
  table.print();
}

json::array members_json(const client::GroupState& state) {
  json::array told;
  for (const auto& member : state.members) {
    json::array assigned;
    for (const auto& [topic, index] : member.assigned) {
      assigned.push_back({{"topic", topic}, {"partition", index}});
    }
    told.push_back({{"member", member.id},
                    {"instance", member.instance_id.empty() ? json::value() : json::value(member.instance_id)},
                    {"client", member.client_id},
                    {"host", member.host},
                    {"assigned", assigned}});
  }
  return told;
}

int print_description(const GroupOptions& options, const Described& group) {
  if (options.server.json) {
    print_json({{"group", options.group},
                {"state", group.state.state},
                {"protocol_type", group.state.protocol_type},
                {"protocol", group.state.protocol},
                {"members", members_json(group.state)},
                {"partitions", lag_json(group.partitions)}});
    return kDone;
  }
  print_line("group '" + options.group + "', " + group.state.state +
             (group.state.protocol.empty() ? "" : ", assignor " + group.state.protocol));
  print_members(group.state);
  group.partitions.empty() ? print_line("no commits") : lag_table(group.partitions, false).print();
  return kDone;
}

// Of a broker that cannot tell lag itself: a line for each partition that has a commit or a member, and the difference
// of two offsets. Records that are gone or never were count too.
Result<std::vector<client::PartitionLag>> subtract(client::Blocking& broker, const client::GroupState& state,
                                                   const OffsetsByPartition& committed) {
  std::map<TopicPartition, client::PartitionLag> lags;
  for (const auto& [at, offset] : committed) {
    lags[at].committed = offset;
  }
  for (const auto& member : state.members) {
    for (const auto& at : member.assigned) {
      lags[at].member = member.id;
    }
  }
  TopicOffsets offsets{broker};
  std::string last;
  std::vector<client::PartitionLag> all;
  for (auto& [at, lag] : lags) {
    offsets.error = 0;
    if (std::exchange(last, at.first) != at.first && !offsets.load(at.first, std::nullopt) && offsets.error == 0) {
      return offsets.trouble;
    }
    lag.at = at;
    if (const auto end = offsets.ends.find(at); end != offsets.ends.end()) {
      lag.end = end->second;
      lag.state = lag.committed < 0         ? client::LagState::no_commit
                  : lag.committed > lag.end ? client::LagState::unknown
                                            : client::LagState::number;
      lag.behind = lag.state == client::LagState::number ? lag.end - lag.committed : -1;
    }
    all.push_back(lag);
  }
  return all;
}

int describe(const GroupOptions& options) {
  const auto broker = options.server.open();
  const auto what = "cannot describe group '" + options.group + "'";
  client::Groups groups{*broker};
  std::int16_t error = 0;
  const auto state = groups.describe(options.group, error);
  if (!state) {
    return fail(what, *broker, state.error());
  }
  if (error != 0) {
    return refused(what, error);
  }
  const auto committed = groups.committed(options.group, error);
  if (!committed) {
    return fail(what, *broker, committed.error());
  }
  if (error != 0) {
    return refused(what, error);
  }
  if (state->state == "Dead" && committed->empty()) {
    return fail("there is no group '" + options.group + "'; see `weir group list`");
  }
  auto told = groups.explain(options.group, error);
  if (told && error == 0) {
    return print_description(options, {*state, std::move(told->partitions)});
  }
  if (!told && told.error().code != Errc::unsupported) {
    return fail(what, *broker, told.error());
  }
  const auto subtracted = subtract(*broker, *state, *committed);
  if (!subtracted) {
    return fail(what, *broker, subtracted.error());
  }
  return print_description(options, {*state, *subtracted});
}

// Where a partition is set to: nullopt when it has no commit that could be shifted.
std::optional<std::int64_t> target_of(const GroupOptions& options, const TopicOffsets& offsets,
                                      const OffsetsByPartition& committed, const TopicPartition& at) {
  const auto start = offsets.starts.at(at);
  const auto end = offsets.ends.at(at);
  if (options.to_earliest) {
    return start;
  }
  if (options.to_latest) {
    return end;
  }
  if (options.to_offset) {
    return std::clamp(*options.to_offset, start, end);
  }
  if (!options.to_time.empty()) {
    return offsets.at_time.at(at) < 0 ? end : offsets.at_time.at(at);
  }
  const auto commit = committed.find(at);
  if (commit == committed.end()) {
    return std::nullopt;
  }
  // The sum is clamped first: what a user types may not overflow.
  const auto shift = std::clamp(*options.shift_by, start - commit->second, end - commit->second);
  return commit->second + shift;
}

int print_plan(const GroupOptions& options, const OffsetsByPartition& committed, const OffsetsByPartition& plan) {
  json::array told;
  Table table{{"topic", "partition", "from", "to"}};
  for (const auto& [at, offset] : plan) {
    const auto commit = committed.find(at);
    const bool had = commit != committed.end();
    told.push_back({{"topic", at.first},
                    {"partition", at.second},
                    {"from", had ? json::value(commit->second) : json::value()},
                    {"to", offset}});
    table.add({at.first, std::to_string(at.second), had ? std::to_string(commit->second) : "no commit",
               std::to_string(offset)});
  }
  if (options.server.json) {
    print_json({{"group", options.group}, {"executed", options.execute}, {"partitions", told}});
    return kDone;
  }
  table.print();
  print_line(options.execute ? "committed for group '" + options.group + "'"
                             : "dry run, nothing was changed; add --execute to commit this");
  return kDone;
}

int reset(const GroupOptions& options) {
  const auto broker = options.server.open();
  const auto what = "cannot reset group '" + options.group + "'";
  client::Groups groups{*broker};
  std::int16_t error = 0;
  const auto state = groups.describe(options.group, error);
  if (!state) {
    return fail(what, *broker, state.error());
  }
  if (error != 0) {
    return refused(what, error);
  }
  if (!state->members.empty()) {
    return fail(what + ": it has " + count_of(std::ssize(state->members), "member") + " (" + state->state +
                "); stop them first");
  }
  const auto committed = groups.committed(options.group, error);
  if (!committed) {
    return fail(what, *broker, committed.error());
  }
  if (error != 0) {
    return refused(what, error);
  }
  std::vector<std::string> topics = options.topics;
  if (topics.empty()) {
    for (const auto& [at, offset] : *committed) {
      if (topics.empty() || topics.back() != at.first) {
        topics.push_back(at.first);
      }
    }
  }
  if (topics.empty()) {
    return fail(what + ": it has no commits; name a topic with --topic");
  }
  TopicOffsets offsets{*broker};
  const auto time = options.to_time.empty() ? std::nullopt : time_from_text(options.to_time);
  for (const auto& topic : topics) {
    if (offsets.load(topic, time)) {
      continue;
    }
    const auto where = what + ", topic '" + topic + "'";
    return offsets.error != 0 ? refused(where, offsets.error) : fail(where, *broker, offsets.trouble);
  }
  OffsetsByPartition plan;
  for (const auto& [at, start] : offsets.starts) {
    if (const auto target = target_of(options, offsets, *committed, at)) {
      plan[at] = *target;
    }
  }
  if (plan.empty()) {
    return fail(what + ": it has no commits in these topics to shift");
  }
  if (options.execute) {
    const auto done = groups.commit(options.group, plan, error);
    if (!done) {
      return fail(what, *broker, done.error());
    }
    if (error != 0) {
      return refused(what, error);
    }
  }
  return print_plan(options, *committed, plan);
}

int remove(const GroupOptions& options) {
  const auto broker = options.server.open();
  json::array told;
  int code = kDone;
  for (const auto& group : options.groups) {
    const auto what = "cannot delete group '" + group + "'";
    std::int16_t error = 0;
    const auto done = client::Groups{*broker}.remove(group, error);
    if (!done) {
      return fail(what, *broker, done.error());
    }
    if (error != 0) {
      code = error == wire(protocol::ErrorCode::group_id_not_found)
                 ? fail("there is no group '" + group + "'; see `weir group list`")
                 : refused(what, error);
      continue;
    }
    told.push_back({{"group", group}, {"deleted", true}});
    if (!options.server.json) {
      print_line("deleted group '" + group + "'");
    }
  }
  if (options.server.json) {
    print_json(told);
  }
  return code;
}

}  // namespace

void add_group(Commands& commands) {
  const auto options = std::make_shared<GroupOptions>();
  auto* group = commands.app.add_subcommand("group", "List, describe, reset and delete consumer groups");
  group->require_subcommand(1);
  add_subcommand(commands, *group, "list", "All groups with their state", options, list);
  auto* description =
      add_subcommand(commands, *group, "describe",
                     "Members, and for each partition the committed offset, the end and the lag", options, describe);
  description->add_option("GROUP", options->group, "The group")->required();
  auto* resetting = add_subcommand(commands, *group, "reset",
                                   "Move the committed offsets of a group without members; a dry run unless --execute",
                                   options, reset);
  resetting->add_option("GROUP", options->group, "The group; with --topic it need not be there yet")->required();
  add_list(*resetting, "--topic", options->topics, "Only this topic; may be repeated (default: all that have commits)");
  resetting->add_flag("--execute", options->execute, "Commit, instead of only showing what would be");
  auto* where = resetting->add_option_group(
      "Where to", "Exactly one of these; offsets outside a partition become its start or end");
  where->add_flag("--to-earliest", options->to_earliest, "The first record there is");
  where->add_flag("--to-latest", options->to_latest, "The end");
  where->add_option("--to-offset", options->to_offset, "This offset")->check(whole_number());
  where
      ->add_option("--to-time", options->to_time,
                   "The first record of that time or later: 2026-01-31T12:30 (UTC) or milliseconds since 1970")
      ->check(moment());
  where->add_option("--shift-by", options->shift_by, "So many records on from the commit, or back with a minus")
      ->check(whole_number(std::numeric_limits<std::int64_t>::min()));
  where->require_option(1);
  auto* deletion =
      add_subcommand(commands, *group, "delete",
                     "Delete groups without members with all their committed offsets, without asking", options, remove);
  deletion->add_option("GROUP", options->groups, "The groups")->required();
}

}  // namespace weir::cli
