// JobResponse: the cheapest way to run one job when instances have prices.
//
// Prices are constant between the edges of a grid. The job may be interrupted, moved and mixed over
// modes as it likes, but runs on one instance at a time. It pays for the instances it uses and,
// for each second after its due date, a weight. The answer is exact, up to rounding.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bounds/problem.h"

namespace partita::bounds {

// Prices of modes over time: interval i lasts from edges[i] to edges[i + 1], the last one for ever.
struct PriceGrid {
  std::size_t modes = 0;
  std::vector<double> edges;   // microseconds; the first is 0
  std::vector<double> prices;  // [interval * modes + mode], per second; none negative

  std::size_t intervals() const { return edges.size(); }
  std::size_t tail() const { return edges.size() - 1; }
  double begin(std::size_t interval) const { return edges[interval]; }
  double end(std::size_t interval) const {
    return interval == tail() ? std::numeric_limits<double>::infinity() : edges[interval + 1];
  }
  const double* at(std::size_t interval) const { return prices.data() + interval * modes; }
  // The interval that holds the instant.
  std::size_t find(double instant) const;
};

// A stretch of time in which both the prices and the price of being late are constant.
struct Stretch {
  std::size_t interval = 0;
  double begin = 0;
  double end = 0;
  bool late = false;
};

class JobResponse {
 public:
  // With late_weight 0 there is no due date. REQUIRES: the grid outlives this.
  JobResponse(const PriceGrid& grid, double late_weight);

  // The least the job can cost. Constant time for each interval up to where it ends.
  double cost(const BoundJob& job);

  // Adds the seconds of each mode and interval of the answer last given.
  void add_usage(std::span<double> usage) const;

  // What the answer last given says of each place where the job may end: up to its due date (the
  // first), or within a late stretch. `work_price` is the best multiplier of its work there.
  struct Ending {
    Stretch last;
    double work_price = 0;
  };
  // As cost(), noting the endings; slower.
  double cost_with_endings(const BoundJob& job, std::vector<Ending>& endings);

 private:
  struct Rung {        // a mode of the job, in order of speed
    double speed = 0;  // work per second
    std::uint8_t mode = 0;
  };
  struct Piece {       // a part of an interval given to the job: mode `to` in place of `from`
    double slope = 0;  // price of a unit of work
    double work = 0;
    double speed = 0;  // work per second
    std::uint32_t interval = 0;
    std::uint8_t from = 0;  // kIdle or a mode
    std::uint8_t to = 0;
  };
  static constexpr std::uint8_t kIdle = 0xFF;

  void prepare(const BoundJob& job);
  void make_pieces(const Stretch& stretch, double extra);
  void take_pieces();
  double cost_with_pieces();
  double take_until_due(const BoundJob& job, double due);
  double least_cost() const;
  double scan(const BoundJob& job, std::vector<Ending>* endings);
  void replay(const BoundJob& job);
  void note(std::vector<Ending>* endings, const Stretch& last) const;

  const PriceGrid& grid_;
  double late_weight_;
  std::vector<double> least_prices_;  // by mode, over all time

  std::vector<Rung> rungs_;
  std::vector<Piece> fresh_;  // of the stretch at hand, by slope
  std::vector<Piece> taken_;  // by slope, enough for the work and no more
  double taken_work_ = 0;
  double taken_cost_ = 0;
  double marginal_ = 0;  // slope at the margin of the last cost_with_fresh
  Stretch best_last_;
  bool best_in_time_ = false;
};

}  // namespace partita::bounds
