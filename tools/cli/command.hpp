// A subcommand of `weir`: adds itself to the parser; run() is called when it was named. Exit codes: 0 done, 1 it
// failed, 2 the command line was wrong, 3 memory ran out (base/out_of_memory.hpp). Each subcommand is one file of this
// folder.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace weir::cli {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kBadUsage = 2;

inline constexpr const char* kVersion = WEIR_VERSION;

// Registers a subcommand; `action` gives the exit code and is run after parsing.
using Action = std::function<int()>;

struct Commands {
  CLI::App& app;
  Action chosen;
};

void add_serve(Commands& commands);
void add_topic(Commands& commands);
void add_topic_trim(Commands& commands, CLI::App& topic);  // `weir topic trim`
void add_group(Commands& commands);
void add_explain(Commands& commands);
void add_log(Commands& commands);
void add_metadata(Commands& commands);
void add_produce(Commands& commands);
void add_consume(Commands& commands);

}  // namespace weir::cli
