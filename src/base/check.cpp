#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace partita {

void check_failed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "partita: internal error at %s:%d: %s does not hold\n", file, line,
               condition);
  std::abort();
}

}  // namespace partita
