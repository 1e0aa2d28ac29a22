// `limit`: receives what `loadgen` produces, and does the least with it (sink.hpp). Prints its port, serves a number of
// connections, prints its CPU seconds while they lasted, ends.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <thread>
#include <vector>

#include "tools/limit/sink.hpp"

namespace {

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

int listen_on_loopback(std::uint16_t& port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (listener < 0 || ::bind(listener, plain, size) != 0 || ::listen(listener, 64) != 0 ||
      ::getsockname(listener, plain, &size) != 0) {
    return -1;
  }
  port = ntohs(address.sin_port);
  return listener;
}

}  // namespace

int main(int argc, char** argv) {
  std::string path;
  int connections = 6;
  std::int64_t file_mib = 1024;
  CLI::App app{"The least that a broker must do", "limit"};
  app.add_option("--file", path, "where to write; made, filled, and left")->required();
  app.add_option("--file-mib", file_mib)->check(CLI::Range(16, 65'536));
  app.add_option("--connections", connections, "how many are served before it ends")->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  try {
    weir::limit::Sink sink{path, file_mib << 20};
    std::uint16_t port = 0;
    const int listener = listen_on_loopback(port);
    if (listener < 0) {
      std::perror("limit: cannot listen");
      return 1;
    }
    std::printf("{\"port\": %u}\n", static_cast<unsigned>(port));
    std::fflush(stdout);
    const auto before = cpu_seconds();
    std::vector<std::thread> threads;
    for (int i = 0; i < connections; ++i) {
      const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      const int on = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      threads.emplace_back([&sink, socket] { sink.serve(socket); });
    }
    for (auto& thread : threads) {
      thread.join();
    }
    ::close(listener);
    std::printf("{\"cpu_s\": %.3f}\n", cpu_seconds() - before);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "limit: %s\n", failure.what());
    return 1;
  }
  return 0;
}
