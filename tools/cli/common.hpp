// What the subcommands share: the option that names the broker, what an option takes, sentences for failures, tables
// and JSON on stdout. Used by the main thread only.
#pragma once

#include <boost/json.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/count_of.hpp"
#include "protocol/errors.hpp"
#include "protocol/types.hpp"
#include "tools/cli/command.hpp"
#include "tools/client/blocking.hpp"

namespace weir::cli {

namespace json = boost::json;

// What every command that talks to a broker takes.
struct ServerOptions {
  std::string server = "127.0.0.1:9092";  // HOST:PORT, or several with commas between: the first that answers is asked
  double timeout_seconds = 10;
  bool json = false;

  void add_to(CLI::App& command);  // --server (--to, --from), --timeout
  void add_json(CLI::App& command);
  [[nodiscard]] std::unique_ptr<client::Blocking> open() const;
};

// A verb below `parent` that talks to a broker: `run(*options)` when it was named.
template <class Options, class Run>
CLI::App* add_subcommand(Commands& commands, CLI::App& parent, const char* name, const char* help,
                         const std::shared_ptr<Options>& options, Run run) {
  auto* command = parent.add_subcommand(name, help);
  options->server.add_to(*command);
  options->server.add_json(*command);
  command->callback([&commands, options, run] { commands.chosen = [options, run] { return run(*options); }; });
  return command;
}

// What an option takes, checked when the command line is read. The sentence names what is wanted and what came.
CLI::Validator whole_number(std::int64_t min = 0, std::int64_t max = std::numeric_limits<std::int64_t>::max());
CLI::Validator seconds_between(double min, double max);
CLI::Validator moment();  // what time_from_text() takes
CLI::Validator one_of(std::vector<std::string> words);
inline constexpr std::int64_t kPartitionMax = std::numeric_limits<std::int32_t>::max();

using Pairs = std::vector<std::pair<std::string, std::string>>;
// An option that takes NAME=VALUE and may be repeated. `same line` so that a positional behind it is not swallowed.
CLI::Option* add_pairs(CLI::App& command, const std::string& name, std::vector<std::string>& into,
                       const std::string& help);
CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& into,
                      const std::string& help);
Pairs split_pairs(const std::vector<std::string>& texts);  // checked by the option

int fail(const std::string& sentence, int code = kFailed);  // on stderr, behind "weir: "
// "weir: WHAT: the broker at HOST:PORT did not answer ...": what went wrong between us and the broker, and what to do.
int fail(const std::string& what, const client::Blocking& to, const Error& error);
// "weir: WHAT: UNKNOWN_TOPIC_OR_PARTITION, ...": what the broker refused.
int refused(const std::string& what, std::int16_t code, const std::optional<protocol::Text>& text = std::nullopt);
std::string name_of(std::int16_t code);
std::string explain(std::int16_t code, const std::optional<protocol::Text>& text = std::nullopt);

void print_line(std::string_view text);
void print_json(const json::value& value);
// kFailed and a sentence when something of what was printed did not get out (a full disk, a closed stdout), else
// `code`.
int end_of_output(int code);

// A line on stderr for what takes longer than a second: at once on a terminal over itself, else a line each time.
class Progress {
 public:
  explicit Progress(const Clock& clock);
  // True once a second: then say() something.
  bool due();
  void say(const std::string& text);
  [[nodiscard]] double seconds() const;
  ~Progress();  // ends a line that still stands on the terminal

 private:
  const Clock& clock_;
  Millis start_ms_;
  Millis next_ms_;
  bool terminal_;
  bool line_stands_ = false;
};

// "1 byte", "12.3 MB", "1.2 GB"; text that is not UTF-8 becomes {"base64": ...} in JSON, nothing becomes null.
std::string size_of(std::int64_t bytes);
json::value text_json(const std::optional<Bytes>& bytes);

// Columns as wide as their widest cell; the first row is the heading.
class Table {
 public:
  explicit Table(std::vector<std::string> heading) { rows_.push_back(std::move(heading)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace weir::cli
