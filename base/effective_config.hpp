// EffectiveConfig: the one owner of what this broker is configured with, which is the static Config and what was set
// while it runs. The controller changes it, before it publishes the image that has the change; any thread takes a
// snapshot, which never changes.
#pragma once

#include <memory>
#include <mutex>

#include "base/config.hpp"

namespace weir {

class EffectiveConfig {
 public:
  explicit EffectiveConfig(Config fixed) : fixed_(std::move(fixed)), current_(std::make_shared<const Config>(fixed_)) {}

  // As the config file and the command line have it: what can only change with a restart is read from here.
  [[nodiscard]] const Config& fixed() const { return fixed_; }
  [[nodiscard]] std::shared_ptr<const Config> current() const {
    const std::lock_guard lock{mutex_};
    return current_;
  }
  // One thread: the controller's.
  void set_dynamic(const DynamicConfigs& for_all, const DynamicConfigs& for_this) {
    auto next = std::make_shared<const Config>(fixed_.with_dynamic(for_all, for_this));
    const std::lock_guard lock{mutex_};
    current_ = std::move(next);
  }

 private:
  const Config fixed_;
  mutable std::mutex mutex_;  // held for one pointer copy
  std::shared_ptr<const Config> current_;
};

}  // namespace weir
