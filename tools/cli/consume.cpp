// `weir consume`: records of one topic to stdout, as lines or as JSON.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "protocol/record.hpp"
#include "tools/cli/common.hpp"
#include "tools/client/fetcher.hpp"

namespace weir::cli {
namespace {

struct ConsumeOptions {
  ServerOptions server;
  std::string topic;
  bool beginning = false;
  std::optional<std::int64_t> offset;
  std::optional<std::int64_t> tail;
  std::optional<std::int32_t> partition;
  std::int64_t count = -1;
  bool exit_at_end = false;
  bool keys = false;
  std::string key_separator = "\t";
};

using Bounds = std::map<std::int32_t, std::int64_t>;

Result<Bounds> bounds_of(client::Blocking& broker, const client::TopicInfo& topic, std::int64_t time,
                         std::int16_t& error) {
  WEIR_TRY(const auto told, broker.offsets(topic, time));
  Bounds bounds;
  for (const auto& part : told) {
    if (part.error != 0) {
      error = part.error;
    }
    bounds[part.index] = part.offset;
  }
  return bounds;
}

// The end is where the next record will be: an offset to start at, but none that is there.
std::string holds(std::int64_t start, std::int64_t end) {
  const auto next = "the next record will have offset " + std::to_string(end);
  return start == end ? "is empty, " + next
                      : "holds offsets " + std::to_string(start) + " to " + std::to_string(end - 1) + ", " + next;
}

class Consumer {
 public:
  Consumer(const ConsumeOptions& options, client::Blocking& broker, client::TopicInfo topic)
      : options_(options),
        broker_(broker),
        topic_(std::move(topic)),
        what_("cannot consume topic '" + options.topic + "'") {}

  int run() {
    if (const auto code = find_bounds(); code != kDone) {
      return code;
    }
    client::Fetcher fetcher{broker_, topic_, from_, {}};
    Progress progress{broker_.clock()};
    for (;;) {
      if (options_.exit_at_end) {
        drop_finished(fetcher);
      }
      if (fetcher.positions().empty() || printed_ == options_.count) {
        break;
      }
      for (const auto& batches : fetcher.next()) {
        if (!print(batches)) {
          return kFailed;
        }
      }
      if (std::fflush(stdout) != 0) {
        return fail("cannot write to stdout: " + std::string{std::strerror(errno)});
      }
      if (fetcher.failure()) {
        return tell(*fetcher.failure());
      }
      if (options_.exit_at_end && progress.due()) {
        progress.say(count_of(printed_, "record") + " read");
      }
    }
    return kDone;
  }

 private:
  int find_bounds() {
    std::int16_t error = 0;
    const auto starts = bounds_of(broker_, topic_, client::kEarliest, error);
    if (!starts) {
      return fail(what_, broker_, starts.error());
    }
    const auto ends = bounds_of(broker_, topic_, client::kLatest, error);
    if (!ends) {
      return fail(what_, broker_, ends.error());
    }
    if (error != 0) {
      return refused(what_, error);
    }
    ends_ = *ends;
    for (const auto& [index, start] : *starts) {
      const auto end = ends_[index];
      if (options_.partition && index != *options_.partition) {
        continue;
      }
      from_[index] = options_.beginning ? start
                     : options_.tail    ? std::max(start, end - *options_.tail)
                                        : options_.offset.value_or(end);
      if (from_[index] < start || from_[index] > end) {
        return fail("--offset " + std::to_string(from_[index]) + ": partition " + std::to_string(index) +
                    " of topic '" + options_.topic + "' " + holds(start, end));
      }
    }
    if (from_.empty()) {
      return fail("--partition " + std::to_string(*options_.partition) + ": topic '" + options_.topic + "' has only " +
                  count_of(std::ssize(topic_.partitions), "partition") + ", counted from 0");
    }
    wanted_ = from_;
    return kDone;
  }

  // What was the end when we began is the end: a busy topic would have none.
  void drop_finished(client::Fetcher& fetcher) const {
    for (const auto& [index, next] : Bounds{fetcher.positions()}) {
      if (next >= ends_.at(index)) {
        fetcher.drop(index);
      }
    }
  }

