add_library(weir_flags INTERFACE)
target_compile_options(weir_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  -Wcast-align -Woverloaded-virtual -Wimplicit-fallthrough -Wextra-semi -Wunused-result
  -Wno-missing-field-initializers  # designated initializers name what differs from the default
  -fno-omit-frame-pointer -fstack-protector-strong)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # not -Wuseless-cast: it fires on generic casts in templates
  target_compile_options(weir_flags INTERFACE -Wduplicated-cond -Wlogical-op)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")  # the sorts of libstdc++ 12 call what it calls deprecated itself
  target_compile_options(weir_flags INTERFACE -Wno-deprecated-declarations)
endif()
if(WEIR_WERROR)
  target_compile_options(weir_flags INTERFACE -Werror)
endif()
if(WEIR_SANITIZE STREQUAL "thread")
  # GCC and clang TSan do not model stand-alone fences; asio then relies on its own locks, which TSan does see.
  target_compile_definitions(weir_flags INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
endif()
if(WEIR_SANITIZE)
  target_compile_options(weir_flags INTERFACE -fsanitize=${WEIR_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(weir_flags INTERFACE -fsanitize=${WEIR_SANITIZE})
endif()
if(WEIR_FUZZ)  # in all of our code: libFuzzer steers by what it covers
  target_compile_options(weir_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(WEIR_COVERAGE)
  target_compile_options(weir_flags INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(weir_flags INTERFACE --coverage)
endif()
