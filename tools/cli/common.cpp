#include "tools/cli/common.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "tools/cli/time_text.hpp"

namespace weir::cli {
namespace {

// The servers between the commas; nullopt if one is none.
std::optional<std::vector<Endpoint>> servers_from(std::string_view text) {
  std::vector<Endpoint> servers;
  for (;;) {
    const auto comma = std::min(text.find(','), text.size());
    const auto at = endpoint_from_string(std::string{text.substr(0, comma)});
    if (!at || at->port == 0) {
      return std::nullopt;
    }
    servers.push_back(*at);
    if (comma == text.size()) {
      return servers;
    }
    text.remove_prefix(comma + 1);
  }
}

std::string check_servers(const std::string& text) {
  return servers_from(text) ? std::string{} : "wants HOST:PORT, or several with commas between, not '" + text + "'";
}

std::string check_pair(const std::string& text) {
  const auto equals = text.find('=');
  return equals != std::string::npos && equals > 0 ? std::string{} : "wants NAME=VALUE, not '" + text + "'";
}

}  // namespace

void ServerOptions::add_to(CLI::App& command) {
  command
      .add_option("--server,--to,--from", server,
                  "HOST:PORT of a broker; of several with commas between the first that answers")
      ->capture_default_str()
      ->check(check_servers, "", "HOST:PORT");
  command.add_option("--timeout", timeout_seconds, "Seconds to wait for an answer")
      ->capture_default_str()
      ->check(seconds_between(0.1, 3600));
}

void ServerOptions::add_json(CLI::App& command) {
  command.add_flag("--json", json, "Print JSON instead of words");
}

std::unique_ptr<client::Blocking> ServerOptions::open() const {
  return std::make_unique<client::Blocking>(*servers_from(server), static_cast<Millis>(timeout_seconds * 1000));
}

CLI::Validator whole_number(std::int64_t min, std::int64_t max) {
  return CLI::Validator{
      [min, max](const std::string& text) {
        std::int64_t value = 0;
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (problem == std::errc{} && end == text.data() + text.size() && value >= min && value <= max) {
          return std::string{};
        }
        constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
        constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
        return "wants a whole number" + (min == kLeast ? "" : " from " + std::to_string(min)) +
               (max == kMost ? (min == kLeast ? "" : " on") : " to " + std::to_string(max)) + ", not '" + text + "'";
      },
      ""};
}

CLI::Validator seconds_between(double min, double max) {
  return CLI::Validator{[min, max](const std::string& text) {
                          double value = 0;
                          const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
                          const bool is_number = problem == std::errc{} && end == text.data() + text.size();
                          std::array<char, 80> range{};
                          std::snprintf(range.data(), range.size(), "wants seconds from %g to %g, not '", min, max);
                          return is_number && value >= min && value <= max ? std::string{} : range.data() + text + "'";
                        },
                        ""};
}

CLI::Validator moment() {
  return CLI::Validator{[](const std::string& text) {
                          return time_from_text(text)
                                     ? std::string{}
                                     : "wants a time as 2026-01-31T12:30 or in milliseconds, not '" + text + "'";
                        },
                        "TIME"};
}

CLI::Validator one_of(std::vector<std::string> words) {
  const auto all = CLI::detail::join(words, ", ");
  return CLI::Validator{[words = std::move(words), all](const std::string& text) {
                          return std::ranges::find(words, text) != words.end()
                                     ? std::string{}
                                     : "wants one of " + all + ", not '" + text + "'";
                        },
                        "{" + all + "}"};
}

CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& into,
                      const std::string& help) {
  return command.add_option(name, into, help)->expected(1)->take_all()->allow_extra_args(false);
}

CLI::Option* add_pairs(CLI::App& command, const std::string& name, std::vector<std::string>& into,
                       const std::string& help) {
  return add_list(command, name, into, help)->check(check_pair, "", "NAME=VALUE");
}

Pairs split_pairs(const std::vector<std::string>& texts) {
  Pairs pairs;
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    pairs.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return pairs;
}

int fail(const std::string& sentence, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "weir: %s\n", sentence.c_str());
  return code;
}

