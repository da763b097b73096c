// Directed rounding: results known to lie on one side of the true ones.
//
// An operation in doubles is off by at most half a unit in the last place; moving the result by one
// whole unit or more leaves it on the wanted side. This holds for finite values that are 0 or far
// from underflow, which weights, prices and times are.
#pragma once

#include <cmath>

namespace partita::bounds {

inline double below(double rounded) {
  return rounded - std::fabs(rounded) * 0x1p-52;
}
inline double above(double rounded) {
  return rounded + std::fabs(rounded) * 0x1p-52;
}

inline double add_below(double a, double b) {
  return below(a + b);
}
inline double add_above(double a, double b) {
  return above(a + b);
}
inline double times_below(double a, double b) {
  return below(a * b);
}
inline double times_above(double a, double b) {
  return above(a * b);
}
inline double over_below(double a, double b) {
  return below(a / b);
}
inline double over_above(double a, double b) {
  return above(a / b);
}

}  // namespace partita::bounds
