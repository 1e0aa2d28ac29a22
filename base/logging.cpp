#include "base/logging.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>

#include "base/check.hpp"

namespace weir {
namespace {

struct Named {
  std::string_view name;   // of mq.log.level
  std::string_view shown;  // in a line, all of one width
  spdlog::level::level_enum level;
};
constexpr std::array kLevels{Named{"trace", "TRACE", spdlog::level::trace},
                             Named{"debug", "DEBUG", spdlog::level::debug}, Named{"info", "INFO ", spdlog::level::info},
                             Named{"warn", "WARN ", spdlog::level::warn}, Named{"error", "ERROR", spdlog::level::err}};

const Named& named(LogLevel level) {
  return kLevels[static_cast<std::size_t>(level)];
}

spdlog::logger& logger() {
  static spdlog::logger the_logger = [] {
    spdlog::logger made{"weir", std::make_shared<spdlog::sinks::stderr_sink_mt>()};
    made.set_level(spdlog::level::trace);  // ours decides, before the text is made
    made.set_pattern("%Y-%m-%d %H:%M:%S.%e %v");
    made.flush_on(spdlog::level::trace);
    return made;
  }();
  return the_logger;
}

std::atomic<LogCapture*> capture{nullptr};

}  // namespace

void set_log_level(LogLevel level) {
  log_detail::least.store(level, std::memory_order_relaxed);
}

bool set_log_level(std::string_view name) {
  const auto found = std::ranges::find(kLevels, name, &Named::name);
  if (found == kLevels.end()) {
    return false;
  }
  set_log_level(static_cast<LogLevel>(found - kLevels.begin()));
  return true;
}

std::string printable(std::string_view text) {
  constexpr unsigned char kDelete = 0x7f;
  constexpr unsigned char kSecondControls = 0xc2;  // in UTF-8 U+0080 to U+009F are this and 0x80 to 0x9f
  std::string out;
  out.reserve(text.size());
  const auto escape = [&out](unsigned char c) { out += fmt::format("\\x{:02x}", c); };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    const auto next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0U;
    if (c < ' ' || c == kDelete) {
      escape(c);
    } else if (c == kSecondControls && next >= 0x80 && next < 0xa0) {
      escape(static_cast<unsigned char>(next));
      ++at;
    } else {
      out.push_back(text[at]);
    }
  }
  return out;
}

void log_detail::write(LogLevel level, std::string_view text) {
  auto line = std::string(named(level).shown) + " " + printable(text);
  if (auto* keeper = capture.load(std::memory_order_acquire)) {
    const std::lock_guard guard{keeper->mutex_};
    keeper->lines_.push_back(std::move(line));
    return;
  }
  logger().log(named(level).level, spdlog::string_view_t{line.data(), line.size()});
}

LogCapture::LogCapture() {
  WEIR_CHECK(capture.exchange(this, std::memory_order_acq_rel) == nullptr);
}

LogCapture::~LogCapture() {
  capture.store(nullptr, std::memory_order_release);
}

std::vector<std::string> LogCapture::lines() const {
  const std::lock_guard guard{mutex_};
  return lines_;
}

}  // namespace weir
