// `weir topic list|create|describe|delete|config`: topics of a running broker. (`trim` is trim.cpp.)
#include <map>

#include "protocol/gen/create_topics.hpp"
#include "protocol/gen/delete_topics.hpp"
#include "protocol/gen/describe_configs.hpp"
#include "protocol/gen/incremental_alter_configs.hpp"
#include "tools/cli/common.hpp"

namespace weir::cli {
namespace {
using protocol::ErrorCode;
constexpr std::int8_t kTopicResource = 2;
constexpr std::int8_t kSetOnTopic = 1;  // source of a value in DescribeConfigs: the topic itself
constexpr std::int8_t kOpSet = 0;
constexpr std::int8_t kOpDelete = 1;

struct TopicOptions {
  ServerOptions server;
  std::vector<std::string> names;
  std::string name;
  std::int32_t partitions = -1;  // as the broker has it
  std::vector<std::string> configs;
  std::vector<std::string> unset;
  bool if_not_exists = false;
  bool internal = false;
};

struct ConfigValue {
  std::string name;
  std::optional<std::string> value;
  bool differs = false;
};

Result<std::vector<ConfigValue>> read_configs(client::Blocking& broker, const std::string& topic, std::int16_t& error) {
  protocol::DescribeConfigsRequest request;
  auto& asked = request.resources.emplace_back();
  asked.resource_type = kTopicResource;
  asked.resource_name = protocol::Text{topic};
  asked.configuration_keys.reset();
  WEIR_TRY(const auto answer,
           (broker.call<protocol::DescribeConfigsRequest, protocol::DescribeConfigsResponse>(std::move(request))));
  std::vector<ConfigValue> values;
  for (const auto& result : answer.response.results) {
    error = result.error_code;
    for (const auto& config : result.configs) {
      values.push_back({config.name.str(), config.value ? std::optional{config.value->str()} : std::nullopt,
                        config.config_source == kSetOnTopic});
    }
  }
  std::ranges::sort(values, {}, &ConfigValue::name);
  return values;
}

json::value to_json(const ConfigValue& config) {
  return {{"name", config.name},
          {"value", config.value ? json::value(*config.value) : json::value()},
          {"set_on_topic", config.differs}};
}

int list(const TopicOptions& options) {
  const auto broker = options.server.open();
  const auto topics = broker->topics(std::nullopt);
  if (!topics) {
    return fail("cannot list topics", *broker, topics.error());
  }
  json::array told;
  Table table{{"topic", "partitions"}};
  std::size_t count = 0;
  for (const auto& topic : *topics) {
    if (topic.internal && !options.internal) {
      continue;
    }
    ++count;
    told.push_back({{"name", topic.name},
                    {"partitions", topic.partitions.size()},
                    {"id", to_string(topic.id)},
                    {"internal", topic.internal}});
    table.add({topic.name, std::to_string(topic.partitions.size())});
  }
  if (options.server.json) {
    print_json(told);
  } else if (count == 0) {
    print_line("no topics");
  } else {
    table.print();
  }
  return kDone;
}

int create(const TopicOptions& options) {
  const auto broker = options.server.open();
  protocol::CreateTopicsRequest request;
  request.timeout_ms = static_cast<std::int32_t>(options.server.timeout_seconds * 1000);
  auto& topic = request.topics.emplace_back();
  topic.name = protocol::Text{options.name};
  topic.num_partitions = options.partitions;
  topic.replication_factor = -1;
  for (const auto& [name, value] : split_pairs(options.configs)) {
    topic.configs.push_back({.name = protocol::Text{name}, .value = protocol::Text{value}});
  }
  const auto what = "cannot create topic '" + options.name + "'";
  const auto answer = broker->call<protocol::CreateTopicsRequest, protocol::CreateTopicsResponse>(std::move(request));
  if (!answer) {
    return fail(what, *broker, answer.error());
  }
  if (answer->response.topics.empty()) {
    return fail(what + ": the broker's answer names no topic");
  }
  const auto& result = answer->response.topics.front();
  const bool was_there = result.error_code == wire(ErrorCode::topic_already_exists) && options.if_not_exists;
  if (result.error_code != 0 && !was_there) {
    return refused(what, result.error_code, result.error_message);
  }
  if (options.server.json) {
    print_json({{"name", options.name},
                {"created", !was_there},
                {"partitions", result.num_partitions},
                {"id", to_string(result.topic_id)}});
  } else if (was_there) {
    print_line("topic '" + options.name + "' exists already");
  } else {
    print_line("created topic '" + options.name + "'" +
               (result.num_partitions > 0 ? " with " + count_of(result.num_partitions, "partition") : ""));
  }
  return kDone;
}

int remove(const TopicOptions& options) {
  const auto broker = options.server.open();
  json::array told;
  int code = kDone;
  for (const auto& name : options.names) {
    const auto what = "cannot delete topic '" + name + "'";
    protocol::DeleteTopicsRequest request;
    request.timeout_ms = static_cast<std::int32_t>(options.server.timeout_seconds * 1000);
    request.topics.emplace_back().name = protocol::Text{name};
    request.topic_names.emplace_back(name);  // for versions before topic ids
    const auto answer = broker->call<protocol::DeleteTopicsRequest, protocol::DeleteTopicsResponse>(std::move(request));
    if (!answer) {
      return fail(what, *broker, answer.error());
    }
    for (const auto& result : answer->response.responses) {
      if (result.error_code != 0) {
        code = refused(what, result.error_code, result.error_message);
        continue;
      }
      told.push_back({{"name", name}, {"deleted", true}, {"id", to_string(result.topic_id)}});
      if (!options.server.json) {
        print_line("deleted topic '" + name + "'");
      }
    }
  }
  if (options.server.json) {
    print_json(told);
  }
  return code;
}

int describe(const TopicOptions& options) {
  const auto broker = options.server.open();
  const auto what = "cannot describe topic '" + options.name + "'";
  const auto topic = broker->topic(options.name);
  if (!topic) {
    return fail(what, *broker, topic.error());
  }
  if (topic->error != 0) {
    return refused(what, topic->error);
  }
  const auto starts = broker->offsets(*topic, client::kEarliest);
  if (!starts) {
    return fail(what, *broker, starts.error());
  }
  const auto ends = broker->offsets(*topic, client::kLatest);
  if (!ends) {
    return fail(what, *broker, ends.error());
  }
  std::int16_t error = 0;
  const auto configs = read_configs(*broker, options.name, error);
  if (!configs) {
    return fail(what, *broker, configs.error());
  }
  if (error != 0) {
    return refused(what, error);
  }
  json::array partitions;
  Table table{{"partition", "leader", "epoch", "start", "end", "records at most"}};
  for (std::size_t i = 0; i < topic->partitions.size() && i < starts->size() && i < ends->size(); ++i) {
    const auto& part = topic->partitions[i];
    const auto start = (*starts)[i].offset;
    const auto end = (*ends)[i].offset;
    partitions.push_back({{"partition", part.index},
                          {"leader", part.leader},
                          {"leader_epoch", part.leader_epoch},
                          {"start", start},
                          {"end", end}});
    table.add({std::to_string(part.index), std::to_string(part.leader), std::to_string(part.leader_epoch),
               std::to_string(start), std::to_string(end), std::to_string(end - start)});
  }
  json::array differing;
  for (const auto& config : *configs) {
    if (config.differs) {
      differing.push_back(to_json(config));
    }
  }
  if (options.server.json) {
    print_json({{"name", topic->name},
                {"id", to_string(topic->id)},
                {"internal", topic->internal},
                {"partitions", partitions},
                {"configs", differing}});
    return kDone;
  }
  print_line("topic '" + topic->name + "', id " + to_string(topic->id) + ", " +
             count_of(std::ssize(topic->partitions), "partition"));
  table.print();
  print_line(differing.empty() ? "all configs are the broker's" : "configs set on the topic:");
  for (const auto& config : *configs) {
    if (config.differs) {
      print_line("  " + config.name + "=" + config.value.value_or(""));
    }
  }
  return kDone;
}

int alter(const TopicOptions& options, client::Blocking& broker) {
  protocol::IncrementalAlterConfigsRequest request;
  auto& resource = request.resources.emplace_back();
  resource.resource_type = kTopicResource;
  resource.resource_name = protocol::Text{options.name};
  for (const auto& [name, value] : split_pairs(options.configs)) {
    resource.configs.push_back(
        {.name = protocol::Text{name}, .config_operation = kOpSet, .value = protocol::Text{value}});
  }
  for (const auto& name : options.unset) {
    resource.configs.push_back({.name = protocol::Text{name}, .config_operation = kOpDelete, .value = std::nullopt});
  }
  const auto what = "cannot change configs of topic '" + options.name + "'";
  const auto answer = broker.call<protocol::IncrementalAlterConfigsRequest, protocol::IncrementalAlterConfigsResponse>(
      std::move(request));
  if (!answer) {
    return fail(what, broker, answer.error());
  }
  for (const auto& result : answer->response.responses) {
    if (result.error_code != 0) {
      return refused(what, result.error_code, result.error_message);
    }
  }
  return kDone;
}

int config(const TopicOptions& options) {
  const auto broker = options.server.open();
  const bool changes = !options.configs.empty() || !options.unset.empty();
  if (changes) {
    if (const auto code = alter(options, *broker); code != kDone) {
      return code;
    }
  }
  const auto what = "cannot read configs of topic '" + options.name + "'";
  std::int16_t error = 0;
  const auto configs = read_configs(*broker, options.name, error);
  if (!configs) {
    return fail(what, *broker, configs.error());
  }
  if (error != 0) {
    return refused(what, error);
  }
  json::array told;
  Table table{{"config", "value", "from"}};
  for (const auto& config : *configs) {
    told.push_back(to_json(config));
    table.add({config.name, config.value.value_or(""), config.differs ? "this topic" : "the broker"});
  }
  if (options.server.json) {
    print_json(told);
  } else if (changes) {
    for (const auto& [name, value] : split_pairs(options.configs)) {
      print_line("set " + name + "=" + value);
    }
    for (const auto& name : options.unset) {
      print_line("unset " + name);
    }
  } else {
    table.print();
  }
  return kDone;
}

}  // namespace

void add_topic(Commands& commands) {
  const auto options = std::make_shared<TopicOptions>();
  auto* topic = commands.app.add_subcommand("topic", "List, create, describe, delete, configure and trim topics");
  topic->require_subcommand(1);
  auto* listing = add_subcommand(commands, *topic, "list", "Names and partition counts of all topics", options, list);
  listing->add_flag("--internal", options->internal, "Topics that the broker keeps for itself too");
  auto* creation = add_subcommand(commands, *topic, "create", "Create a topic", options, create);
  creation->add_option("NAME", options->name, "The new topic")->required();
  creation->add_option("--partitions", options->partitions, "How many (default: num.partitions of the broker)")
      ->check(whole_number(1, 1'000'000));
  add_pairs(*creation, "--config", options->configs, "A config of the topic; may be repeated");
  creation->add_flag("--if-not-exists", options->if_not_exists, "Say so and end with 0 when there is such a topic");
  auto* description =
      add_subcommand(commands, *topic, "describe", "Partitions with leader and offsets, and configs set on the topic",
                     options, describe);
  description->add_option("NAME", options->name, "The topic")->required();
  auto* deletion = add_subcommand(commands, *topic, "delete", "Delete topics with all their records, without asking",
                                  options, remove);
  deletion->add_option("NAME", options->names, "The topics")->required();
  auto* configs =
      add_subcommand(commands, *topic, "config", "Show all configs of a topic, or change some", options, config);
  configs->add_option("NAME", options->name, "The topic")->required();
  add_pairs(*configs, "--set", options->configs, "Set a config; may be repeated");
  add_list(*configs, "--unset", options->unset,
           "Take a config's own value away, so that the broker's counts; may be repeated");
  add_topic_trim(commands, *topic);
}

}  // namespace weir::cli
