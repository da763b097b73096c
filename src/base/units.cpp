#include "base/units.h"

#include <cmath>

#include "base/check.h"

namespace partita {

Micros micros_from_seconds(double seconds) {
  CHECK(std::abs(seconds) < 9e12);
  return {std::llround(seconds * 1e6)};
}

}  // namespace partita
