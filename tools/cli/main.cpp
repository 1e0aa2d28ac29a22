// `weir`: one binary, one subcommand a file.
#include "tools/cli/command.hpp"

int main(int argc, char** argv) {
  CLI::App app{"Weir, an ordered-log message broker that speaks Kafka's protocol", "weir"};
  app.set_version_flag("--version", weir::cli::kVersion);
  app.require_subcommand(1);
  weir::cli::Commands commands{.app = app, .chosen = {}};
  weir::cli::add_serve(commands);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    const bool help = problem.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
    if (help) { return app.exit(problem); }
    std::fprintf(stderr, "weir: %s; see `weir --help`\n", problem.what());
    return weir::cli::kBadUsage;
  }
  return commands.chosen();
}
