// `weir log dump|verify|allow-writes`: what lies in the data folder of a stopped broker. The first two change nothing.
#include "log/log_dump.hpp"

#include <chrono>
#include <cstring>
#include <future>

#include "base/posix_disk.hpp"
#include "base/real_clock.hpp"
#include "base/thread_executor.hpp"
#include "log/allow_writes.hpp"
#include "tools/cli/common.hpp"

namespace weir::cli {
namespace {

constexpr std::chrono::milliseconds kLook{100};

struct LogOptions {
  std::string path;
  bool json = false;
  std::optional<std::uint32_t> partition;
  std::int64_t from = 0;
  std::int64_t entries_max = -1;
  bool indexes = false;
};
using Options = std::shared_ptr<LogOptions>;

std::string why_not(const std::string& path, const Error& error) {
  if (error.code == Errc::not_found) {
    return "there is no " + path;
  }
  if (error.code == Errc::disk_failed) {
    return path + " cannot be read: " + std::strerror(static_cast<int>(error.detail));
  }
  return path + " is not what it should be: " + to_string(error);
}

// Of a file that was named: what its name says it is, but perhaps somebody else's.
std::string why_no_file(const std::string& path, const Error& error) {
  if (error.code != Errc::truncated && error.code != Errc::corrupt && error.code != Errc::unsupported) {
    return why_not(path, error);
  }
  const auto* kind = path.ends_with(".log") ? "log file" : path.ends_with(".index") ? "index file" : "manifest";
  return path + " is no " + kind + " of Weir, or its first bytes are damaged (" + std::string{to_string(error.code)} +
         ")";
}

// Empty: it is a data folder.
std::string why_no_folder(const Disk& disk, const std::string& path) {
  if (!disk.exists(path)) {
    return "there is no " + path;
  }
  const bool is_ours = disk.exists(path + "/commitlog") || disk.exists(path + "/manifest");
  return is_ours ? std::string{} : path + " is no data folder of Weir: it has no commitlog";
}

bool is_named_file(const std::string& path) {
  return path.ends_with(".log") || path.ends_with(".index") || path.ends_with("manifest");
}

// A data folder becomes its manifest and its segments (with their indexes, if asked for); a file stays itself.
Result<std::vector<std::string>> files_of(Disk& disk, const LogOptions& options) {
  if (is_named_file(options.path)) {
    return std::vector<std::string>{options.path};
  }
  const auto folder = options.path + "/commitlog";
  WEIR_TRY(const auto names, disk.list(folder));
  std::vector<std::string> files;
  if (disk.exists(options.path + "/manifest")) {
    files.push_back(options.path + "/manifest");
  }
  for (const auto& name : names) {
    if (name.ends_with(".log") || (options.indexes && name.ends_with(".index"))) {
      files.push_back(folder + "/" + name);
    }
  }
  return files;
}

// The next segment's file is made ahead of its use, and a kill may leave it so.
bool is_empty(Disk& disk, const std::string& path) {
  const auto file = disk.open(path, {.read_only = true});
  if (!file) {
    return false;
  }
  const auto size = (*file)->size();
  return size && *size == 0;
}

int dump(const LogOptions& options) {
  PosixDisk disk;
  const auto why = is_named_file(options.path) ? std::string{} : why_no_folder(disk, options.path);
  if (!why.empty()) {
    return fail(why + "; name a data folder, a .log, an .index or a manifest file");
  }
  const auto files = files_of(disk, options);
  if (!files) {
    return fail(why_not(options.path, files.error()) + "; name a data folder, a .log, an .index or a manifest file");
  }
  const log::DumpOptions settings{
      .json = options.json,
      .partition = options.partition ? std::optional{LocalPartition{*options.partition}} : std::nullopt,
      .from = options.from,
      .entries_max = options.entries_max};
  int code = kDone;
  for (const auto& file : *files) {
    const bool empty = is_empty(disk, file);
    options.json ? print_json({{"file", file}, {"empty", empty}})
                 : print_line(empty ? file + ": empty, made ahead of its use" : file);
    if (empty) {
      continue;
    }
    const auto done = file.ends_with(".log")     ? log::dump_segment(disk, file, settings, print_line)
                      : file.ends_with(".index") ? log::dump_index(disk, file, settings, print_line)
                                                 : log::dump_manifest(disk, file, settings, print_line);
    if (!done) {
      code = fail(why_no_file(file, done.error()));
    }
  }
  return code;
}

int verify(const LogOptions& options) {
  RealClock clock;
  PosixDisk disk;
  if (const auto why = why_no_folder(disk, options.path); !why.empty()) {
    return fail(why + "; name the data folder of a stopped broker");
  }
  ThreadExecutor worker{"weir-verify"};
  Progress progress{clock};
  std::vector<std::string> problems;
  std::promise<Result<log::VerifyReport>> promised;
  auto verified = promised.get_future();
  worker.post([&] {
    promised.set_value(
        log::verify_folder(disk, options.path, [&](std::string_view line) { problems.emplace_back(line); }));
  });
  while (verified.wait_for(kLook) != std::future_status::ready) {
    if (progress.due()) {
      progress.say("verifying " + options.path + " for " + std::to_string(static_cast<int>(progress.seconds())) + " s");
    }
  }
  const auto report = verified.get();
  worker.stop();
  if (!report) {
    return fail(why_not(options.path, report.error()) + "; name the data folder of a stopped broker");
  }
  if (options.json) {
    json::array told;
    for (const auto& problem : problems) {
      told.emplace_back(problem);
    }
    print_json({{"entries", report->entries},
                {"batches", report->batches},
                {"records", report->records},
                {"bytes", report->bytes},
                {"torn_bytes", report->torn_bytes},
                {"problems", told}});
  } else {
    for (const auto& problem : problems) {
      print_line(problem);
    }
    print_line(count_of(report->entries, "entry", "entries") + ", " + count_of(report->batches, "batch", "batches") +
               ", " + count_of(report->records, "record") + ", " + size_of(report->bytes) + "; " +
               (report->problems == 0 ? "no damage" : count_of(report->problems, "problem")));
    if (report->torn_bytes > 0) {
      print_line(size_of(report->torn_bytes) +
                 " behind the last whole entry: what a broken write leaves, cut at the next start");
    }
  }
  return report->problems == 0 ? kDone : kFailed;
}

int allow_writes(const LogOptions& options) {
  PosixDisk disk;
  if (const auto why = why_no_folder(disk, options.path); !why.empty()) {
    return fail(why + "; name the data folder of a stopped broker");
  }
  const auto lock = disk.lock(options.path + "/.lock");
  if (!lock) {
    return fail(lock.error().code == Errc::in_use
                    ? "a broker (pid " + std::to_string(lock.error().detail) + ") runs on " + options.path + ": stop it"
                    : why_not(options.path, lock.error()) + "; name the data folder of a stopped broker");
  }
  const auto cause = log::allow_writes(disk, options.path);
  if (!cause) {
    return fail(why_not(options.path + "/manifest", cause.error()));
  }
  if (options.json) {
    print_json({{"was_read_only", *cause != 0}, {"errno", *cause}});
  } else {
    print_line(*cause == 0 ? "the log was not read-only"
                           : std::string{"the log was read-only since \""} + std::strerror(*cause) +
                                 "\"; the next start takes writes again");
  }
  return kDone;
}

template <class Run>
CLI::App* add(Commands& commands, CLI::App& parent, const char* name, const char* help, const Options& options,
              Run run) {
  auto* command = parent.add_subcommand(name, help);
  command->add_flag("--json", options->json, "Print JSON instead of words");
  command->callback([&commands, options, run] { commands.chosen = [options, run] { return run(*options); }; });
  return command;
}

}  // namespace

void add_log(Commands& commands) {
  const auto options = std::make_shared<LogOptions>();
  auto* log = commands.app.add_subcommand("log", "Look into the data folder of a stopped broker");
  log->require_subcommand(1);
  auto* dumping =
      add(commands, *log, "dump", "One line an entry: its position, kind, partition and offsets", options, dump);
  dumping->add_option("PATH", options->path, "A data folder, a .log or .index file, or a manifest")->required();
  dumping->add_option("--partition", options->partition, "Only this one, by its number on the node")
      ->check(whole_number(0, kPartitionMax));
  dumping->add_option("--from", options->from, "Begin at this position of each segment file")->check(whole_number());
  dumping->add_option("--entries", options->entries_max, "At most so many entries of each segment")
      ->check(whole_number());
  dumping->add_flag("--index", options->indexes, "The index files of a folder too");
  auto* verifying = add(commands, *log, "verify",
                        "Check every entry, batch and index; ends with 1 when something is damaged", options, verify);
  verifying->add_option("FOLDER", options->path, "The data folder")->required();
  auto* allowing =
      add(commands, *log, "allow-writes", "Take writes again after a failed write or sync, once the disk is trusted",
          options, allow_writes);
  allowing->add_option("FOLDER", options->path, "The data folder")->required();
}

}  // namespace weir::cli
