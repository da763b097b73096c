// CHECK: a broken promise of our own code stops the program in every build, naming the place.
#pragma once

namespace partita {

[[noreturn]] void check_failed(const char* file, int line, const char* condition);

}  // namespace partita

#define CHECK(condition)                                       \
  do {                                                         \
    if (!(condition)) [[unlikely]] {                           \
      ::partita::check_failed(__FILE__, __LINE__, #condition); \
    }                                                          \
  } while (false)
