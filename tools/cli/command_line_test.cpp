// Every command and every option of `weir`, wrong in each way that a command line can be wrong. The commands are
// found by walking the parser, so that a new one is tested too; what its options take stands in kValues.
#include "tools/cli/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace weir::cli {
namespace {
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

struct Values {
  std::string good;
  Words bad;  // empty: any text is taken here, what is wrong with it is found later
};

// By option. A new option needs a line here.
const std::map<std::string, Values> kValues{
    {"--server", {"a:1,b:2", {"", "nowhere", "host:", ":9092x", "h:0", "h:70000", "a:1,", ",a:1", "a:1,b"}}},
    {"--timeout", {"0.5", {"", "0", "-1", "soon", "4000", "1s", "nan"}}},
    {"--partition", {"3", {"", "-1", "x", "1.5", "3000000000", "0x1"}}},
    {"--acks", {"1", {"", "2", "ALL", "-1"}}},
    {"--codec", {"zstd", {"", "zip"}}},
    {"--header", {"a=b", {"", "x", "=1"}}},
    {"--key-separator", {":", {}}},
    {"--offset", {"5", {"", "-1", "few", "99999999999999999999"}}},
    {"--tail", {"5", {"", "-1", "few", "1k"}}},
    {"--count", {"5", {"", "-1", "few", "5 "}}},
    {"--partitions", {"5", {"", "0", "-1", "many", "1000001"}}},
    {"--config", {"a=b", {}}},  // a file of `serve`, a pair of `topic create`
    {"--set", {"a=b", {}}},     // of `serve`, which looks at it itself, and of `topic config`
    {"--unset", {"a", {}}},
    {"--topic", {"t", {}}},
    {"--to-offset", {"5", {"", "-1", "end"}}},
    {"--to-time", {"2026-01-31T12:30", {"", "yesterday", "-1", "2026-02-30"}}},
    {"--shift-by", {"-5", {"", "back", "1.5"}}},
    {"--before-offset", {"5", {"", "-1", "end"}}},
    {"--before-time", {"1000", {"", "yesterday", "2026-1-1"}}},
    {"--from", {"64", {"", "-1", "start"}}},  // of `log dump`; elsewhere a name of --server
    {"--entries", {"5", {"", "-1", "few"}}},
    {"--data", {"d", {}}},
    {"--listen", {"h:1", {}}},
    {"--cluster-id", {"MkU3OEVBNTcwNTJENDM2Qg", {}}},  // `metadata repair` looks at it itself
    {"--node-id", {"2", {"", "x", "1.5"}}},
};

std::string path_of(const Words& words) {
  std::string path = "weir";
  for (const auto& word : words) {
    path += " " + word;
  }
  return path;
}

struct Leaf {
  Words words;
  const CLI::App* app;
};

void find_leaves(const CLI::App& app, const Words& words, std::vector<Leaf>& leaves, std::vector<Leaf>& parents) {
  const auto children = children_of(app);
  (children.empty() ? leaves : parents).push_back({words, &app});
  for (const auto* child : children) {
    auto below = words;
    below.push_back(child->get_name());
    find_leaves(*child, below, leaves, parents);
  }
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  auto options = app.get_options([](const CLI::Option* option) { return option->nonpositional(); });
  std::erase_if(options, [](const CLI::Option* option) { return option->check_lname("help"); });
  return options;
}

std::vector<const CLI::Option*> positionals_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

// Groups of options of which exactly one is wanted.
std::vector<const CLI::App*> groups_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* child) { return child->get_name().empty(); });
}

// Those in its groups too.
std::vector<const CLI::Option*> all_options_of(const CLI::App& app) {
  auto options = options_of(app);
  for (const auto* group : groups_of(app)) {
    const auto more = options_of(*group);
    options.insert(options.end(), more.begin(), more.end());
  }
  return options;
}

std::string name_of(const CLI::Option* option) {
  return "--" + option->get_lnames().front();
}

bool takes_value(const CLI::Option* option) {
  return option->get_items_expected_max() > 0;
}

