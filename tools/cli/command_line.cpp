#include "tools/cli/command_line.hpp"

#include <algorithm>

#include "tools/cli/version.hpp"

namespace weir::cli {
namespace {

// The command that the words name as far as they name one: its path for messages, and the first word that is no
// command.
struct Named {
  const CLI::App* app;
  std::string path = "weir";
  std::string unknown;
};

Named named_by(const CLI::App& app, int argc, const char* const* argv) {
  Named named{.app = &app};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto children = children_of(*named.app);
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

std::string names_of(const std::vector<const CLI::App*>& children) {
  std::string names;
  for (const auto* child : children) {
    names += (names.empty() ? "" : ", ") + child->get_name();
  }
  return names;
}

// What stands before the text that the parser puts behind an option's name.
std::string before(const std::string& whole, std::string_view text) {
  return whole.substr(0, whole.find(text));
}

std::string of_mismatch(const std::string& what) {
  if (what.find("At Most") != std::string::npos) {
    return before(what, ":") + " may stand there once only";
  }
  if (what.find("disallowed flag override") != std::string::npos) {
    return before(what, " was") + " takes no value";
  }
  return before(what, ":") + " wants a value, and none stands behind it";
}

std::string of_requirement(const Named& named, const std::string& what) {
  const auto children = children_of(*named.app);
  if (!children.empty()) {
    return "'" + named.path + "' wants a command: " + names_of(children);
  }
  const auto list = what.find('[');
  if (list == std::string::npos) {
    return "'" + named.path + "' wants " + before(what, " is required");
  }
  auto options = what.substr(list + 1, what.find(']') - list - 1);
  for (auto comma = options.find(','); comma != std::string::npos; comma = options.find(',', comma + 2)) {
    options.insert(comma + 1, " ");
  }
  const bool several = what.find(" were given") != std::string::npos;
  return "'" + named.path + "' wants " + (several ? "only one of " : "one of ") + options;
}

// One sentence, whatever the parser says.
std::string sentence_of(const Named& named, const CLI::ParseError& problem, const std::vector<std::string>& rest) {
  const std::string what = problem.what();
  const auto is = [&]<class Kind>(std::type_identity<Kind>) { return dynamic_cast<const Kind*>(&problem) != nullptr; };
  if (!named.unknown.empty()) {
    return "there is no command '" + named.path + " " + named.unknown + "', only " + names_of(children_of(*named.app));
  }
  const bool is_extra = is(std::type_identity<CLI::ExtrasError>{});
  const bool is_missing = is(std::type_identity<CLI::RequiredError>{});
  const auto option =
      std::ranges::find_if(rest, [](const std::string& word) { return word.size() > 1 && word[0] == '-'; });
  if ((is_extra || is_missing) && option != rest.end()) {
    return "'" + named.path + "' has no option '" + before(*option, "=") + "'";
  }
  if (is_extra && !rest.empty()) {
    return "'" + named.path + "' does not know what to do with '" + rest.front() + "'";
  }
  if (is_missing) {
    return of_requirement(named, what);
  }
  if (is(std::type_identity<CLI::ArgumentMismatch>{})) {
    return of_mismatch(what);
  }
  if (is(std::type_identity<CLI::ExcludesError>{})) {
    return before(what, " excludes ") + " and " + what.substr(what.rfind(' ') + 1) + " do not go together";
  }
  constexpr std::string_view kUnconverted = "Could not convert: ";
  if (is(std::type_identity<CLI::ConversionError>{}) && what.starts_with(kUnconverted)) {
    // Options that take a value check it before it is converted.
    return before(what.substr(kUnconverted.size()), " = ") + " takes no value";
  }
  return what;
}

// What a user typed may hold anything, and goes to a terminal.
std::string printable(std::string text) {
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return text;
}

}  // namespace

std::vector<const CLI::App*> children_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* child) { return !child->get_name().empty(); });
}

CommandLine::CommandLine()
    : app_("Weir, an ordered-log message broker that speaks Kafka's protocol", "weir"),
      commands_{.app = app_, .chosen = {}} {
  app_.set_version_flag("--version", version_text());
  app_.require_subcommand(1);
  add_serve(commands_);
  add_produce(commands_);
  add_consume(commands_);
  add_topic(commands_);
  add_group(commands_);
  add_explain(commands_);
  add_log(commands_);
  add_metadata(commands_);
}

CommandLine::Parsed CommandLine::parse(int argc, const char* const* argv) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      std::ostringstream text;
      app_.exit(problem, text, text);
      return {.text = text.str()};
    }
    const auto named = named_by(app_, argc, argv);
    return {.fault = printable(sentence_of(named, problem, app_.remaining(true))), .see = named.path};
  }
  return {.action = commands_.chosen};
}

}  // namespace weir::cli
