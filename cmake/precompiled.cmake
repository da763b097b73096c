# Precompiled headers: what nearly every file includes is parsed once for each of three kinds of
# targets (libraries, the command line with its JSON, tests). That takes a third off a build from nothing.
#
# A file must not rely on it: the builds with a sanitizer, for fuzzing or with a compiler cache (which
# cannot share precompiled headers between folders) have none, so a missing include shows there.
set(default_precompiled ON)
if(PARTITA_SANITIZE OR PARTITA_FUZZ OR CMAKE_CXX_COMPILER_LAUNCHER)
  set(default_precompiled OFF)
endif()
option(PARTITA_PRECOMPILED "Precompile headers that most files include" ${default_precompiled})

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
