# How every target is compiled: the language, the warnings, and what "same seed, same bytes" needs.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2")

add_library(partita_options INTERFACE)
target_include_directories(partita_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(partita_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Werror
  # A fused multiply-add rounds once where the plain pair rounds twice; results must not depend on
  # whether the compiler found one.
  -ffp-contract=off
  -fstack-protector-strong)
if(PARTITA_NATIVE)
  target_compile_options(partita_options INTERFACE -march=native)
endif()
if(PARTITA_SANITIZE)
  target_compile_options(partita_options INTERFACE
    -fsanitize=${PARTITA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  target_link_options(partita_options INTERFACE -fsanitize=${PARTITA_SANITIZE})
endif()
