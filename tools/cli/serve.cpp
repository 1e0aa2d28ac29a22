// `weir serve`: the broker in the foreground, on real threads, sockets and disk, until SIGTERM or SIGINT.
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <future>
#include <system_error>
#include <thread>

#include "base/logging.hpp"
#include "base/machine_memory.hpp"
#include "base/properties.hpp"
#include "base/real_runtime.hpp"
#include "broker/broker.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/serve_signals.hpp"
#include "tools/cli/shell_word.hpp"

namespace weir::cli {
namespace {

struct ServeOptions {
  std::string data;  // empty: as the config says
  std::string listen;
  std::string config_file;
  std::vector<std::string> settings;
};

// Tells restarts of the machine apart; the same text until the next boot.
Uuid boot_id() {
  std::ifstream file{"/proc/sys/kernel/random/boot_id"};
  std::string text;
  std::getline(file, text);
  std::erase(text, '-');
  Uuid id;
  for (std::size_t i = 0; i < id.bytes.size() && 2 * i + 1 < text.size(); ++i) {
    id.bytes[i] = static_cast<std::byte>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  }
  return id;
}

int fail(const std::string& why, int code = kFailed) {
  std::fprintf(stderr, "weir: %s\n", printable(why).c_str());
  return code;
}

// All of it; a pipe is fine. On failure `problem` says why.
std::string read_config_file(const std::string& path, std::string& problem) {
  constexpr std::size_t kSizeMax = 4 << 20;
  std::ifstream file{path, std::ios::binary};
  std::string text;
  std::array<char, 4096> piece;
  while (file && text.size() <= kSizeMax) {
    file.read(piece.data(), piece.size());  // of a folder it sets bad()
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof() && text.size() <= kSizeMax) {
    problem = "--config: cannot read " + path + ": " + std::generic_category().message(errno);
  } else if (text.size() > kSizeMax) {
    problem = "--config: " + path + " is no configuration: it is longer than 4 MiB";
  }
  return text;
}

// The file first, then --set, then the options with names of their own: later ones win.
std::vector<ConfigInput> gather_inputs(const ServeOptions& options, std::string& problem) {
  std::vector<ConfigInput> inputs;
  if (!options.config_file.empty()) {
    const auto text = read_config_file(options.config_file, problem);
    if (!problem.empty()) {
      return inputs;
    }
    auto properties = parse_properties(text);
    if (!properties) {
      problem = "--config: " + options.config_file + " line " + std::to_string(properties.error().detail) +
                ": broken \\u escape";
      return inputs;
    }
    for (auto& property : *properties) {
      inputs.push_back({std::move(property.name), std::move(property.value), ConfigInput::From::file});
    }
  }
  for (const auto& setting : options.settings) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos) {
      problem = "--set wants NAME=VALUE, not '" + setting + "'";
      return inputs;
    }
    inputs.push_back({setting.substr(0, equals), setting.substr(equals + 1)});
  }
  if (!options.listen.empty()) {
    if (!endpoint_from_string(options.listen)) {
      problem = "--listen wants HOST:PORT, not '" + options.listen + "'";
    }
    inputs.push_back({"listeners", "PLAINTEXT://" + options.listen});
  }
  return inputs;
}

// This binary as it can be called from any folder, for lines that are pasted into a shell.
std::string own_command() {
  std::array<char, 4096> path{};
  const auto size = ::readlink("/proc/self/exe", path.data(), path.size());
  if (size <= 0 || static_cast<std::size_t>(size) == path.size()) {
    return "weir";
  }
  return shell_word({path.data(), static_cast<std::size_t>(size)});
}

void greet(const broker::Broker& broker, const std::string& data) {
  WEIR_LOG(info, "Weir {} starting, cluster {}, node {}", kVersion, broker.identity().cluster_id,
           broker.identity().node_id);
  WEIR_LOG(info, "data folder {}", data);
  for (const auto& at : broker.bound()) {
    WEIR_LOG(info, "listening on {}", to_string(at));
  }
  if (broker.http_bound()) {
    const auto http = to_string(*broker.http_bound());
    WEIR_LOG(info, "http://{}/metrics and http://{}/healthz", http, http);
  }
  if (broker.bound().empty()) {
    return;
  }
  const auto at = to_string(broker.bound().front());
  const auto weir = own_command();
  WEIR_LOG(info, "produce: echo hello | {} produce --to {} greetings", weir, at);
  WEIR_LOG(info, "consume: {} consume --from {} greetings --beginning", weir, at);
}

