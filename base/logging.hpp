// WEIR_LOG(info, "listening on {}", address): one line to stderr, "2026-11-29 15:31:11.123 INFO  listening on ...". The
// text is made only if the level is on, and made printable. Any thread; lines of several threads never mix.
#pragma once

#include <fmt/core.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

enum class LogLevel : std::uint8_t { trace, debug, info, warn, error };

namespace log_detail {
inline std::atomic<LogLevel> least{LogLevel::info};
void write(LogLevel level, std::string_view text);
}  // namespace log_detail

inline bool log_enabled(LogLevel level) {
  return level >= log_detail::least.load(std::memory_order_relaxed);
}
inline LogLevel log_level() {
  return log_detail::least.load(std::memory_order_relaxed);
}
void set_log_level(LogLevel level);
// For a terminal and for one line: control characters, which may come from a file or from the network, as \x1b.
std::string printable(std::string_view text);
// False for a name that mq.log.level does not allow.
bool set_log_level(std::string_view name);

// While it lives, lines are kept here ("INFO  text") instead of going to stderr. One at a time; for tests.
class LogCapture {
 public:
  LogCapture();
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  friend void log_detail::write(LogLevel level, std::string_view text);
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace weir

#define WEIR_LOG(level, ...)                                                        \
  do {                                                                              \
    if (::weir::log_enabled(::weir::LogLevel::level)) {                             \
      ::weir::log_detail::write(::weir::LogLevel::level, fmt::format(__VA_ARGS__)); \
    }                                                                               \
  } while (false)
