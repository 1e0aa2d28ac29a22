// `weir`: one binary, one subcommand a file.
#include <cstdio>

#include "base/out_of_memory.hpp"
#include "base/standard_streams.hpp"
#include "tools/cli/command_line.hpp"
#include "tools/cli/common.hpp"

int main(int argc, char** argv) {
  weir::end_when_out_of_memory();
  weir::keep_standard_streams_apart();
  weir::cli::CommandLine line;
  const auto parsed = line.parse(argc, argv);
  if (!parsed.fault.empty()) {
    return weir::cli::fail(parsed.fault + "; see `" + parsed.see + " --help`", weir::cli::kBadUsage);
  }
  if (!parsed.action) {
    std::fputs(parsed.text.c_str(), stdout);
    return weir::cli::end_of_output(weir::cli::kDone);
  }
  return weir::cli::end_of_output(parsed.action());
}
