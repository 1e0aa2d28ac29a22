// `weir topic trim`: removes records from the front of a topic, for good (DeleteRecords).
#include <algorithm>
#include <map>

#include "protocol/gen/delete_records.hpp"
#include "tools/cli/common.hpp"
#include "tools/cli/time_text.hpp"

namespace weir::cli {
namespace {

struct TrimOptions {
  ServerOptions server;
  std::string topic;
  std::optional<std::int32_t> partition;
  bool all = false;
  std::optional<std::int64_t> before_offset;
  std::string before_time;
  bool execute = false;
};

struct Cut {
  std::int64_t from = 0;  // the start of the partition now
  std::int64_t to = 0;
  std::int32_t leader = -1;
};
using Cuts = std::map<std::int32_t, Cut>;

class Trim {
 public:
  Trim(const TrimOptions& options, client::Blocking& broker)
      : options_(options), broker_(broker), what_("cannot trim topic '" + options.topic + "'") {}

  int run() {
    if (const auto code = plan(); code != kDone) {
      return code;
    }
    if (options_.execute) {
      for (auto& [index, cut] : cuts_) {
        if (const auto code = execute(index, cut); code != kDone) {
          return code;
        }
      }
    }
    print();
    return kDone;
  }

 private:
  int plan() {
    const auto topic = broker_.topic(options_.topic);
    if (!topic) {
      return fail(what_, broker_, topic.error());
    }
    if (topic->error != 0) {
      return refused(what_, topic->error);
    }
    std::map<std::int32_t, std::int64_t> starts;
    std::map<std::int32_t, std::int64_t> ends;
    std::map<std::int32_t, std::int64_t> at_time;
    const auto time = options_.before_time.empty() ? std::nullopt : time_from_text(options_.before_time);
    for (const auto& [asked, into] : {std::pair{std::optional{client::kEarliest}, &starts},
                                      std::pair{std::optional{client::kLatest}, &ends}, std::pair{time, &at_time}}) {
      if (!asked) {
        continue;
      }
      const auto offsets = broker_.offsets(*topic, *asked);
      if (!offsets) {
        return fail(what_, broker_, offsets.error());
      }
      for (const auto& part : *offsets) {
        if (part.error != 0) {
          return refused(what_, part.error);
        }
        (*into)[part.index] = part.offset;
      }
    }
    for (const auto& part : topic->partitions) {
      if (options_.partition && part.index != *options_.partition) {
        continue;
      }
      const auto start = starts[part.index];
      const auto end = ends[part.index];
      const auto wanted = options_.all              ? end
                          : options_.before_offset  ? *options_.before_offset
                          : at_time[part.index] < 0 ? end  // nothing is as young as that
                                                    : at_time[part.index];
      cuts_[part.index] = {start, std::clamp(wanted, start, end), part.leader};
    }
    return cuts_.empty()
               ? fail("--partition " + std::to_string(*options_.partition) + ": topic '" + options_.topic +
                      "' has only " + count_of(std::ssize(topic->partitions), "partition") + ", counted from 0")
               : kDone;
  }

  int execute(std::int32_t index, Cut& cut) {
    protocol::DeleteRecordsRequest request;
    request.timeout_ms = static_cast<std::int32_t>(options_.server.timeout_seconds * 1000);
    auto& topic = request.topics.emplace_back();
    topic.name = protocol::Text{options_.topic};
    topic.partitions.push_back({.partition_index = index, .offset = cut.to});
    const auto answer =
        broker_.call<protocol::DeleteRecordsRequest, protocol::DeleteRecordsResponse>(std::move(request), cut.leader);
    if (!answer) {
      return fail(what_, broker_, answer.error());
    }
    for (const auto& told : answer->response.topics) {
      for (const auto& part : told.partitions) {
        if (part.error_code != 0) {
          return refused(what_ + " partition " + std::to_string(index), part.error_code);
        }
        cut.to = part.low_watermark;
      }
    }
    return kDone;
  }

  void print() const {
    json::array told;
    Table table{{"partition", "start", "new start"}};
    for (const auto& [index, cut] : cuts_) {
      told.push_back({{"partition", index}, {"start", cut.from}, {"new_start", cut.to}});
      table.add({std::to_string(index), std::to_string(cut.from), std::to_string(cut.to)});
    }
    if (options_.server.json) {
      return print_json({{"topic", options_.topic}, {"executed", options_.execute}, {"partitions", told}});
    }
    table.print();
    print_line(options_.execute ? "trimmed topic '" + options_.topic + "'"
                                : "dry run, nothing was changed; add --execute to remove these records for good");
  }

  const TrimOptions& options_;
  client::Blocking& broker_;
  std::string what_;
  Cuts cuts_;
};

int trim(const TrimOptions& options) {
  const auto broker = options.server.open();
  return Trim{options, *broker}.run();
}

}  // namespace

void add_topic_trim(Commands& commands, CLI::App& topic) {
  const auto options = std::make_shared<TrimOptions>();
  auto* command = add_subcommand(commands, topic, "trim",
                                 "Remove records from the front of a topic; a dry run unless --execute", options, trim);
  command->add_option("NAME", options->topic, "The topic")->required();
  command->add_option("--partition", options->partition, "Only this one (default: all)")
      ->check(whole_number(0, kPartitionMax));
  command->add_flag("--execute", options->execute, "Remove them, instead of only showing what would be");
  auto* where = command->add_option_group("Where to", "Exactly one of these; at most everything that is there now");
  where->add_flag("--all", options->all, "All records");
  where->add_option("--before-offset", options->before_offset, "Those below this offset of each partition")
      ->check(whole_number());
  where
      ->add_option(
          "--before-time", options->before_time,
          "Those before the first one of that time or later: 2026-01-31T12:30 (UTC) or milliseconds since 1970")
      ->check(moment());
  where->require_option(1);
}

}  // namespace weir::cli
