// A text as one word of a POSIX shell: as it is where that is safe, else in quotes. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace weir::cli {

std::string shell_word(std::string_view text);

}  // namespace weir::cli
