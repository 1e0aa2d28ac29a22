// `weir metadata repair`: what to do when the start is refused because the metadata is damaged.
#include "base/posix_disk.hpp"
#include "base/real_clock.hpp"
#include "coordinator/metadata/metadata_repair.hpp"
#include "log/find_partitions.hpp"
#include "tools/cli/common.hpp"

namespace weir::cli {
namespace {

struct RepairOptions {
  std::string folder;
  bool json = false;
};

constexpr std::int64_t kPropertiesMax = 64 << 10;

int repair(const RepairOptions& options) {
  PosixDisk disk;
  const auto properties = read_file(disk, options.folder + "/meta.properties", kPropertiesMax);
  metadata::Identity identity;
  if (!properties || metadata::read_meta_properties(as_text(*properties), identity) != metadata::MetaProperties::ours) {
    return fail(options.folder + " has no meta.properties of Weir; name the data folder of a stopped broker");
  }
  const auto lock = disk.lock(options.folder + "/.lock");
  if (!lock) {
    return fail("a broker (pid " + std::to_string(lock.error().detail) + ") runs on " + options.folder + ": stop it");
  }
  const auto in_log = log::find_partitions(disk, options.folder);
  if (!in_log) {
    return fail("the log in " + options.folder + " cannot be read: " + to_string(in_log.error()));
  }
  std::string why;
  const auto report = metadata::repair_metadata(disk, options.folder, identity, *in_log, RealClock{}.wall_ms(), why);
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
  print_line(report->was_sound ? "nothing to repair: a start takes the metadata as it is"
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
  repairing->add_flag("--json", options->json, "Print JSON instead of words");
  repairing->callback([&commands, options] { commands.chosen = [options] { return repair(*options); }; });
}

}  // namespace weir::cli
