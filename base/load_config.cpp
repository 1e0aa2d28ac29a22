// load_config(): inputs in their order, then what several keys decide together.
#include <algorithm>
#include <map>
#include <set>

#include "base/config.hpp"
#include "base/config_notes.hpp"
#include "base/connection_limits.hpp"

namespace weir {
namespace {
void append(std::vector<std::string>& into, std::vector<std::string> more) {
  into.insert(into.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}
}  // namespace

class ConfigBuilder {
 public:
  LoadedConfig build(std::span<const ConfigInput> inputs) {
    for (const auto& input : inputs) {
      take(input);
    }
    settle_node_id();
    settle_listeners();
    settle_data_folder();
    settle_memory();
    refuse_other_nonsense();
    refuse_placeholders();
    for (auto& [name, problem] : problems_) {
      error(std::move(problem));
    }
    auto notes = notes_on(config_, unknown_);
    append(loaded_.errors, std::move(notes.errors));
    append(loaded_.warnings, std::move(notes.warnings));
    return std::move(loaded_);
  }

 private:
  void error(std::string sentence) { loaded_.errors.push_back(std::move(sentence)); }

  void take(const ConfigInput& input) {
    const bool of_file = input.from == ConfigInput::From::file;
    if (find_dynamic_row(input.name).row == nullptr && of_file && !input.name.starts_with("mq.")) {
      if (seen_unknown_.insert(input.name).second) {
        unknown_.push_back(input.name);
      }
      return;
    }
    if (auto problem = config_.set(input.name, input.value)) {
      problems_[input.name] = std::move(*problem);
    } else {
      problems_.erase(input.name);
    }
  }

  // broker.id is the old name of node.id. Kafka has no default: clients see it as set.
  void settle_node_id() {
    const auto old_name = config_.set_value("broker.id");
    const auto new_name = config_.set_value("node.id");
    if (old_name && new_name && config_.value("broker.id") != config_.value("node.id")) {
      error("broker.id is " + *old_name + " and node.id is " + *new_name +
            "; they are two names of one thing, so take out broker.id, the old one");
    } else if (!new_name) {
      if (auto problem = config_.set("node.id", old_name.value_or("1"))) {
        error(std::move(*problem));
      }
    }
  }

  void settle_listeners() {
    const auto text = [this](std::string_view key) { return config_.value(key).value_or(""); };
    const auto bound = text("listeners");
    const auto protocols = text("listener.security.protocol.map");
    const auto controllers = text("controller.listener.names");
    const auto advertised = config_.set_value("advertised.listeners");
    auto read = read_listeners(
        {.listeners = bound, .advertised = advertised, .protocols = protocols, .controllers = controllers});
    config_.bound_ = std::move(read.bound);
    append(loaded_.errors, std::move(read.errors));
    append(loaded_.warnings, std::move(read.warnings));
  }

  void settle_data_folder() {
    const auto folders = split_list(config_.value("log.dirs").value_or(config_.value("log.dir").value_or("")));
    if (folders.size() == 1) {
      config_.data_folder_ = folders.front();
    } else {
      error("log.dirs must name exactly one folder");
    }
  }

  void settle_memory() {
    const auto largest = config_.socket_request_max_bytes;
    if (!config_.is_set("mq.request.memory.bytes") && config_.mq_request_memory_bytes < largest) {
      config_.set_default("mq.request.memory.bytes", largest);
    }
    if (config_.message_max_bytes > largest) {
      loaded_.warnings.push_back("message.max.bytes (" + std::to_string(config_.message_max_bytes) +
                                 ") is over socket.request.max.bytes (" + std::to_string(largest) +
                                 "): who sends a batch of that size is cut off");
    }
    if (config_.mq_request_memory_bytes < largest) {
      error("mq.request.memory.bytes (" + std::to_string(config_.mq_request_memory_bytes) +
            ") must be at least socket.request.max.bytes (" + std::to_string(largest) + ")");
    }
  }

  // A value that names a config provider is no value: Kafka asks the provider for it.
  void refuse_placeholders() {
    const auto providers = split_list(config_.value("config.providers").value_or(""));
    const auto asks = [&](const std::string& text) {
      return std::ranges::any_of(providers, [&](const std::string& provider) {
        return text.find("${" + provider + ":") != std::string::npos;
      });
    };
    for (const auto& name : config_.set_names()) {
      const auto value = config_.set_value(name).value_or("");
      const auto* row = find_dynamic_row(name).row;
      if (row != nullptr && row->handling != ConfigHandling::report && asks(value)) {
        problems_[name] = "Invalid value " + value + " for configuration " + name;
      }
    }
    for (auto& [name, problem] : problems_) {
      if (asks(problem)) {
        problem += "; this version has no config.providers, so write the value itself";
      }
    }
  }

  void refuse_other_nonsense() {
    if (!config_.mq_http_listen.empty() && !config_.http_endpoint()) {
      error("Invalid value " + config_.mq_http_listen +
            " for configuration mq.http.listen: must be HOST:PORT or empty");
    }
    if (config_.group_min_session_timeout_ms > config_.group_max_session_timeout_ms) {
      error("group.min.session.timeout.ms must not be over group.max.session.timeout.ms");
    }
    if (auto problem = refuse_connection_limits(config_)) {
      error(std::move(*problem));
    }
  }

  LoadedConfig loaded_;
  Config& config_ = loaded_.config;
  std::vector<std::string> unknown_;  // of the file, in its order
  std::set<std::string> seen_unknown_;
  std::map<std::string, std::string> problems_;  // of a key as it was given last
};

LoadedConfig load_config(std::span<const ConfigInput> inputs) {
  return ConfigBuilder{}.build(inputs);
}

}  // namespace weir