void ignore_signals_of_writes() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond ulimit -f fails with EFBIG then
}

// Frames of a megabyte come and go all the time. By default the allocator gives their pages back to the kernel with
// each one, and the kernel clears new ones for the next: a sixth of the work of taking large batches.
void keep_freed_memory() {
  constexpr int kMapFrom = 8 << 20;
  constexpr int kKeepMax = 32 << 20;  // at the end of each arena
  ::mallopt(M_MMAP_THRESHOLD, kMapFrom);
  ::mallopt(M_TRIM_THRESHOLD, kKeepMax);
}

// Many systems give a process 1024 descriptors to begin with and let it ask for more; a connection is one of them.
void raise_descriptor_limit() {
  constexpr rlim_t kEnough = 4096;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return;
  }
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max < kEnough) {
    WEIR_LOG(warn, "at most {} file descriptors may be open (ulimit -n): connections beyond that will be closed",
             limit.rlim_max);
  }
}

// A stop may hang on a disk that does not answer. Then it says what it waits for; StopSignals hears the second signal.
template <class WaitsFor>
void wait_until(const std::future<void>& done, WaitsFor waits_for) {
  constexpr std::chrono::seconds kBetweenLines{5};
  while (done.wait_for(kBetweenLines) != std::future_status::ready) {
    WEIR_LOG(warn, "still stopping, waits for {}; a second SIGTERM or Ctrl-C ends the process at once", waits_for());
  }
}

void stop(broker::Broker& broker, const Runtime& runtime, RealRuntime& real) {
  std::promise<void> stopped;
  runtime.io.front()->post([&] { broker.stop([&stopped] { stopped.set_value(); }); });
  wait_until(stopped.get_future(), [&] { return broker.waits_for(); });
  wait_until(std::async(std::launch::async, [&real] { real.stop(); }),
             [] { return "a thread that reads or writes a file"; });
}

int serve(const ServeOptions& options) {
  std::string problem;
  const auto inputs = gather_inputs(options, problem);
  if (!problem.empty()) {
    return fail(problem, kBadUsage);
  }
  auto loaded = load_config(inputs);
  for (const auto& warning : loaded.warnings) {
    WEIR_LOG(warn, "{}", warning);
  }
  for (const auto& error : loaded.errors) {
    fail(error);
  }
  if (!loaded.errors.empty()) {
    return kBadUsage;
  }
  if (const auto warning = memory_warning(loaded.config, memory_bound())) {
    WEIR_LOG(warn, "{}", *warning);
  }
  const auto data = options.data.empty() ? loaded.config.data_folder() : options.data;
  keep_freed_memory();
  raise_descriptor_limit();
  ignore_signals_of_writes();
  StopSignals signals;
  RealRuntime real{static_cast<std::size_t>(loaded.config.num_network_threads),
                   {.send_bytes = loaded.config.socket_send_buffer_bytes,
                    .receive_bytes = loaded.config.socket_receive_buffer_bytes}};
  auto runtime = real.runtime();
  std::string why;
  auto broker = broker::Broker::start(std::move(loaded.config), data, boot_id(), runtime, why);
  if (!broker) {
    real.stop();
    return fail(why);
  }
  signals.started();
  greet(*broker, data);
  WEIR_LOG(info, "stopping on {}", name_of_signal(signals.wait_for_first()));
  stop(*broker, runtime, real);
  broker.reset();
  WEIR_LOG(info, "stopped");
  return kDone;
}

}  // namespace

void add_serve(Commands& commands) {
  const auto options = std::make_shared<ServeOptions>();
  auto* command = commands.app.add_subcommand("serve", "Run a broker in the foreground until SIGTERM or Ctrl-C");
  command->add_option("--data", options->data,
                      "Folder that holds everything the broker keeps (default: log.dirs of the config, else ./data)");
  command->add_option("--listen", options->listen, "HOST:PORT to serve clients on (port 0: any free one)");
  command->add_option("--config", options->config_file, "A server.properties file with Kafka's names and mq.* ones");
  command->add_option("--set", options->settings, "NAME=VALUE, over what the file says; may be repeated");
  command->callback([&commands, options] { commands.chosen = [options] { return serve(*options); }; });
}

}  // namespace weir::cli
