// WholeRun: the cheapest way to run one job without interruption when instances have prices.
//
// The job takes one instance of one mode for its whole time, without a break, and begins when it
// likes after its release. It pays for the instance and, for each second after its due date, a
// weight. Between the instants where its begin or its end meets an edge of the prices or its due
// date the cost is a straight line of the begin, so that one of those instants is the best.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bounds/problem.h"
#include "bounds/slots/job_response.h"

namespace partita::bounds {

// Microseconds for which a job holds an instance of this mode, when it may not be split: its time
// less a billionth, rounded down to a whole number. See kWorkAsked.
double held_for(const BoundJob& job, std::size_t mode);

struct Run {
  std::size_t mode = 0;
  double begin = 0;  // microseconds
  double end = 0;
};

class WholeRun {
 public:
  // REQUIRES: the grid outlives this; its edges and late_weight are whole numbers.
  WholeRun(const PriceGrid& grid, double late_weight);

  // The least the job can cost, up to rounding. Constant time for each edge that its begin or end
  // can meet before being late costs more than waiting saves, in each mode.
  double cost(const BoundJob& job);

  // The run of the answer last given.
  const Run& run() const { return run_; }
  // Adds the seconds of each interval of that run.
  void add_usage(std::span<double> usage) const;

 private:
  const PriceGrid& grid_;
  double late_weight_;
  std::vector<double> rents_;         // [mode * intervals + interval]: by mode, prices over time
  std::vector<double> paid_;          // alike: of an instance from 0 to the begin of the interval
  std::vector<double> least_prices_;  // by mode, over all time
  Run run_;
};

// The same in whole numbers: a cost in seconds that no such run of the job is below, at prices
// rounded down to the next 2^-40.
class WholeRunCheck {
 public:
  // REQUIRES: as WholeRun; edges below 2^52, prices and late_weight not negative.
  WholeRunCheck(const PriceGrid& grid, double late_weight);

  double cost_below(const BoundJob& job) const;

 private:
  __extension__ typedef __int128 Ticks;

  const PriceGrid& grid_;
  Ticks late_weight_;
  std::vector<Ticks> rents_;
  std::vector<Ticks> paid_;
  std::vector<Ticks> least_prices_;
};

}  // namespace partita::bounds
