#include "bounds/prices/ascent.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "bounds/prices/queue_rents.h"

namespace partita::bounds {
namespace {

constexpr std::size_t kIntervalsCoarsest = 32;
constexpr std::size_t kIntervalsMin = 512;
constexpr double kDayMicros = 86'400e6;
constexpr double kInertia = 0.5;
constexpr int kPatience = 4;        // rounds without progress
constexpr double kProgress = 0.05;  // of the ambition, in one round
constexpr double kBolder = 1.5;
constexpr double kLeastAmbition = 1e-3;  // of the value, when a finer grid begins
constexpr int kFirstRounds = 4;          // times the usual ones, on the coarsest grid

// How the climb by mode goes on. A whole run asks for all of an instance or for nothing, so that
// what is asked for jumps from round to round: there the steps are longer and smoother, and the
// means of the last prices prove more than the last prices do.
struct Gait {
  double inertia;
  double step;   // of a price, where one GPU too many is asked for
  double falls;  // to this part of itself, over all rounds
  double mean;   // of the old mean that is kept in a round; 0: no means are tried
};
constexpr Gait kGaitOfSplit{0.7, 0.1, 0.05, 0};
constexpr Gait kGaitOfWhole{0.9, 0.5, 0.02, 0.9};
constexpr int kMeanEvery = 10;       // rounds
constexpr double kSpanMax = 0x1p50;  // microseconds, for whole runs
constexpr std::array kPartsOfQueue{1.0, 0.75, 0.5, 0.25};

// A time by which a fleet that never idles is through, with time left for the slowest of jobs.
double span_of(const Problem& problem) {
  double through = 0;
  double slowest = 0;
  const double speed = static_cast<double>(problem.compute_slices) * problem.gpus;
  for (const BoundJob& job : problem.jobs) {
    through = std::max(through, job.release) + job.least_work(problem.modes) / speed;
    slowest = std::max(slowest, *std::max_element(job.time.begin(), job.time.end()));
  }
  return std::max(1.0, through + slowest);
}

// Edges are multiples of a day, halved or doubled as often as it takes, so that grids of different
// jobs have the same edges or those of the one are among those of the other.
double spacing_of(double span, std::size_t intervals_max) {
  double spacing = kDayMicros;
  while (span > spacing * static_cast<double>(intervals_max)) spacing *= 2;
  while (span * 2 <= spacing * static_cast<double>(intervals_max)) spacing /= 2;
  return spacing;
}

// With an edge where GPUs no longer have to be on.
PriceGrid even_grid(const Problem& problem, double span, double spacing) {
  PriceGrid grid;
  grid.modes = problem.modes.size();
  const double on_until = std::ceil(problem.on_until);
  for (double i = 0; i == 0 || (i - 1) * spacing < span; ++i) {
    const double edge = std::floor(i * spacing);
    if (!grid.edges.empty() && grid.edges.back() < on_until && on_until < edge) {
      grid.edges.push_back(on_until);
    }
    if (grid.edges.empty() || edge > grid.edges.back()) grid.edges.push_back(edge);
  }
  grid.prices.resize(grid.edges.size() * grid.modes);
  return grid;
}

// Neighbours with the same prices as one.
PriceGrid joined(const PriceGrid& grid) {
  PriceGrid made{grid.modes, {}, {}};
  for (std::size_t i = 0; i < grid.intervals(); ++i) {
    const double* row = grid.at(i);
    if (i > 0 && std::equal(row, row + grid.modes, grid.at(i - 1))) continue;
    made.edges.push_back(grid.begin(i));
    made.prices.insert(made.prices.end(), row, row + grid.modes);
  }
  return made;
}

// More than prices are likely to add: as if all jobs waited for all work before them.
double first_ambition(const Problem& problem, const Weights& weights) {
  double backlog = 0;
  double now = 0;
  double sum = 1e-6;
  const double speed = static_cast<double>(problem.compute_slices) * problem.gpus;
  for (const BoundJob& job : problem.jobs) {
    backlog = std::max(0.0, backlog - (job.release - now) * speed);
    now = job.release;
    backlog += job.least_work(problem.modes);
    sum += std::max(0.0, backlog / speed) * 1e-6;
  }
  return weights.late * sum;
}

// First one number an interval: the rent of a GPU, shared among modes by their compute slices on
// top of what their energy costs. It carries nearly all of the bound, and it is found fast: coarse
// grids first, each the beginning of the next.
class Search {
 public:
  Search(const Problem& problem, const Weights& weights, const Effort& effort)
      : problem_(problem),
        weights_(weights),
        effort_(effort),
        base_(tail_prices(problem, weights, 0)),
        base_after_(tail_prices(problem, weights, problem.on_until)),
        span_(span_of(problem)),
        gait_(effort.runs == Runs::kWhole ? kGaitOfWhole : kGaitOfSplit) {}

  Found run();

 private:
  struct Rents {
    PriceGrid grid;
    std::vector<double> rents;  // by interval; the tail's is 0
    double value = -std::numeric_limits<double>::infinity();
  };

