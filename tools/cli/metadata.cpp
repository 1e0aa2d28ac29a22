// `weir metadata repair`: what to do when the start is refused because the metadata, or the files that say whose folder
// it is, are damaged or gone.
#include <algorithm>

#include "base/posix_disk.hpp"
#include "base/real_clock.hpp"
#include "base/real_runtime.hpp"
#include "coordinator/metadata/identity_repair.hpp"
#include "coordinator/metadata/metadata_repair.hpp"
#include "log/find_partitions.hpp"
#include "tools/cli/common.hpp"

namespace weir::cli {
namespace {

struct RepairOptions {
  std::string folder;
  metadata::IdentityWish wish;
  bool json = false;
};

struct Repaired {
  bool was_sound = false;
  std::size_t topics = 0;
  std::vector<std::string> findings;
};

Result<Repaired> repair_folder(Disk& disk, const RepairOptions& options, std::string& why) {
  RealClock clock;
  Random random{kernel_random()};
  WEIR_TRY(auto identity, metadata::repair_identity(disk, options.folder, options.wish, random, why));
  const auto in_log = log::find_partitions(disk, options.folder);
  if (!in_log) {
    why = "the log in " + options.folder + " cannot be read: " + to_string(in_log.error()) +
          "; look at the disk, then `weir log verify " + options.folder + "`";
    return in_log.error();
  }
  WEIR_TRY(auto report,
           metadata::repair_metadata(disk, options.folder, identity.identity, *in_log, clock.wall_ms(), why));
  Repaired out{report.was_sound && identity.findings.empty(), report.topics, std::move(identity.findings)};
  std::ranges::move(report.findings, std::back_inserter(out.findings));
  return out;
}

int repair(const RepairOptions& options) {
  PosixDisk disk;
  if (!disk.exists(metadata::identity_path(options.folder)) && !metadata::holds_data(disk, options.folder)) {
    return fail(options.folder + " holds nothing of Weir; name the data folder of a stopped broker");
  }
  const auto lock = disk.lock(options.folder + "/.lock");
  if (!lock) {
    return fail(lock.error().code == Errc::in_use
                    ? "a broker (pid " + std::to_string(lock.error().detail) + ") runs on " + options.folder +
                          ": stop it"
                    : options.folder + "/.lock cannot be made: " + to_string(lock.error()));
  }
  std::string why;
  const auto report = repair_folder(disk, options, why);
  if (!report) {
    return fail(why);
  }
  if (options.json) {
    json::array findings;
    for (const auto& finding : report->findings) {
      findings.emplace_back(finding);
    }
    print_json({{"was_sound", report->was_sound}, {"topics", report->topics}, {"findings", findings}});
    return kDone;
  }
  for (const auto& finding : report->findings) {
    print_line(finding);
  }
  print_line(report->was_sound ? "nothing to repair: a start takes the folder as it is"
                               : "repaired: " + count_of(static_cast<std::int64_t>(report->topics), "topic") +
                                     "; the files as they were end in .damaged");
  return kDone;
}

}  // namespace

void add_metadata(Commands& commands) {
  const auto options = std::make_shared<RepairOptions>();
  auto* metadata = commands.app.add_subcommand("metadata", "The topics and configs of a stopped broker");
  metadata->require_subcommand(1);
  auto* repairing = metadata->add_subcommand("repair", "Keep what can be read when a start is refused for damage");
  repairing->add_option("FOLDER", options->folder, "The data folder")->required();
  repairing->add_option("--cluster-id", options->wish.cluster_id,
                        "Which cluster it is, where no file tells it any more (the log of each start does)");
  repairing->add_option("--node-id", options->wish.node_id, "Its node.id, where nothing tells it any more (default 1)")
      ->check(whole_number(0, std::numeric_limits<std::int32_t>::max()));
  repairing->add_flag("--json", options->json, "Print JSON instead of words");
  repairing->callback([&commands, options] { commands.chosen = [options] { return repair(*options); }; });
}

}  // namespace weir::cli
