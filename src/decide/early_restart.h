// Early restart: when a job's memory, going on as it does, will not fit its slice.
//
// The rule of MIGM (Saraha et al. 2025) as far as it is known: a straight line through the last
// readings, carried on to the end of the job, with a margin for how badly the readings follow it.
#pragma once

#include <cstdint>
#include <span>

namespace partita::decide {

struct EarlyRestart {
  std::uint32_t readings = 100;     // over the whole job, at equal steps of its work
  std::uint32_t window = 20;        // the line goes through this many of the latest
  std::uint32_t least = 8;          // no projection from fewer; at least 3
  double z = 2.33;                  // standard errors of the projection; 2.33 is one-sided 99 %
  std::uint32_t confirmations = 2;  // projections in a row that must say so; at least 1
};

// A projection that is above the memory of a slice by no more than this fits: a kibibyte, far under
// what matters and far above the rounding of the arithmetic.
inline constexpr double kProjectionGuardGib = 1e-6;

// The value at `at` of the least-squares line through the points, plus z standard errors of a
// forecast there. REQUIRES: as many xs as ys, at least 3, xs not all equal.
double upper_projection(std::span<const double> xs, std::span<const double> ys, double at,
                        double z);

}  // namespace partita::decide
