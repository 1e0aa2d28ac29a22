# weir_gen: the C++ of all messages, made from protocol/schemas by tools/gen_messages, and the runtime it needs.
# weir_gen_test: the registry of all messages by name, for tests and fuzz targets only.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(WEIR_GENERATOR ${CMAKE_SOURCE_DIR}/tools/gen_messages/gen_messages.py)
file(GLOB WEIR_GENERATOR_PARTS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/gen_messages/*.py)
file(GLOB_RECURSE WEIR_SCHEMAS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/protocol/schemas/*.msg)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${WEIR_GENERATOR_PARTS} ${WEIR_SCHEMAS})

execute_process(COMMAND ${Python3_EXECUTABLE} -B ${WEIR_GENERATOR} ${CMAKE_SOURCE_DIR}/protocol/schemas ${WEIR_GEN_DIR} --list
  OUTPUT_VARIABLE WEIR_GEN_LIST OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" WEIR_GEN_LIST "${WEIR_GEN_LIST}")
foreach(line ${WEIR_GEN_LIST})
  if(line MATCHES "^library (.*)$")
    list(APPEND WEIR_GEN_SOURCES ${CMAKE_MATCH_1})
  elseif(line MATCHES "^test (.*)$")
    list(APPEND WEIR_GEN_TEST_SOURCES ${CMAKE_MATCH_1})
  endif()
endforeach()
add_custom_command(OUTPUT ${WEIR_GEN_SOURCES} ${WEIR_GEN_TEST_SOURCES}
  COMMAND ${Python3_EXECUTABLE} -B ${WEIR_GENERATOR} ${CMAKE_SOURCE_DIR}/protocol/schemas ${WEIR_GEN_DIR}
  DEPENDS ${WEIR_GENERATOR_PARTS} ${WEIR_SCHEMAS} COMMENT "Making the protocol messages" VERBATIM)
add_custom_target(weir_generate DEPENDS ${WEIR_GEN_SOURCES} ${WEIR_GEN_TEST_SOURCES})

# The runtime is compiled here and not in weir_protocol, which builds upon both.
set(WEIR_GEN_RUNTIME protocol/reader.cpp protocol/writer.cpp protocol/log_line.cpp)
list(TRANSFORM WEIR_GEN_RUNTIME PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE WEIR_GEN_RUNTIME_PATHS)
add_library(weir_gen STATIC ${WEIR_GEN_SOURCES} ${WEIR_GEN_RUNTIME_PATHS})
target_include_directories(weir_gen PUBLIC ${WEIR_GEN_DIR} ${CMAKE_SOURCE_DIR})
target_link_libraries(weir_gen PUBLIC weir_base PRIVATE weir_flags)
set_target_properties(weir_gen PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
add_dependencies(weir_gen weir_generate)

add_library(weir_gen_test STATIC EXCLUDE_FROM_ALL ${WEIR_GEN_TEST_SOURCES})
target_link_libraries(weir_gen_test PUBLIC weir_gen PRIVATE weir_flags)
add_dependencies(weir_gen_test weir_generate)
if(WEIR_SANITIZE)
  # Instrumented, these large functions take the optimizer minutes each; the sanitizers see the same without it.
  target_compile_options(weir_gen PRIVATE -O0)
  target_compile_options(weir_gen_test PRIVATE -O0)
endif()
if(WEIR_PCH)
  target_precompile_headers(weir_gen PRIVATE ${CMAKE_SOURCE_DIR}/base/pch.hpp)
  target_precompile_headers(weir_gen_test PRIVATE ${CMAKE_SOURCE_DIR}/base/pch.hpp)
endif()

add_test(NAME gen_messages COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/tools/gen_messages/test_gen_messages.py)
