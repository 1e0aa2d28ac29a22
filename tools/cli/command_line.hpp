// CommandLine: all commands of `weir`, and what the words of one call come to: an action, a text that was asked for
// (--help, --version), or one sentence on what is wrong with them. Used by the main thread only.
#pragma once

#include "tools/cli/command.hpp"

namespace weir::cli {

class CommandLine {
 public:
  CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  struct Parsed {
    Action action;      // empty: one of the others
    std::string text;   // for stdout
    std::string fault;  // one sentence
    std::string see;    // the command whose --help helps
  };
  Parsed parse(int argc, const char* const* argv);  // once

  [[nodiscard]] const CLI::App& app() const { return app_; }

 private:
  CLI::App app_;
  Commands commands_;
};

// The commands below `app`; CLI11 counts groups of options among them.
std::vector<const CLI::App*> children_of(const CLI::App& app);

}  // namespace weir::cli
