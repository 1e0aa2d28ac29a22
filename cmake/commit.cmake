# Writes OUT, a header with the commit of SOURCE, unless it says the same already. Run with each build; without git or
# outside a checkout the commit is empty.
find_program(GIT git)
set(commit "")
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#pragma once\n#include <string_view>\nnamespace weir::cli {\ninline constexpr std::string_view kCommit = \"${commit}\";\n}\n" @ONLY)
