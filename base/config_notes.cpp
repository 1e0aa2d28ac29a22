#include "base/config_notes.hpp"

#include <algorithm>
#include <array>

namespace weir {
namespace {

using Names = std::vector<std::string>;

// A name, or with a dot at its end the beginning of many.
bool fits(std::string_view name, std::string_view pattern) {
  return pattern.ends_with('.') ? name.starts_with(pattern) : name == pattern;
}

template <class Patterns>
bool fits_any(std::string_view name, const Patterns& patterns) {
  return std::ranges::any_of(patterns, [&](std::string_view pattern) { return fits(name, pattern); });
}

// Keys that keep somebody out, or keep somebody from doing something. None of them does in this version.
constexpr auto kGuards = std::to_array<std::string_view>({
    "allow.everyone.if.no.acl.found",
    "alter.config.policy.class.name",
    "client.quota.callback.class",
    "connections.max.reauth.ms",
    "create.topic.policy.class.name",
    "delegation.token.secret.key",
    "principal.builder.class",
    "sasl.",
    "security.inter.broker.protocol",
    "ssl.",
    "super.users",
});

// What several nodes agree on among themselves, or how Kafka deals out its own threads: with one node that has them all
// it is as its owner wants it, whatever these say.
constexpr auto kOfSeveralNodes = std::to_array<std::string_view>({
    "advertised.listeners",
    "auto.leader.rebalance.enable",
    "background.threads",
    "broker.heartbeat.interval.ms",
    "broker.id",
    "broker.session.timeout.ms",
    "controlled.shutdown.enable",
    "controller.",
    "initial.broker.registration.timeout.ms",
    "inter.broker.listener.name",
    "leader.imbalance.check.interval.seconds",
    "leader.imbalance.per.broker.percentage",
    "metadata.",
    "metric.reporters",
    "num.io.threads",
    "num.recovery.threads.per.data.dir",
    "num.replica.fetchers",
    "process.roles",
    "replica.",
    "unclean.leader.election.enable",
});

// Of these one node has what 1 says.
constexpr auto kReplicas = std::to_array<std::string_view>({
    "min.insync.replicas",
    "offsets.topic.replication.factor",
    "share.coordinator.state.topic.min.isr",
    "share.coordinator.state.topic.replication.factor",
    "transaction.state.log.min.isr",
    "transaction.state.log.replication.factor",
});

// Names that Kafka had once.
struct Gone {
  std::string_view name;
  std::string_view sentence;  // behind the name
};
constexpr std::string_view kNoZooKeeper = "is ignored: this node has its own controller and needs no ZooKeeper";
constexpr std::string_view kSinceFour =
    "is ignored: Kafka has had no such key since version 4, and nothing here needs it";
constexpr std::array kGone{
    Gone{"advertised.host.name", "is ignored: Kafka has had no such key since version 3; set advertised.listeners"},
    Gone{"advertised.port", "is ignored: Kafka has had no such key since version 3; set advertised.listeners"},
    Gone{"host.name", "is ignored: Kafka has had no such key since version 3; set listeners"},
    Gone{"inter.broker.protocol.version", kSinceFour},
    Gone{"log.message.format.version", kSinceFour},
    Gone{"log.message.timestamp.difference.max.ms",
         "is ignored: Kafka has had no such key since version 4; set log.message.timestamp.before.max.ms and "
         "log.message.timestamp.after.max.ms"},
    Gone{"port", "is ignored: Kafka has had no such key since version 3; set listeners"},
    Gone{"zookeeper.", kNoZooKeeper},
};

const Gone* find_gone(std::string_view name) {
  const auto found = std::ranges::find_if(kGone, [&](const Gone& gone) { return fits(name, gone.name); });
  return found == kGone.end() ? nullptr : &*found;
}

bool guards(std::string_view name) {
  return fits_any(name, kGuards);
}

// The key without the listener that it is for: "ssl.keystore.location".
std::string_view without_listener(std::string_view name) {
  const auto found = find_dynamic_row(name);
  return found.of_listener && found.row != nullptr ? found.row->name : name;
}

// As the default says is as good as not set.
bool says_more_than_default(const Config& config, std::string_view name) {
  const auto set = config.set_value(name);
  const auto* row = find_dynamic_row(name).row;
  return set && row != nullptr &&
         (!row->default_value || canonical_value(*row, *set) != canonical_value(*row, *row->default_value));
}

bool changes_nothing(const Config& config, std::string_view name) {
  if (guards(name) || fits_any(name, kOfSeveralNodes)) {
    return false;
  }
  return !(fits_any(name, kReplicas) && config.value(name) == "1");
}

// A file that is no configuration at all may have thousands, and long ones.
void note(std::vector<std::string>& into, std::string_view what, const Names& names) {
  constexpr std::size_t kNamesMax = 40;
  constexpr std::size_t kNameMax = 120;
  if (names.empty()) {
    return;
  }
  std::string line{what};
  for (std::size_t i = 0; i < std::min(names.size(), kNamesMax); ++i) {
    line += (i == 0 ? " " : ", ") + names[i].substr(0, kNameMax) + (names[i].size() > kNameMax ? "..." : "");
  }
  if (names.size() > kNamesMax) {
    line += " and " + std::to_string(names.size() - kNamesMax) + " more";
  }
  into.push_back(std::move(line));
}

// zookeeper.connect is followed by a dozen of its kind: the first is enough.
void note_unknown(const Names& unknown, Names& guarding, std::vector<std::string>& warnings) {
  constexpr std::size_t kHintsMax = 40;
  Names others;
  std::vector<const Gone*> told;
  for (const auto& name : unknown) {
    const auto hint = warnings.size() + others.size() < kHintsMax ? hint_for(config_rows(), name) : std::string{};
    if (const auto* gone = find_gone(name)) {
      if (std::ranges::find(told, gone) == told.end()) {
        warnings.push_back(name + " " + std::string(gone->sentence));
        told.push_back(gone);
      }
    } else if (guards(name)) {
      guarding.push_back(name);
    } else if (!hint.empty()) {
      warnings.push_back("unknown configuration key " + name + hint);
    } else {
      others.push_back(name);
    }
  }
  note(warnings,
       others.size() == 1 ? "unknown configuration key, ignored:" : "unknown configuration keys, ignored:", others);
}

void note_cluster(const Config& config, std::vector<std::string>& warnings) {
  const auto count = [&](std::string_view key) { return split_list(config.value(key).value_or("")).size(); };
  const auto roles = split_list(config.value("process.roles").value_or(""));
  const bool has_controller = std::ranges::find(roles, "controller") != roles.end();
  if (!has_controller || count("controller.quorum.voters") > 1 || count("controller.quorum.bootstrap.servers") > 1) {
    warnings.emplace_back(
        "this node joins no cluster: it is one of its own, with its own controller, whatever process.roles and "
        "controller.quorum say");
  }
}

void note_replication(const Config& config, std::vector<std::string>& warnings) {
  if (config.default_replication_factor > 1) {
    warnings.push_back(
        "default.replication.factor is " + std::to_string(config.default_replication_factor) +
        ", which this one node cannot give: a topic that does not say how many replicas it wants is refused, and none "
        "is made by being used; set it to 1");
  }
}

}  // namespace

ConfigNotes notes_on(const Config& config, const std::vector<std::string>& unknown) {
  ConfigNotes notes;
  Names guarding;
  Names idle;
  if (const auto authorizer = config.value("authorizer.class.name").value_or(""); !authorizer.empty()) {
    notes.errors.push_back("authorizer.class.name is " + authorizer +
                           ", but this version has no ACLs and would serve everybody; take the key out if that is "
                           "what you want, else stay with Kafka for now");
  }
  for (const auto& name : config.set_names()) {
    const auto* row = find_dynamic_row(name).row;
    const auto key = without_listener(name);
    if (row == nullptr || !says_more_than_default(config, name)) {
      continue;
    }
    if (guards(key)) {
      guarding.push_back(name);
    } else if (row->handling == ConfigHandling::report && name != "authorizer.class.name" &&
               changes_nothing(config, name)) {
      idle.push_back(name);
    }
  }
  note_unknown(unknown, guarding, notes.warnings);
  note(notes.warnings, "these keys change nothing in this version:", idle);
  note_cluster(config, notes.warnings);
  note_replication(config, notes.warnings);
  note(notes.warnings,
       "NOTHING IS GUARDED: whoever reaches a listener may read, write and administer everything. This version has no "
       "TLS, no logins, no ACLs and no policies, so these keys keep nobody out:",
       guarding);
  return notes;
}

}  // namespace weir
