// Little-endian cursor over bytes and appender to a vector: how the log's own files are written and read. The reader
// never leaves its bytes: past their end it gives zeros and remembers that it failed. Values, any thread.
#pragma once

#include <vector>

#include "base/bytes.hpp"
#include "base/ids.hpp"

namespace weir::log {

template <class Int>
void put(std::vector<std::byte>& out, Int value) {
  const auto at = out.size();
  out.resize(at + sizeof(Int));
  store_le<Int>(out, at, value);
}
inline void put(std::vector<std::byte>& out, Bytes bytes) {
  const auto at = out.size();
  out.resize(at + bytes.size());  // not insert(): g++ 12 warns falsely of its copy at -O2
  std::copy(bytes.begin(), bytes.end(), out.begin() + static_cast<std::ptrdiff_t>(at));
}
inline void put(std::vector<std::byte>& out, const Uuid& id) {
  put(out, Bytes{id.bytes});
}

class LittleReader {
 public:
  explicit LittleReader(Bytes bytes) : rest_(bytes) {}
  template <class Int>
  Int take() {
    const auto part = take_bytes(sizeof(Int));
    return part.size() == sizeof(Int) ? load_le<Int>(part, 0) : Int{};
  }
  Uuid take_uuid() {
    Uuid id;
    const auto part = take_bytes(id.bytes.size());
    std::copy(part.begin(), part.end(), id.bytes.begin());
    return id;
  }
  Bytes take_bytes(std::size_t count) {
    if (count > rest_.size()) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    const auto part = rest_.first(count);
    rest_ = rest_.subspan(count);
    return part;
  }
  [[nodiscard]] Bytes rest() const { return rest_; }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool at_end() const { return !failed_ && rest_.empty(); }

 private:
  Bytes rest_;
  bool failed_ = false;
};

}  // namespace weir::log
