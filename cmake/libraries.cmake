# partita_library(NAME LINK ... [PRIVATE_LINK ...]): one folder of src/ is one library, partita::NAME, and its
# *_test.cpp files are one test program, NAME_tests.
function(partita_library name)
  cmake_parse_arguments(LIBRARY "" "" "LINK;PRIVATE_LINK" ${ARGN})
  set(folder ${PROJECT_SOURCE_DIR}/src/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz)\\.cpp$")
  if(sources)
    add_library(partita_${name} STATIC ${sources})
    target_link_libraries(partita_${name} PUBLIC partita_options ${LIBRARY_LINK} PRIVATE ${LIBRARY_PRIVATE_LINK})
  else()
    add_library(partita_${name} INTERFACE)
    target_link_libraries(partita_${name} INTERFACE partita_options ${LIBRARY_LINK})
  endif()
  add_library(partita::${name} ALIAS partita_${name})
  if(PARTITA_TESTS AND tests)
    partita_test(${name}_tests SOURCES ${tests} LINK partita::${name})
  endif()
endfunction()

# partita_test(NAME SOURCES ... LINK ... [LABEL long]): a GoogleTest program whose cases ctest lists one by one.
function(partita_test name)
  cmake_parse_arguments(TEST "" "LABEL" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE ${TEST_LINK} GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE PARTITA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  # Tests wait for what they test, not for themselves.
  target_compile_options(${name} PRIVATE -O1)
  # A long program has the cases of a short one: without names of their own the label of the one
  # would be the label of both, and neither would run by default.
  set(prefix "")
  if(TEST_LABEL)
    set(prefix "${TEST_LABEL}.")
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${prefix}" DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${TEST_LABEL}")
endfunction()
