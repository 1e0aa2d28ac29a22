// Sink: the least that a broker must do with a produced batch: receive it from a socket, check its CRC32C, write it
// past the page cache, answer. What it costs is the limit that Weir's cost is measured against
// (docs/LOG_BENCHMARKS.md).
//
// One thread a connection. All write into one file that was written before, each frame at a place of its own, rounded
// up to blocks; at its end the file begins again. Nothing is synced, nothing can be read back.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace weir::limit {

class Sink {
 public:
  // Makes the file and fills it with zeros. Throws std::system_error.
  Sink(const std::string& path, std::int64_t file_bytes);
  ~Sink();
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  // Takes Produce requests (version 9) from a connected socket until it ends, and closes it. Any thread.
  void serve(int socket);

 private:
  [[nodiscard]] bool take(std::byte* memory, std::size_t size);
  const std::int64_t file_bytes_;
  int file_ = -1;
  std::atomic<std::int64_t> next_{0};
};

}  // namespace weir::limit