  bool evaluate(const PriceGrid& grid, PriceValue& value);
  void set_prices(Rents& rents) const;
  Rents refined(const Rents& coarse, double spacing) const;
  bool climb(Rents& best, int rounds);
  void step(Rents& now, std::vector<double>& pace, const std::vector<double>& asked,
            double rise) const;
  PriceGrid started(double spacing) const;
  bool keep_better(const PriceGrid& grid, PriceValue& met, PriceGrid& best, double& value);
  void climb_by_mode(PriceGrid& best, double& value);
  PriceGrid queue_prices(double spacing);
  PriceGrid run_whole(double spacing);
  void step_by_mode(PriceGrid& grid, std::vector<double>& pace, const PriceValue& met,
                    double step) const;

  const Problem& problem_;
  const Weights& weights_;
  const Effort& effort_;
  std::vector<double> base_;        // what energy costs, by mode
  std::vector<double> base_after_;  // the same after every GPU has to be on
  double span_;
  Gait gait_;
  double ambition_ = 0;  // how far above the best value the target is
  Found found_;
};

bool Search::evaluate(const PriceGrid& grid, PriceValue& value) {
  if (found_.evaluations > 0 && effort_.seconds_left() <= 0) {
    found_.out_of_time = true;
    return false;
  }
  ++found_.evaluations;
  value = evaluate_prices(problem_, weights_, grid, effort_.runs);
  return true;
}

void Search::set_prices(Rents& rents) const {
  for (std::size_t i = 0; i < rents.grid.intervals(); ++i) {
    const auto& base = is_after(problem_, rents.grid.begin(i)) ? base_after_ : base_;
    for (std::size_t mode = 0; mode < rents.grid.modes; ++mode) {
      const double share =
          static_cast<double>(problem_.modes[mode].compute) / problem_.compute_slices;
      rents.grid.prices[i * rents.grid.modes + mode] = base[mode] + rents.rents[i] * share;
    }
  }
}

Search::Rents Search::refined(const Rents& coarse, double spacing) const {
  Rents fine;
  fine.grid = even_grid(problem_, span_, spacing);
  for (std::size_t i = 0; i < fine.grid.intervals(); ++i) {
    const bool known = i != fine.grid.tail() && !coarse.rents.empty();
    fine.rents.push_back(known ? coarse.rents[coarse.grid.find(fine.grid.begin(i))] : 0);
  }
  return fine;
}

// Polyak's rule: a step as long as would reach the target if the slope held. A target that is not
// approached for some rounds was too high, and the search goes back to the best prices met.
bool Search::climb(Rents& best, int rounds) {
  Rents now = best;
  std::vector<double> pace(now.rents.size());
  int fruitless = 0;
  for (int round = 0; round < rounds; ++round) {
    set_prices(now);
    PriceValue met;
    if (!evaluate(now.grid, met)) return false;
    if (met.value > best.value + kProgress * ambition_) {
      ambition_ *= fruitless == 0 ? kBolder : 1;
      fruitless = 0;
    } else {
      ++fruitless;
    }
    if (met.value > best.value) {
      best.value = met.value;
      best.rents = now.rents;
    }
    if (fruitless > kPatience) {
      ambition_ /= 2;
      fruitless = 0;
      now.rents = best.rents;
      std::ranges::fill(pace, 0);
      continue;
    }
    step(now, pace, met.asked, best.value + ambition_ - met.value);
  }
  return true;
}

// `wanted` is in GPUs asked for beyond those there are, as a share of them: at any rent, however
// small, a GPU would be let whole.
void Search::step(Rents& now, std::vector<double>& pace, const std::vector<double>& asked,
                  double rise) const {
  const std::size_t modes = now.grid.modes;
  double steepness = 0;
  for (std::size_t i = 0; i < now.grid.tail(); ++i) {
    double wanted = 0;
    for (std::size_t mode = 0; mode < modes; ++mode) {
      wanted += asked[i * modes + mode] * problem_.modes[mode].compute;
    }
    const double capacity = (now.grid.end(i) - now.grid.begin(i)) * 1e-6 * problem_.gpus;
    wanted = wanted / (capacity * problem_.compute_slices) - 1;
    pace[i] = kInertia * pace[i] + (1 - kInertia) * wanted;
    if (now.rents[i] == 0) pace[i] = std::max(0.0, pace[i]);
    steepness += capacity * pace[i] * pace[i];
  }
  if (steepness <= 0) return;
  for (std::size_t i = 0; i < now.grid.tail(); ++i) {
    now.rents[i] = std::max(0.0, now.rents[i] + rise / steepness * pace[i]);
  }
}

void Search::step_by_mode(PriceGrid& grid, std::vector<double>& pace, const PriceValue& met,
                          double step) const {
  for (std::size_t i = 0; i < grid.tail(); ++i) {
    const double seconds = (grid.end(i) - grid.begin(i)) * 1e-6 * problem_.gpus;
    const double* prices = grid.at(i);
    const double dearest = *std::max_element(prices, prices + grid.modes);
    for (std::size_t mode = 0; mode < grid.modes; ++mode) {
      const std::size_t at = i * grid.modes + mode;
      const double share =
          static_cast<double>(problem_.modes[mode].compute) / problem_.compute_slices;
      const double excess = (met.asked[at] - met.offered[at]) / seconds;
      const double wanted = excess * share * share * dearest;
      pace[at] = gait_.inertia * pace[at] + (1 - gait_.inertia) * wanted;
      grid.prices[at] = std::max(0.0, grid.prices[at] + step * pace[at]);
    }
  }
}

bool Search::keep_better(const PriceGrid& grid, PriceValue& met, PriceGrid& best, double& value) {
  if (!evaluate(grid, met)) return false;
  if (met.value > value) {
    value = met.value;
    best.prices = grid.prices;
  }
  return true;
}

void Search::climb_by_mode(PriceGrid& best, double& value) {
  PriceGrid now = best;
  PriceGrid mean = best;
  std::vector<double> pace(now.prices.size());
  PriceValue met;
  for (int round = 0; round < effort_.rounds_by_mode; ++round) {
    if (!keep_better(now, met, best, value)) return;
    const double part = static_cast<double>(round) / effort_.rounds_by_mode;
    step_by_mode(now, pace, met, gait_.step * std::pow(gait_.falls, part));
    if (gait_.mean == 0) continue;
    for (std::size_t at = 0; at < mean.prices.size(); ++at) {
      mean.prices[at] = gait_.mean * mean.prices[at] + (1 - gait_.mean) * now.prices[at];
    }
    if (round % kMeanEvery == kMeanEvery - 1 && !keep_better(mean, met, best, value)) return;
  }
}

// What others found, on a grid of our own.
PriceGrid Search::started(double spacing) const {
  PriceGrid grid = even_grid(problem_, span_, spacing);
  for (std::size_t i = 0; i < grid.intervals(); ++i) {
    const double* row = effort_.start->at(effort_.start->find(grid.begin(i)));
    std::copy(row, row + grid.modes,
              grid.prices.begin() + static_cast<std::ptrdiff_t>(i * grid.modes));
  }
  // Theirs may have ended later, and at the prices of a tail no GPU may earn.
  const auto& tail = is_after(problem_, grid.begin(grid.tail())) ? base_after_ : base_;
  std::copy(tail.begin(), tail.end(), grid.prices.end() - static_cast<std::ptrdiff_t>(grid.modes));
  return grid;
}

// The best part of what a second is worth in a queue.
PriceGrid Search::queue_prices(double spacing) {
  Rents queue;
  queue.grid = even_grid(problem_, span_, spacing);
  const std::vector<double> worth = queue_rents(problem_, queue.grid);
  PriceGrid best = queue.grid;
  double value = -std::numeric_limits<double>::infinity();
  for (const double part : kPartsOfQueue) {
    queue.rents = worth;
    for (double& rent : queue.rents) rent *= part * weights_.late;
    set_prices(queue);
    PriceValue met;
    if (!keep_better(queue.grid, met, best, value)) break;
  }
  return best;
}

// Small steps from nothing do not find the way up where a few jobs crowd a little: jobs that may
// begin at any of many free instants all begin at the first. So there are two places to begin at.
PriceGrid Search::run_whole(double spacing) {
  // Prices of 0: instants that far apart cannot be counted in whole microseconds.
  if (span_ > kSpanMax) return {problem_.modes.size(), {0}, base_};
  PriceGrid best = queue_prices(spacing);
  double value = -std::numeric_limits<double>::infinity();
  climb_by_mode(best, value);
  if (effort_.start == nullptr || found_.out_of_time) return best;
  PriceGrid other = started(spacing);
  double other_value = -std::numeric_limits<double>::infinity();
  climb_by_mode(other, other_value);
  return other_value > value ? other : best;
}

Found Search::run() {
  const std::size_t finest =
      std::min(effort_.intervals_max, std::max(kIntervalsMin, problem_.jobs.size() * 4));
  const double finest_spacing = spacing_of(span_, finest);
  if (effort_.runs == Runs::kWhole) {
    found_.grid = joined(run_whole(finest_spacing));
    return std::move(found_);
  }
  double spacing = std::max(finest_spacing, spacing_of(span_, kIntervalsCoarsest));
  Rents best = refined({}, spacing);
  ambition_ = first_ambition(problem_, weights_);
  climb(best, kFirstRounds * effort_.rounds);
  while (spacing > finest_spacing && !found_.out_of_time) {
    spacing /= 2;
    Rents finer = refined(best, spacing);
    // A finer grid has the edges of the coarser one, so its first value is no loss.
    finer.value = best.value;
    ambition_ = std::max(ambition_ * kBolder, kLeastAmbition * std::fabs(best.value));
    climb(finer, effort_.rounds);
    best = std::move(finer);
  }
  set_prices(best);
  if (!found_.out_of_time) climb_by_mode(best.grid, best.value);
  found_.grid = joined(best.grid);
  return std::move(found_);
}

}  // namespace

Found search_prices(const Problem& problem, const Weights& weights, const Effort& effort) {
  CHECK(weights.late > 0);
  return Search(problem, weights, effort).run();
}

}  // namespace partita::bounds
