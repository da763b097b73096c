# Fuzz targets: src/MODULE/.../X_fuzz.cpp is the libFuzzer program fuzz_X, linked with its module;
# tests/fuzz/X_fuzz.cpp is one that needs several modules and is linked with all of them.
#
# Seeds stand in tests/fuzz/corpus/X/. Every build with tests replays them, with a few changes, by one
# program (fuzz-corpus.X). The search needs clang, hence another build:
#   PARTITA_FUZZ=ON       (preset fuzz) makes the programs; `fuzz` builds them all
#   PARTITA_FUZZ_DIR=DIR  (scripts/test --fuzz) lists the programs of that build among this build's tests
# What a search finds stays in DIR: new inputs in DIR/corpus/X/, crashes in DIR/crashes/.
file(GLOB_RECURSE fuzz_sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/src/*_fuzz.cpp ${PROJECT_SOURCE_DIR}/tests/fuzz/*_fuzz.cpp)

# The libraries of the module that `source` belongs to, into `result`.
function(partita_fuzz_links source result)
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
  string(REGEX MATCH "^src/([^/]+)/" in_module ${path})
  set(links "")
  if(in_module AND TARGET partita_${CMAKE_MATCH_1})
    set(links partita_${CMAKE_MATCH_1})
  else()
    get_property(targets DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
      get_target_property(type ${target} TYPE)
      if(target MATCHES "^partita_" AND type MATCHES "^(STATIC|INTERFACE)_LIBRARY$")
        list(APPEND links ${target})
      endif()
    endforeach()
  endif()
  set(${result} ${links} PARENT_SCOPE)
endfunction()

function(partita_fuzz_program source)
  get_filename_component(stem ${source} NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" name ${stem})
  partita_fuzz_links(${source} links)
  add_executable(fuzz_${name} ${source})
  target_link_libraries(fuzz_${name} PRIVATE ${links})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  add_dependencies(fuzz fuzz_${name})
endfunction()

function(partita_fuzz_test source)
  get_filename_component(stem ${source} NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" name ${stem})
  set(found ${PARTITA_FUZZ_DIR}/corpus/${name})
  file(MAKE_DIRECTORY ${found} ${PARTITA_FUZZ_DIR}/crashes)
  # libFuzzer writes to the first folder only, so the seeds in the repository stay as they are.
  set(seeds ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
  if(NOT IS_DIRECTORY ${seeds})
    set(seeds "")
  endif()
  if(PARTITA_FUZZ_SECONDS EQUAL 0)  # libFuzzer reads 0 seconds as for ever
    set(length -runs=0)
  else()
    set(length -max_total_time=${PARTITA_FUZZ_SECONDS})
  endif()
  add_test(NAME fuzz.${name}
    # The time limit is wall-clock time: five seconds, so that a busy machine is not taken for a hang.
    COMMAND ${PARTITA_FUZZ_DIR}/bin/fuzz_${name} ${length} -timeout=5 -rss_limit_mb=512
      -max_len=65536 -print_final_stats=1 -artifact_prefix=${PARTITA_FUZZ_DIR}/crashes/${name}-
      ${found} ${seeds})
  math(EXPR limit "${PARTITA_FUZZ_SECONDS} + 300")
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT ${limit}
    # Freed memory that AddressSanitizer holds back counts towards the 512 MiB.
    ENVIRONMENT "ASAN_OPTIONS=quarantine_size_mb=32")
endfunction()

# One program with all targets, each under a name of its own.
function(partita_fuzz_replay)
  set(declarations "")
  set(rows "")
  set(links "")
  foreach(source IN LISTS fuzz_sources)
    get_filename_component(stem ${source} NAME_WE)
    string(REGEX REPLACE "_fuzz$" "" name ${stem})
    set_source_files_properties(${source} PROPERTIES
      COMPILE_DEFINITIONS LLVMFuzzerTestOneInput=partita_fuzz_${name})
    string(APPEND declarations "extern \"C\" int partita_fuzz_${name}(const std::uint8_t*, std::size_t);\n")
    string(APPEND rows "    {\"${name}\", partita_fuzz_${name}},\n")
    partita_fuzz_links(${source} needed)
    list(APPEND links ${needed})
    set(seeds ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
    add_test(NAME fuzz-corpus.${name} COMMAND fuzz_replay ${name} ${seeds})
  endforeach()
  list(REMOVE_DUPLICATES links)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/fuzz_targets.cpp @ONLY CONTENT [[
#include "fuzz/replay.h"

@declarations@
std::span<const FuzzTarget> fuzz_targets() {
  static const FuzzTarget targets[] = {
@rows@  };
  return targets;
}
]])
  add_executable(fuzz_replay ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.cpp
    ${PROJECT_BINARY_DIR}/fuzz_targets.cpp ${fuzz_sources})
  target_include_directories(fuzz_replay PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(fuzz_replay PRIVATE ${links})
  target_compile_options(fuzz_replay PRIVATE -O1)
endfunction()

if(PARTITA_TESTS)
  partita_fuzz_replay()
endif()
if(PARTITA_FUZZ)
  target_compile_options(partita_options INTERFACE -fsanitize=fuzzer-no-link
    # clang counts signed-to-unsigned among -Wconversion and g++ does not; the product's warnings are
    # g++'s, and this build is here to run.
    -Wno-sign-conversion -Wno-error)
  target_compile_definitions(partita_options INTERFACE _GLIBCXX_ASSERTIONS)
  add_custom_target(fuzz)
  foreach(source IN LISTS fuzz_sources)
    partita_fuzz_program(${source})
  endforeach()
elseif(PARTITA_FUZZ_DIR AND PARTITA_TESTS)
  set(PARTITA_FUZZ_SECONDS 5 CACHE STRING "How long ctest lets each fuzz target search")
  foreach(source IN LISTS fuzz_sources)
    partita_fuzz_test(${source})
  endforeach()
endif()
