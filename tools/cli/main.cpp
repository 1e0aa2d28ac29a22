// `weir`: one binary, one subcommand a file.
#include <algorithm>
#include <cstdio>

#include "base/out_of_memory.hpp"
#include "tools/cli/command.hpp"

namespace {

// The command that the words name as far as they name one: its path for messages, and the first word that is no
// command.
struct Named {
  CLI::App* app;
  std::string path = "weir";
  std::string unknown;
};

Named named_by(CLI::App& app, int argc, char** argv) {
  Named named{.app = &app};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto children = named.app->get_subcommands([](CLI::App*) { return true; });
    if (word.starts_with('-') || children.empty()) {
      break;
    }
    const auto next = std::ranges::find_if(children, [&](const CLI::App* child) { return child->check_name(word); });
    if (next == children.end()) {
      named.unknown = word;
      break;
    }
    named.app = *next;
    named.path += " " + word;
  }
  return named;
}

std::string children_of(const CLI::App& app) {
  std::string names;
  for (const auto* child : app.get_subcommands([](const CLI::App*) { return true; })) {
    names += (names.empty() ? "" : ", ") + child->get_name();
  }
  return names;
}

// One sentence, whatever the parser says.
std::string sentence_of(const Named& named, const CLI::ParseError& problem) {
  const bool wants_child = !named.app->get_subcommands([](const CLI::App*) { return true; }).empty();
  if (!named.unknown.empty()) {
    return "there is no command '" + named.path + " " + named.unknown + "', only " + children_of(*named.app);
  }
  if (wants_child && dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr) {
    return "'" + named.path + "' wants a command: " + children_of(*named.app);
  }
  std::string text = problem.what();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  weir::end_when_out_of_memory();
  CLI::App app{"Weir, an ordered-log message broker that speaks Kafka's protocol", "weir"};
  app.set_version_flag("--version", weir::cli::kVersion);
  app.require_subcommand(1);
  weir::cli::Commands commands{.app = app, .chosen = {}};
  weir::cli::add_serve(commands);
  weir::cli::add_produce(commands);
  weir::cli::add_consume(commands);
  weir::cli::add_topic(commands);
  weir::cli::add_group(commands);
  weir::cli::add_explain(commands);
  weir::cli::add_log(commands);
  weir::cli::add_metadata(commands);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    const bool help = problem.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
    if (help) {
      return app.exit(problem);
    }
    const auto named = named_by(app, argc, argv);
    std::fprintf(stderr, "weir: %s; see `%s --help`\n", sentence_of(named, problem).c_str(), named.path.c_str());
    return weir::cli::kBadUsage;
  }
  return commands.chosen();
}
