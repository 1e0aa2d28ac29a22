#include "base/bytes.hpp"

namespace weir {

std::vector<std::byte> BufferChain::flatten() const {
  std::vector<std::byte> all;
  all.reserve(size_);
  for (const auto& piece : pieces_) {
    const auto* memory = std::get_if<SharedBytes>(&piece);
    WEIR_CHECK(memory != nullptr);
    all.insert(all.end(), memory->view().begin(), memory->view().end());
  }
  return all;
}

}  // namespace weir