Words given(const CLI::Option* option) {
  return takes_value(option) ? Words{name_of(option), kValues.at(name_of(option)).good} : Words{name_of(option)};
}

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// A call that is right.
Words sound(const Leaf& leaf) {
  auto words = leaf.words;
  for (std::size_t i = 0; i < positionals_of(*leaf.app).size(); ++i) {
    words.emplace_back("x");
  }
  for (const auto* group : groups_of(*leaf.app)) {
    words = words + given(options_of(*group).front());
  }
  return words;
}

CommandLine::Parsed parse(const Words& words) {
  std::vector<const char*> arguments{"weir"};
  for (const auto& word : words) {
    arguments.push_back(word.c_str());
  }
  CommandLine line;
  return line.parse(static_cast<int>(arguments.size()), arguments.data());
}

// One sentence that says these parts, and where help is.
void expect_fault(const Words& words, const Words& parts, const Words& command) {
  const auto parsed = parse(words);
  const auto shown = path_of(words);
  EXPECT_FALSE(parsed.action) << shown;
  EXPECT_TRUE(parsed.text.empty()) << shown;
  for (const auto& part : parts) {
    EXPECT_THAT(parsed.fault, HasSubstr(part)) << shown;
  }
  EXPECT_EQ(parsed.fault.find('\n'), std::string::npos) << shown;
  EXPECT_EQ(parsed.see, path_of(command)) << shown;
  if (!parts.front().starts_with("there is no command")) {
    EXPECT_THAT(parsed.fault, Not(HasSubstr("there is no command"))) << shown;
  }
}

void expect_fault(const Words& words, const std::string& part, const Words& command) {
  expect_fault(words, Words{part}, command);
}

class EveryCommand : public testing::Test {
 protected:
  void SetUp() override {
    find_leaves(line.app(), {}, leaves, parents);
    ASSERT_GT(leaves.size(), 15U);
  }
  CommandLine line;
  std::vector<Leaf> leaves;
  std::vector<Leaf> parents;
};

TEST_F(EveryCommand, IsTakenWithWhatItNeedsAndHasHelp) {
  for (const auto& leaf : leaves) {
    const auto words = sound(leaf);
    const auto parsed = parse(words);
    EXPECT_TRUE(parsed.action) << path_of(words) << ": " << parsed.fault;
    const auto help = parse(leaf.words + Words{"--help"});
    EXPECT_THAT(help.text, HasSubstr("--help")) << path_of(leaf.words);
    for (const auto* option : all_options_of(*leaf.app)) {
      EXPECT_FALSE(option->get_description().empty()) << path_of(leaf.words) << " " << name_of(option);
      ASSERT_TRUE(!takes_value(option) || kValues.contains(name_of(option))) << "no line for " << name_of(option);
    }
  }
}

TEST_F(EveryCommand, NamesAnOptionThatItDoesNotHave) {
  for (const auto& all : {leaves, parents}) {
    for (const auto& one : all) {
      const auto sentence = [&](const std::string& option) {
        return "'" + path_of(one.words) + "' has no option '" + option + "'";
      };
      expect_fault(one.words + Words{"--frob"}, sentence("--frob"), one.words);
      expect_fault(one.words + Words{"--frob=1"}, sentence("--frob"), one.words);
      expect_fault(one.words + Words{"-z"}, sentence("-z"), one.words);
    }
  }
  for (const auto& leaf : leaves) {
    expect_fault(sound(leaf) + Words{"--frob"}, "has no option '--frob'", leaf.words);
  }
  expect_fault({"--server", "h:1", "topic", "list"}, "'weir' has no option '--server'", {});
}

TEST_F(EveryCommand, IsAskedForWhereThereAreSeveral) {
  for (const auto& parent : parents) {
    const auto path = path_of(parent.words);
    expect_fault(parent.words, "'" + path + "' wants a command: ", parent.words);
    expect_fault(parent.words + Words{"frob"}, "there is no command '" + path + " frob', only ", parent.words);
    expect_fault(parent.words + Words{"frob", "--frob"}, "there is no command '" + path + " frob'", parent.words);
    expect_fault(parent.words + Words{""}, "'" + path + "' wants a command: ", parent.words);
  }
}

