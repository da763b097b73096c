// The price bound as one linear program: jobs in fractions by where they end, GPUs in fractions by
// load. Its optimum is what the best prices on the same grid prove.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "bounds/prices/ascent.h"
#include "bounds/prices/price_check.h"
#include "bounds/solver.h"
#include "bounds/test_support.h"

namespace partita::bounds {
namespace {

constexpr std::size_t kIntervals = 16;

// Where prices may change: even steps, and where GPUs no longer have to be on.
std::vector<double> edges_for(const Problem& problem, double span) {
  std::vector<double> edges{std::ceil(problem.on_until)};
  for (std::size_t i = 0; i <= kIntervals; ++i) {
    edges.push_back(std::floor(span * static_cast<double>(i) / kIntervals));
  }
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

class Program {
 public:
  Program(const Problem& problem, std::vector<double> edges)
      : problem_(problem), edges_(std::move(edges)) {
    for (std::size_t i = 0; i < edges_.size(); ++i) add_gpus(i);
    for (const BoundJob& job : problem_.jobs) add_job(job);
  }

  double optimum() const {
    const LpAnswer answer = solve_linear(model_);
    EXPECT_TRUE(answer.optimal);
    return answer.value;
  }

 private:
  double end(std::size_t interval) const {
    return interval + 1 < edges_.size() ? edges_[interval + 1] : 1e12;
  }
  void add_gpus(std::size_t interval);
  void add_job(const BoundJob& job);
  void add_ending(const BoundJob& job, std::size_t whole, double until, double late_from);

  const Problem& problem_;
  std::vector<double> edges_;
  LinearModel model_;
  std::vector<std::size_t> supply_;  // rows by interval and mode: used less offered, at most 0
};

void Program::add_gpus(std::size_t interval) {
  const std::size_t first = supply_.size();
  for (std::size_t mode = 0; mode < problem_.modes.size(); ++mode) {
    supply_.push_back(model_.add_row(-kNoLimit, 0));
  }
  const bool last = interval + 1 == edges_.size();
  const double seconds = (end(interval) - edges_[interval]) * 1e-6 * problem_.gpus;
  const std::size_t time = model_.add_row(-kNoLimit, last ? kNoLimit : seconds);
  const bool after = is_after(problem_, edges_[interval]);
  for (const Load& load : problem_.loads) {
    const double watts = after ? load.watts_after : load.watts;
    const std::size_t column = model_.add_column(kBothGoals.energy * watts, 0, kNoLimit);
    model_.set(time, column, 1);
    for (std::size_t mode = 0; mode < problem_.modes.size(); ++mode) {
      if (load.count[mode] > 0) model_.set(supply_[first + mode], column, -1.0 * load.count[mode]);
    }
  }
}

void Program::add_job(const BoundJob& job) {
  const std::size_t whole = model_.add_row(1, 1);
  add_ending(job, whole, job.due, job.due);
  add_ending(job, whole, 0, job.due);  // in the stretch that begins at the due date
  for (const double edge : edges_) {
    if (edge > job.due) add_ending(job, whole, 0, edge);
  }
}

// Ends by `until`, or else in the stretch that begins at `late_from`, up to the next edge.
void Program::add_ending(const BoundJob& job, std::size_t whole, double until, double late_from) {
  const bool in_time = until > 0;
  if (!in_time) {
    const auto next = std::ranges::upper_bound(edges_, late_from);
    until = next == edges_.end() ? 1e12 : *next;
  }
  const double late = std::max(0.0, late_from - job.due) * 1e-6 * kBothGoals.late;
  const std::size_t share = model_.add_column(in_time ? 0 : late, 0, kNoLimit);
  model_.set(whole, share, 1);
  const std::size_t work = model_.add_row(0, kNoLimit);
  model_.set(work, share, -kWorkAsked);
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    std::vector<double> cuts{std::max(edges_[i], job.release), std::min(end(i), until)};
    if (!in_time && cuts[0] < late_from && late_from < cuts[1]) {
      cuts.insert(cuts.begin() + 1, late_from);
    }
    for (std::size_t cut = 0; cut + 1 < cuts.size(); ++cut) {
      if (cuts[cut] >= cuts[cut + 1]) continue;
      const std::size_t space = model_.add_row(-kNoLimit, 0);
      model_.set(space, share, -(cuts[cut + 1] - cuts[cut]) * 1e-6);
      const double extra = !in_time && cuts[cut] >= late_from ? kBothGoals.late : 0;
      for (std::size_t mode = 0; mode < problem_.modes.size(); ++mode) {
        if (job.time[mode] <= 0) continue;
        const std::size_t column = model_.add_column(extra, 0, kNoLimit);
        model_.set(space, column, 1);
        model_.set(work, column, 1e6 / job.time[mode]);
        model_.set(supply_[i * problem_.modes.size() + mode], column, 1);
      }
    }
  }
}

double span_of(const Problem& problem) {
  double span = 0;
  for (const BoundJob& job : problem.jobs) {
    span = std::max(span, job.release) + *std::ranges::max_element(job.time);
  }
  return span;
}

TEST(PriceProgram, IsNotExceededByWhatTheSearchFindsAndNearlyReached) {
  double reached = 0;
  constexpr int kCases = 12;
  for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
    const Problem problem = random_problem(seed, 2 + static_cast<int>(seed % 3), 1);
    const Effort effort{.intervals_max = kIntervals, .rounds = 400, .rounds_by_mode = 800};
    const PriceGrid grid = search_prices(problem, kBothGoals, effort).grid;
    // The grid that the search worked on is the even one over its own span: the first edges of it
    // that differ in price are left, so that all of its edges are among these.
    std::vector<double> edges = edges_for(problem, span_of(problem));
    edges.insert(edges.end(), grid.edges.begin(), grid.edges.end());
    std::ranges::sort(edges);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    const double best = Program(problem, edges).optimum();
    const double found = *proven_value(problem, kBothGoals, grid);
    EXPECT_LE(found, best * (1 + 1e-6)) << seed;
    reached += found / best / kCases;
  }
  EXPECT_GT(reached, 0.97);
}

// Exactly, but for the solver's tolerance.
TEST(PriceProgram, FallsWithAJobDroppedADueDateLaterOrLessPower) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Problem problem = random_problem(seed, 3, 1);
    const std::vector<double> edges = edges_for(problem, span_of(problem));
    const auto value = [&](const Problem& each) {
      const double on = problem.idle_watts * each.gpus * each.on_until * 1e-6;
      return Program(each, edges).optimum() +
             kBothGoals.energy * each.idle_watts / problem.idle_watts * on;
    };
    const double whole = value(problem) * (1 + 1e-7);
    Problem fewer = problem;
    fewer.jobs.erase(fewer.jobs.begin() + static_cast<std::ptrdiff_t>(seed % 3));
    set_on_until(fewer);
    EXPECT_LE(value(fewer), whole) << seed;
    Problem later = problem;
    later.jobs[seed % 3].due += 10e6;
    EXPECT_LE(value(later), whole) << seed;
    Problem cooler = problem;
    cooler.idle_watts *= 0.7;  // and no more above it than there was
    for (Load& load : cooler.loads) {
      if (load.compute == 0) continue;
      load.watts_after *= 0.95;
      load.watts = load.watts_after - cooler.idle_watts;
    }
    EXPECT_LE(value(cooler), whole) << seed;
  }
}

}  // namespace
}  // namespace partita::bounds
