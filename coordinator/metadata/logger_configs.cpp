#include "coordinator/metadata/logger_configs.hpp"

#include <algorithm>
#include <array>

#include "base/logging.hpp"
#include "coordinator/metadata/config_operation.hpp"
#include "coordinator/metadata/config_target.hpp"

namespace weir::metadata {

using protocol::ErrorCode;

namespace {

constexpr std::string_view kRoot = "root";

struct NamedLevel {
  std::string_view name;
  LogLevel level;
};
// Ours has no level above "error", so Kafka's highest means the same; it is told as ERROR.
constexpr std::array kLevels{NamedLevel{"TRACE", LogLevel::trace}, NamedLevel{"DEBUG", LogLevel::debug},
                             NamedLevel{"INFO", LogLevel::info},   NamedLevel{"WARN", LogLevel::warn},
                             NamedLevel{"ERROR", LogLevel::error}, NamedLevel{"FATAL", LogLevel::error}};

using AlterableConfig = protocol::IncrementalAlterConfigsRequest::AlterableConfig;

std::optional<Refusal> refuse_one(const AlterableConfig& config) {
  const auto name = config.name.str();
  if (config.name.view() != kRoot) {
    return Refusal{ErrorCode::invalid_config, "There is no logger " + name + "; this broker has one, root."};
  }
  const auto operation = static_cast<ConfigOperation>(config.config_operation);
  if (operation == ConfigOperation::remove) {
    return Refusal{ErrorCode::invalid_request, "The root logger must have a level."};
  }
  if (operation != ConfigOperation::set || !config.value) {
    return Refusal{ErrorCode::invalid_request, "The level of a logger can only be set, to a value."};
  }
  if (std::ranges::find(kLevels, config.value->view(), &NamedLevel::name) == kLevels.end()) {
    return Refusal{ErrorCode::invalid_config,
                   config.value->str() + " is no level; must be one of: TRACE, DEBUG, INFO, WARN, ERROR, FATAL."};
  }
  return std::nullopt;
}

}  // namespace

std::vector<DescribedConfig> describe_loggers() {
  const auto level = std::ranges::find(kLevels, log_level(), &NamedLevel::level);
  return {{.name = std::string{kRoot},
           .value = std::string{level->name},
           .source = ConfigSource::logger,
           .type = ConfigType::unknown,
           .read_only = false,
           .sensitive = false,
           .synonyms = {},
           .doc = {}}};
}

std::optional<Refusal> refuse_logger_change(
    const Identity& identity, const protocol::IncrementalAlterConfigsRequest::AlterConfigsResource& resource) {
  if (auto why = refuse_node(identity, resource.resource_name.view())) {
    return Refusal{ErrorCode::invalid_request, std::move(*why)};
  }
  for (const auto& config : resource.configs) {
    if (auto refusal = refuse_one(config)) {
      return refusal;
    }
  }
  return std::nullopt;
}

void set_logger_levels(const protocol::IncrementalAlterConfigsRequest& request,
                       const protocol::IncrementalAlterConfigsResponse& response) {
  for (std::size_t i = 0; i < request.resources.size(); ++i) {
    const auto& resource = request.resources[i];
    const bool refused = response.responses.at(i).error_code != 0;
    if (request.validate_only || refused || resource.resource_type != static_cast<int>(ResourceType::broker_logger)) {
      continue;
    }
    for (const auto& config : resource.configs) {
      const auto level = std::ranges::find(kLevels, config.value->view(), &NamedLevel::name);
      WEIR_LOG(info, "log level set to {}", level->name);
      set_log_level(level->level);
    }
  }
}

}  // namespace weir::metadata