  bool print(const client::FetchedBatches& fetched) {
    protocol::BatchChain batches{fetched.bytes.view()};
    while (printed_ != options_.count) {
      const auto batch = batches.next();
      if (!batch || !*batch) {
        break;
      }  // the fetcher has looked at each
      if ((*batch)->is_control()) {
        continue;
      }
      protocol::RecordReader reader{**batch, protocol::kExpansionMax};
      for (;;) {
        const auto record = reader.next();
        if (!record) {
          fail(what_ + ": the batch at offset " + std::to_string((*batch)->base_offset()) + " of partition " +
               std::to_string(fetched.partition) + " cannot be read: " + to_string(record.error()));
          return false;
        }
        if (!*record) {
          break;
        }
        const auto offset = reader.offset_of(**record).value;
        if (offset < wanted_.at(fetched.partition)) {
          continue;
        }
        if (options_.exit_at_end && offset >= ends_.at(fetched.partition)) {
          continue;
        }
        if (printed_ == options_.count) {
          return true;
        }
        ++printed_;
        options_.server.json ? print_object(fetched.partition, offset, **record, reader.timestamp_of(**record))
                             : print_plain(**record);
      }
    }
    return true;
  }

  void print_plain(const protocol::RecordView& record) const {
    const auto put = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
    if (options_.keys && record.key) {
      put(as_text(*record.key));
      put(options_.key_separator);
    }
    if (record.value) {
      put(as_text(*record.value));
    }
    put("\n");
  }

  void print_object(std::int32_t partition, std::int64_t offset, const protocol::RecordView& record,
                    Millis timestamp) const {
    json::array headers;
    for (const auto& header : record.headers) {
      headers.push_back({{"key", text_json(as_bytes(header.key))}, {"value", text_json(header.value)}});
    }
    print_json({{"topic", options_.topic},
                {"partition", partition},
                {"offset", offset},
                {"timestamp", timestamp},
                {"key", text_json(record.key)},
                {"value", text_json(record.value)},
                {"headers", headers}});
  }

  int tell(const client::FetchFailure& failure) const {
    const auto what = what_ + (failure.partition >= 0 ? " partition " + std::to_string(failure.partition) : "");
    if (failure.damaged_at >= 0) {
      return fail(what + ": the bytes at offset " + std::to_string(failure.damaged_at) +
                  " are no sound record batch; `weir log verify` on the broker's folder tells more");
    }
    return failure.code != 0 ? refused(what, failure.code) : fail(what, broker_, failure.error);
  }

  const ConsumeOptions& options_;
  client::Blocking& broker_;
  client::TopicInfo topic_;
  std::string what_;
  Bounds from_;
  Bounds wanted_;
  Bounds ends_;
  std::int64_t printed_ = 0;
};

int consume(const ConsumeOptions& options) {
  const auto broker = options.server.open();
  auto topic = broker->topic(options.topic);
  const auto what = "cannot consume topic '" + options.topic + "'";
  if (!topic) {
    return fail(what, *broker, topic.error());
  }
  if (topic->error != 0) {
    return refused(what, topic->error);
  }
  return Consumer{options, *broker, std::move(*topic)}.run();
}

}  // namespace

void add_consume(Commands& commands) {
  const auto options = std::make_shared<ConsumeOptions>();
  auto* command = commands.app.add_subcommand("consume", "Print records; without a start, those that come from now on");
  options->server.add_to(*command);
  options->server.add_json(*command);
  command->add_option("TOPIC", options->topic, "Where to read")->required();
  auto* beginning = command->add_flag("--beginning", options->beginning, "Start at the first record there is");
  auto* offset =
      command->add_option("--offset", options->offset, "Start at this offset of each partition")->check(whole_number());
  auto* tail = command->add_option("--tail", options->tail, "Start so many records before the end of each partition")
                   ->check(whole_number());
  beginning->excludes(offset)->excludes(tail);
  offset->excludes(tail);
  command->add_option("--partition", options->partition, "Only this one (default: all)")
      ->check(whole_number(0, kPartitionMax));
  command->add_option("--count", options->count, "End after so many records")->check(whole_number());
  command->add_flag("--exit-at-end", options->exit_at_end, "End when everything that was there at the start is read");
  command->add_flag("--keys", options->keys, "Print the key, a separator and the value");
  command->add_option("--key-separator", options->key_separator, "What --keys puts between (default: a tab)")
      ->type_name("TEXT");
  command->callback([&commands, options] { commands.chosen = [options] { return consume(*options); }; });
}

}  // namespace weir::cli
