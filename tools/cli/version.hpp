// "0.1.0 (commit 0123456789ab)"; "and changes" behind it where the source differed from that commit. Only the version
// where it was built without git. Any thread.
#pragma once

#include <string>

namespace weir::cli {

std::string version_text();

}  // namespace weir::cli
