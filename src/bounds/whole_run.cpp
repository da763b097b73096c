#include "bounds/whole_run.h"

#include <algorithm>
#include <cmath>

#include "bounds/rounding.h"

namespace partita::bounds {
namespace {

constexpr double kPriceTicks = 0x1p40;  // of a price of 1, in whole numbers
constexpr double kPriceMax = 0x1p20;    // beyond, in whole numbers, it counts as this

// The prices of one mode over time, in doubles or in whole numbers.
template <typename Number>
struct Rents {
  const std::vector<double>& edges;
  const Number* rents;
  const Number* paid;
  Number least;
  Number late_weight;

  std::size_t tail() const { return edges.size() - 1; }
  std::size_t find(double instant) const {
    const auto after = std::upper_bound(edges.begin(), edges.end(), instant);
    return static_cast<std::size_t>(after - edges.begin()) - 1;
  }
  double end(std::size_t interval) const {
    return interval == tail() ? std::numeric_limits<double>::infinity() : edges[interval + 1];
  }
  // Of an instance from 0 to an instant of the interval.
  Number paid_until(std::size_t interval, double instant) const {
    return paid[interval] + rents[interval] * static_cast<Number>(instant - edges[interval]);
  }
};

template <typename Number>
struct Best {
  Number cost;
  double begin;
};

// The cheapest begin of a run of so many microseconds, if one costs less than `best`. All instants
// are whole numbers below 2^53, so that sums and differences of them are exact.
template <typename Number>
Best<Number> cheapest(const Rents<Number>& rents, const BoundJob& job, double length,
                      Best<Number> best) {
  double begin = job.release;
  std::size_t first = rents.find(begin);
  std::size_t last = rents.find(begin + length);
  const Number least_paid = rents.least * static_cast<Number>(length);
  Number paid = rents.paid_until(last, begin + length) - rents.paid_until(first, begin);
  while (true) {
    const double late = begin + length - job.due;
    const Number late_cost =
        late > 0 ? rents.late_weight * static_cast<Number>(late) : static_cast<Number>(0);
    if (paid + late_cost < best.cost) best = {paid + late_cost, begin};
    // From here on every begin is later, and in the tail none pays less than another.
    if (late_cost + least_paid >= best.cost || first == rents.tail()) return best;
    double step = std::min(rents.end(first) - begin, rents.end(last) - (begin + length));
    if (late < 0) step = std::min(step, -late);
    paid += (rents.rents[last] - rents.rents[first]) * static_cast<Number>(step);
    begin += step;
    if (begin == rents.end(first)) ++first;
    if (begin + length == rents.end(last)) ++last;
  }
}

// Rents by mode, and what they come to up to each edge.
template <typename Number, typename Price>
void sum_up(const PriceGrid& grid, Price price, std::vector<Number>& rents,
            std::vector<Number>& paid, std::vector<Number>& least) {
  for (std::size_t mode = 0; mode < grid.modes; ++mode) {
    Number sum = 0;
    for (std::size_t i = 0; i < grid.intervals(); ++i) {
      const Number each = price(grid.at(i)[mode]);
      rents.push_back(each);
      paid.push_back(sum);
      if (i != grid.tail()) sum += each * static_cast<Number>(grid.end(i) - grid.begin(i));
    }
    least.push_back(*std::min_element(rents.end() - static_cast<std::ptrdiff_t>(grid.intervals()),
                                      rents.end()));
  }
}

}  // namespace

double held_for(const BoundJob& job, std::size_t mode) {
  return std::max(0.0, job.time[mode] - std::ceil(job.time[mode] * (1 - kWorkAsked)));
}

WholeRun::WholeRun(const PriceGrid& grid, double late_weight)
    : grid_(grid), late_weight_(late_weight) {
  sum_up(
      grid, [](double price) { return price; }, rents_, paid_, least_prices_);
}

double WholeRun::cost(const BoundJob& job) {
  Best<double> best{std::numeric_limits<double>::infinity(), job.release};
  for (std::size_t mode = 0; mode < grid_.modes; ++mode) {
    if (job.time[mode] <= 0) continue;
    const std::size_t at = mode * grid_.intervals();
    const double length = held_for(job, mode);
    const Best<double> found = cheapest<double>(
        {grid_.edges, rents_.data() + at, paid_.data() + at, least_prices_[mode], late_weight_},
        job, length, best);
    if (found.cost >= best.cost) continue;
    best = found;
    run_ = {mode, best.begin, best.begin + length};
  }
  return best.cost / kMicrosPerSecond;
}

void WholeRun::add_usage(std::span<double> usage) const {
  double begin = run_.begin;
  for (std::size_t i = grid_.find(begin); begin < run_.end; ++i) {
    const double end = std::min(grid_.end(i), run_.end);
    usage[i * grid_.modes + run_.mode] += (end - begin) / kMicrosPerSecond;
    begin = end;
  }
}

WholeRunCheck::WholeRunCheck(const PriceGrid& grid, double late_weight)
    : grid_(grid), late_weight_(static_cast<Ticks>(std::floor(late_weight * kPriceTicks))) {
  const auto ticks = [](double price) {
    return static_cast<Ticks>(std::floor(std::min(price, kPriceMax) * kPriceTicks));
  };
  sum_up(grid, ticks, rents_, paid_, least_prices_);
}

double WholeRunCheck::cost_below(const BoundJob& job) const {
  // More than any run costs: times are below 2^53, prices not above 2^60.
  Best<Ticks> best{static_cast<Ticks>(1) << 124, job.release};
  for (std::size_t mode = 0; mode < grid_.modes; ++mode) {
    if (job.time[mode] <= 0) continue;
    const std::size_t at = mode * grid_.intervals();
    best = cheapest<Ticks>(
        {grid_.edges, rents_.data() + at, paid_.data() + at, least_prices_[mode], late_weight_},
        job, held_for(job, mode), best);
  }
  const double ticks = below(static_cast<double>(best.cost));
  return over_below(ticks, kPriceTicks * kMicrosPerSecond);
}

}  // namespace partita::bounds
