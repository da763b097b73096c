# Precompiled headers, on request: what nearly every file includes is parsed once for each of three kinds
# of targets (libraries, the command line with its JSON, tests).
#
# A file must not rely on it: builds without it, which are the default, show a missing include.
option(PARTITA_PRECOMPILED "Precompile headers that most files include" OFF)

if(PARTITA_PRECOMPILED)
  # Through a precompiled header g++ 12 takes inlined code of the standard library for ours, and these
  # warnings are wrong there; the builds without it keep them.
  target_compile_options(partita_options INTERFACE -Wno-array-bounds -Wno-stringop-overflow
    -Wno-stringop-overread -Wno-restrict)
endif()

set(partita_standard_headers
  <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <functional> <limits> <map> <memory>
  <optional> <set> <span> <string> <string_view> <utility> <variant> <vector> <fmt/format.h>)

# partita_precompiled(TARGET KIND): the first target of a kind compiles its header, the others share it.
function(partita_precompiled target kind)
  if(NOT PARTITA_PRECOMPILED)
    return()
  endif()
  get_property(owner GLOBAL PROPERTY partita_precompiled_${kind})
  if(owner)
    target_precompile_headers(${target} REUSE_FROM ${owner})
    return()
  endif()
  set(headers ${partita_standard_headers})
  if(kind STREQUAL "cli")
    list(APPEND headers <nlohmann/json.hpp>)
  elseif(kind STREQUAL "tests")
    list(APPEND headers <gtest/gtest.h>)
  endif()
  target_precompile_headers(${target} PRIVATE ${headers})
  set_property(GLOBAL PROPERTY partita_precompiled_${kind} ${target})
endfunction()
