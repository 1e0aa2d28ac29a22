// `weir produce`: lines from stdin to records of one topic.
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "protocol/gen/create_topics.hpp"
#include "tools/cli/common.hpp"
#include "tools/client/producer.hpp"

namespace weir::cli {
namespace {
using protocol::ErrorCode;

constexpr std::size_t kReadBytes = 256 * 1024;
constexpr std::size_t kLineBytesMax = 64 * 1024 * 1024;  // no broker takes a record that large

struct ProduceOptions {
  ServerOptions server;
  std::string topic;
  std::string key_separator;
  std::optional<std::int32_t> partition;
  std::string acks = "all";
  std::string codec = "none";
  std::vector<std::string> headers;
};

// Whole lines of stdin, as they come. A last line without an end counts.
class LineReader {
 public:
  // The next lines, without their ends; empty at the end of the input. False when reading failed (errno) or a line is
  // too long.
  bool next(std::vector<std::string_view>& lines) {
    lines.clear();
    buffer_.erase(0, used_);
    used_ = 0;
    std::size_t searched = 0;
    while (lines.empty() && !ended_) {
      if (buffer_.size() > kLineBytesMax) {
        errno = EMSGSIZE;
        return false;
      }
      const auto had = buffer_.size();
      buffer_.resize(had + kReadBytes);
      ssize_t count = 0;
      do {
        count = ::read(STDIN_FILENO, buffer_.data() + had, kReadBytes);
      } while (count < 0 && errno == EINTR);
      buffer_.resize(had + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
      if (count < 0) {
        return false;
      }
      ended_ = count == 0;
      for (auto end = buffer_.find('\n', searched); end != std::string::npos; end = buffer_.find('\n', used_)) {
        lines.push_back(std::string_view{buffer_}.substr(used_, end - used_));
        used_ = end + 1;
      }
      searched = std::max(used_, buffer_.size());
    }
    if (ended_ && used_ < buffer_.size()) {
      lines.push_back(std::string_view{buffer_}.substr(used_));
      used_ = buffer_.size();
    }
    return true;
  }

 private:
  std::string buffer_;
  std::size_t used_ = 0;
  bool ended_ = false;
};

client::OutRecord record_of(std::string_view line, const std::string& separator) {
  if (separator.empty()) {
    return {.value = line};
  }
  const auto at = line.find(separator);
  if (at == std::string_view::npos) {
    return {.value = line};
  }
  return {.key = line.substr(0, at), .value = line.substr(at + separator.size())};
}

int tell_failure(const std::string& topic, const client::Blocking& broker, const client::Producer& producer) {
  const auto& failure = *producer.failure();
  const auto what = "cannot produce to topic '" + topic + "'" +
                    (failure.partition >= 0 ? " partition " + std::to_string(failure.partition) : "") + " (" +
                    count_of(producer.acknowledged(), "record") + " acknowledged before)";
  if (failure.code == 0) {
    return fail(what, broker, failure.error);
  }
  if (failure.code == wire(ErrorCode::kafka_storage_error) && failure.text.empty()) {
    return fail(what + ": " + explain(failure.code) +
                "; its disk is full, or a write has failed and its log is read-only until `weir log allow-writes`: "
                "what the broker has logged says which");
  }
  return refused(what, failure.code, failure.text.empty() ? std::nullopt : std::optional{protocol::Text{failure.text}});
}

// Metadata does not say why a topic is not made; CreateTopics does. nullopt: nothing is in the way, or nobody tells.
std::optional<int> refuse_if_it_cannot_be_made(const std::string& topic, client::Blocking& broker) {
  const auto found = broker.topics(std::vector<std::string>{topic}, true);
  if (!found || found->empty() || found->front().error != wire(ErrorCode::unknown_topic_or_partition)) {
    return std::nullopt;
  }
  protocol::CreateTopicsRequest request;
  request.validate_only = true;
  auto& asked = request.topics.emplace_back();
  asked.name = protocol::Text{topic};
  asked.num_partitions = -1;
  asked.replication_factor = -1;
  const auto answer = broker.call<protocol::CreateTopicsRequest, protocol::CreateTopicsResponse>(std::move(request));
  if (!answer || answer->response.topics.empty()) {
    return std::nullopt;
  }
  const auto& result = answer->response.topics.front();
  const auto known = protocol::error_code_from(result.error_code);
  const bool is_in_the_way = known == ErrorCode::invalid_replication_factor || known == ErrorCode::invalid_partitions ||
                             known == ErrorCode::invalid_config || known == ErrorCode::policy_violation ||
                             known == ErrorCode::invalid_topic_exception;
  return is_in_the_way ? std::optional{refused("cannot produce to topic '" + topic + "', which cannot be made",
                                               result.error_code, result.error_message)}
                       : std::nullopt;
}

int produce(const ProduceOptions& options) {
  const auto broker = options.server.open();
  const auto what = "cannot produce to topic '" + options.topic + "'";
  if (const auto code = refuse_if_it_cannot_be_made(options.topic, *broker)) {
    return *code;
  }
  auto topic = broker->topic(options.topic, true);
  if (!topic) {
    return fail(what, *broker, topic.error());
  }
  if (topic->error == wire(ErrorCode::unknown_topic_or_partition)) {
    return fail(what + ": " + explain(topic->error) + "; if the broker makes none by itself, `weir topic create " +
                options.topic + "` does");
  }
  if (topic->error != 0) {
    return refused(what, topic->error);
  }
  const auto partitions = std::ssize(topic->partitions);
  if (options.partition && *options.partition >= partitions) {
    return fail("--partition " + std::to_string(*options.partition) + ": topic '" + options.topic + "' has only " +
                count_of(partitions, "partition") + ", counted from 0");
  }
  client::ProducerOptions settings{
      .acks = static_cast<std::int16_t>(options.acks == "all" ? -1 : std::stoi(options.acks)),
      .codec = *codec_from_string(options.codec),
      .partition = options.partition,
      .headers = split_pairs(options.headers)};
  const auto producer = client::Producer::make(broker->cluster(), std::move(*topic), std::move(settings));
  if (!broker->wait<void>([producer](auto done) { producer->start(std::move(done)); })) {
    return tell_failure(options.topic, *broker, *producer);
  }
  Progress progress{broker->clock()};
  LineReader reader;
  std::vector<std::string_view> lines;
  std::vector<client::OutRecord> records;
  std::int64_t sent = 0;
  std::int64_t bytes = 0;
  const auto tell = [&] {
    if (progress.due()) {
      const auto refusal = producer->refused_with();
      progress.say(count_of(producer->acknowledged(), "record") + " of " + std::to_string(sent) + " acknowledged" +
                   (refusal == 0 ? "" : "; the broker says " + name_of(refusal) + ", trying again"));
    }
  };
  for (;;) {
    if (!reader.next(lines)) {
      return fail("cannot read stdin: " + std::string{std::strerror(errno)});
    }
    if (lines.empty()) {
      break;
    }
    records.clear();
    for (const auto line : lines) {
      records.push_back(record_of(line, options.key_separator));
      bytes += std::ssize(line);
    }
    sent += std::ssize(records);
    if (!broker->wait<void>([&](auto done) { producer->append(records, std::move(done)); })) {
      return tell_failure(options.topic, *broker, *producer);
    }
    tell();
  }
  auto flushed = broker->begin<void>([producer](auto done) { producer->flush(std::move(done)); });
  while (flushed.wait_for(std::chrono::milliseconds{200}) != std::future_status::ready) {
    tell();
  }
  if (!flushed.get()) {
    return producer->failure() ? tell_failure(options.topic, *broker, *producer)
                               : fail(what + ": the connection broke before all records were written");
  }
  std::fprintf(stderr, "weir: %s to '%s' in %.1f s, acks=%s\n",
               (count_of(sent, "record") + ", " + size_of(bytes)).c_str(), options.topic.c_str(), progress.seconds(),
               options.acks.c_str());
  return kDone;
}

}  // namespace

void add_produce(Commands& commands) {
  const auto options = std::make_shared<ProduceOptions>();
  auto* command = commands.app.add_subcommand(
      "produce", "Each line of stdin becomes a record; the topic is created if the broker does that");
  options->server.add_to(*command);
  command->add_option("TOPIC", options->topic, "Where the records go")->required();
  command
      ->add_option("--key-separator", options->key_separator,
                   "The text between key and value; a line without it has no key")
      ->type_name("TEXT");
  command
      ->add_option("--partition", options->partition, "Send all there (default: by key; without one, batches in turn)")
      ->check(whole_number(0, kPartitionMax));
  command->add_option("--acks", options->acks, "all: durable, nothing twice; 1: written; 0: no answer")
      ->capture_default_str()
      ->check(one_of({"all", "1", "0"}));
  command->add_option("--codec", options->codec, "How batches are compressed")
      ->capture_default_str()
      ->check(one_of({"none", "gzip", "snappy", "lz4", "zstd"}));
  add_pairs(*command, "--header", options->headers, "A header of every record; may be repeated");
  command->callback([&commands, options] { commands.chosen = [options] { return produce(*options); }; });
}

}  // namespace weir::cli
