// The price bound: let instances have prices that vary over time, let every GPU earn and every job
// pay as suits it best, and no schedule can cost less than the sum. docs/concepts/bounds.md has the
// proof.
#pragma once

#include <vector>

#include "bounds/problem.h"
#include "bounds/slots/job_response.h"

namespace partita::bounds {

// What is minimised: late * (sum of tardiness, seconds) + energy * (joules above those of idle
// GPUs).
struct Weights {
  double late = 0;
  double energy = 0;
};

// What jobs may do: be interrupted, moved and resumed at will, or run once from begin to end on one
// instance.
enum class Runs : unsigned char { kSplit, kWhole };

struct PriceValue {
  double value = 0;
  // By interval and mode, instance-seconds. Asked less offered is a supergradient of the value.
  std::vector<double> asked;
  std::vector<double> offered;
};

// The bound that prices prove, as doubles have it. The tail must be affordable (see tail_prices).
PriceValue evaluate_prices(const Problem& problem, const Weights& weights, const PriceGrid& grid,
                           Runs runs = Runs::kSplit);

// Whether all of an interval that begins here is later than every GPU has to be on.
inline bool is_after(const Problem& problem, double begin) {
  return begin >= problem.on_until;
}

// Prices at which no load earns anything, for an interval that begins here: in one that lasts for
// ever, none may.
std::vector<double> tail_prices(const Problem& problem, const Weights& weights, double begin);

}  // namespace partita::bounds
