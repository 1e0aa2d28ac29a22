// `weir explain group`: why a consumer group does not move, in sentences.
#include "tools/cli/group_lag.hpp"

namespace weir::cli {
namespace {

struct ExplainOptions {
  ServerOptions server;
  std::string group;
};

int explain_group(const ExplainOptions& options) {
  const auto broker = options.server.open();
  const auto what = "cannot explain group '" + options.group + "'";
  std::int16_t error = 0;
  const auto told = client::Groups{*broker}.explain(options.group, error);
  if (!told && told.error().code == Errc::unsupported) {
    return fail(what + ": the broker at " + broker->address() +
                " cannot; it is no Weir broker, or an older one. Try `weir group describe`");
  }
  if (!told) {
    return fail(what, *broker, told.error());
  }
  if (error == wire(protocol::ErrorCode::group_id_not_found)) {
    return fail("there is no group '" + options.group + "'; see `weir group list`");
  }
  if (error != 0) {
    return refused(what, error);
  }
  if (options.server.json) {
    json::array reasons;
    for (const auto& reason : told->reasons) {
      reasons.push_back(json::value(reason));
    }
    print_json({{"group", options.group},
                {"state", told->state},
                {"generation", told->generation},
                {"state_since_ms", told->state_since_ms < 0 ? json::value() : json::value(told->state_since_ms)},
                {"reasons", reasons},
                {"partitions", lag_json(told->partitions)}});
    return kDone;
  }
  for (const auto& reason : told->reasons) {
    print_line(reason);
  }
  if (!told->partitions.empty()) {
    lag_table(told->partitions, true).print();
  }
  return kDone;
}

}  // namespace

void add_explain(Commands& commands) {
  const auto options = std::make_shared<ExplainOptions>();
  auto* explain = commands.app.add_subcommand("explain", "Say why something is as it is");
  explain->require_subcommand(1);
  auto* group = explain->add_subcommand("group", "Why a consumer group moves or does not, and how far it has read");
  options->server.add_to(*group);
  options->server.add_json(*group);
  group->add_option("GROUP", options->group, "The group")->required();
  group->callback([&commands, options] { commands.chosen = [options] { return explain_group(*options); }; });
}

}  // namespace weir::cli