TEST_F(EveryCommand, SaysWhichArgumentIsMissingOrTooMany) {
  for (const auto& leaf : leaves) {
    const auto positionals = positionals_of(*leaf.app);
    if (!positionals.empty()) {
      expect_fault(leaf.words, "'" + path_of(leaf.words) + "' wants " + positionals.front()->get_name(), leaf.words);
    }
    const bool takes_many = !positionals.empty() && positionals.back()->get_items_expected_max() > 1;
    if (!takes_many) {
      expect_fault(sound(leaf) + Words{"extra"}, "does not know what to do with 'extra'", leaf.words);
    }
  }
}

TEST_F(EveryCommand, SaysWhichOptionLacksItsValue) {
  for (const auto& leaf : leaves) {
    for (const auto* option : all_options_of(*leaf.app)) {
      const auto name = name_of(option);
      if (takes_value(option)) {
        expect_fault(sound(leaf) + Words{name}, name + " wants a value", leaf.words);
      } else {
        expect_fault(sound(leaf) + Words{name + "=x"}, name + " takes no value", leaf.words);
      }
    }
  }
}

TEST_F(EveryCommand, SaysWhichValueIsWrongAndWhatIsWanted) {
  for (const auto& leaf : leaves) {
    for (const auto* option : all_options_of(*leaf.app)) {
      const auto name = name_of(option);
      if (!takes_value(option)) {
        continue;
      }
      for (const auto& bad : kValues.at(name).bad) {
        const auto words = sound(leaf) + Words{name + "=" + bad};
        expect_fault(words, bad.empty() ? Words{name} : Words{name, "wants ", "not '" + bad + "'"}, leaf.words);
      }
    }
  }
  expect_fault({"topic", "create", "t", "--config", "novalue"}, "--config: wants NAME=VALUE, not 'novalue'",
               {"topic", "create"});
  expect_fault({"topic", "config", "t", "--set", "=1"}, "--set: wants NAME=VALUE, not '=1'", {"topic", "config"});
}

TEST_F(EveryCommand, SaysWhichOptionStandsThereTwice) {
  for (const auto& leaf : leaves) {
    for (const auto* option : all_options_of(*leaf.app)) {
      const bool is_list =
          option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll || option->get_items_expected_max() > 1;
      if (takes_value(option) && !is_list) {
        expect_fault(sound(leaf) + given(option) + given(option), name_of(option) + " may stand there once only",
                     leaf.words);
      }
    }
  }
}

TEST_F(EveryCommand, SaysWhichOptionsDoNotGoTogether) {
  std::size_t pairs = 0;
  for (const auto& leaf : leaves) {
    for (const auto* option : options_of(*leaf.app)) {
      for (const auto* other : option->get_excludes()) {
        const auto words = sound(leaf) + given(option) + given(other);
        expect_fault(words, Words{name_of(option), name_of(other), " do not go together"}, leaf.words);
        ++pairs;
      }
    }
    for (const auto* group : groups_of(*leaf.app)) {
      const auto options = options_of(*group);
      expect_fault(leaf.words + Words(positionals_of(*leaf.app).size(), "x"),
                   "'" + path_of(leaf.words) + "' wants one of " + name_of(options.front()) + ", ", leaf.words);
      for (const auto* option : options) {
        if (option != options.front()) {
          expect_fault(sound(leaf) + given(option), "' wants only one of " + name_of(options.front()) + ", ",
                       leaf.words);
          ++pairs;
        }
      }
    }
  }
  EXPECT_GT(pairs, 8U);
}

TEST(CommandLine, ShowsNoControlCharacterOfWhatWasTyped) {
  const auto parsed = parse({"fr\x1b[31mob\n"});
  EXPECT_THAT(parsed.fault, HasSubstr("'weir fr?[31mob?'"));
}

TEST(CommandLine, TellsItsVersionAndCommit) {
  EXPECT_THAT(parse({"--version"}).text, testing::StartsWith(WEIR_VERSION));
}

}  // namespace
}  // namespace weir::cli