int fail(const std::string& what, const client::Blocking& to, const Error& error) {
  const auto at = to.address();
  switch (error.code) {
    case Errc::timed_out:
      return fail(what + ": the broker at " + at + " did not answer in time; is it one, or is --timeout too short?");
    case Errc::unsupported:
      return fail(what + ": the broker at " + at + " does not serve API key " + std::to_string(error.detail));
    case Errc::not_found: return fail(what + ": nobody knows the address of " + at + "; check --server");
    default:
      return fail(what + ": no broker answers at " + at + " (" + to_string(error) +
                  "); start one with `weir serve` or name another with --server");
  }
}

std::string name_of(std::int16_t code) {
  const auto known = protocol::error_code_from(code);
  return known ? std::string{protocol::to_string(*known)} : "error " + std::to_string(code);
}

std::string explain(std::int16_t code, const std::optional<protocol::Text>& text) {
  const auto known = protocol::error_code_from(code);
  if (!known) {
    return name_of(code);
  }
  return name_of(code) + ", " + (text && !text->empty() ? text->str() : std::string{protocol::error_text(*known)});
}

int refused(const std::string& what, std::int16_t code, const std::optional<protocol::Text>& text) {
  return fail(what + ": " + explain(code, text));
}

void print_line(std::string_view text) {
  std::printf("%.*s\n", static_cast<int>(text.size()), text.data());
}

void print_json(const json::value& value) {
  print_line(json::serialize(value));
}

int end_of_output(int code) {
  if (code != kDone) {
    return code;  // a command that failed has said why
  }
  errno = 0;
  const bool is_out = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (is_out) {
    return code;
  }
  // An earlier line may be what failed: its errno is gone then.
  return fail("cannot write to stdout" + (errno == 0 ? std::string{} : std::string{": "} + std::strerror(errno)));
}

Progress::Progress(const Clock& clock)
    : clock_(clock),
      start_ms_(clock.monotonic_ms()),
      next_ms_(start_ms_ + 1000),
      terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (line_stands_) {
    std::fputc('\n', stderr);
  }
}

bool Progress::due() {
  const auto now = clock_.monotonic_ms();
  if (now < next_ms_) {
    return false;
  }
  next_ms_ = now + 1000;
  return true;
}

void Progress::say(const std::string& text) {
  std::fprintf(stderr, terminal_ ? "\r\x1b[Kweir: %s" : "weir: %s\n", text.c_str());
  line_stands_ = terminal_;
}

double Progress::seconds() const {
  return static_cast<double>(clock_.monotonic_ms() - start_ms_) / 1000;
}

std::string size_of(std::int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits{"bytes", "KB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < kUnits.size(); ++unit) {
    value /= 1000;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, bytes == 1 ? "byte" : kUnits[unit]);
  return text.data();
}

namespace {

// Kafka's records are bytes; JSON is UTF-8. Overlong forms, surrogates and what is behind U+10FFFF are refused.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t more = lead < 0x80                   ? 0
                             : lead >= 0xc2 && lead < 0xe0 ? 1
                             : lead >= 0xe0 && lead < 0xf0 ? 2
                             : lead >= 0xf0 && lead < 0xf5 ? 3
                                                           : 4;
    if (more == 4 || i + more >= text.size()) {
      return false;
    }
    std::uint32_t code = more == 0 ? lead : lead & (0x3fU >> more);
    for (std::size_t k = 1; k <= more; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xc0U) != 0x80U) {
        return false;
      }
      code = (code << 6U) | (next & 0x3fU);
    }
    const bool overlong = (more == 2 && code < 0x800) || (more == 3 && code < 0x10000);
    if (overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
      return false;
    }
    i += more + 1;
  }
  return true;
}

std::string base64(Bytes bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const auto count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      group = (group << 8U) | (k < count ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= count ? kDigits[(group >> (18 - 6 * k)) & 0x3fU] : '=';
    }
  }
  return text;
}

}  // namespace

json::value text_json(const std::optional<Bytes>& bytes) {
  if (!bytes) {
    return nullptr;
  }
  const auto text = as_text(*bytes);
  if (is_utf8(text)) {
    return json::value(text);
  }
  return {{"base64", base64(*bytes)}};
}

void Table::print() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) {
        line.append(widths[i] - row[i].size() + 2, ' ');
      }
    }
    print_line(line);
  }
}

}  // namespace weir::cli
