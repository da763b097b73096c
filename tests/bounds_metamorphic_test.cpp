// What is reported does not rise when less is asked: a job dropped, a due date later, less power.
//
// The promise is about energy and about sums over the jobs: a mean may rise when a job that is in
// time is dropped. Bounds by formula keep it exactly. The search for prices ends near the best ones
// and not at them, so that two values may be off by its tolerance; the relaxation itself, solved as
// a linear program, keeps it as exactly as the solver does (bounds/prices/price_program_test.cpp).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "bounds/report.h"
#include "bounds/test_support.h"

namespace partita::bounds {
namespace {

#ifndef PARTITA_METAMORPHIC_CASES
#define PARTITA_METAMORPHIC_CASES 3
#endif

constexpr double kRounding = 1e-12;
// Of cutting planes in a dozen prices, and of the search over time.
constexpr double kCuttingPlanes = 1e-8;
constexpr double kSearch = 1e-3;

struct Case {
  workload::Trace trace;
  mig::PowerCurve power;
  Fleet fleet;
};

// Half of them with a power curve that is not concave, some with memory, some with a horizon.
Case draw(std::uint64_t seed) {
  Rng rng(seed, 11);
  Case made{random_trace(seed, 2 + static_cast<int>(rng.below(20))), {}, {}};
  made.fleet = a100_fleet(1 + static_cast<std::uint32_t>(rng.below(3)));
  made.power = *made.fleet.power;
  if (rng.below(2) == 0) {
    for (double& watts : made.power.watts) watts *= rng.uniform(0.5, 1.5);
  }
  if (rng.below(2) == 0) made.fleet.horizon = micros_from_seconds(rng.uniform(0, 300));
  if (rng.below(3) == 0) {
    for (workload::Job& job : made.trace.jobs) {
      if (rng.below(3) == 0) job.memory_gib = static_cast<float>(rng.uniform(0, 30));
    }
  }
  return made;
}

struct Total {
  double value = 0;
  double tolerance = 0;  // relative
};

double tolerance_of(const Bound& bound) {
  if (bound.kind == Kind::kEnergy) return bound.prices ? kCuttingPlanes : kRounding;
  return bound.prices || bound.kind == Kind::kEt ? kSearch : kRounding;
}

// By kind and name, and the best of each kind.
std::map<std::string, Total> totals(const Case& each) {
  Fleet fleet = each.fleet;
  fleet.power = &each.power;
  const Result<Problem> problem = make_problem(each.trace, fleet);
  EXPECT_TRUE(problem.ok());
  Request request;
  request.et_a = 1e-3;
  request.use_mip = false;
  const BoundReport report = find_bounds(*problem, request);
  std::map<std::string, Total> found;
  for (const Bound& bound : report.bounds) {
    if (bound.skipped()) continue;
    const double jobs = static_cast<double>(problem->jobs.size());
    const double value = bound.value * (bound.kind == Kind::kEnergy ? 1 : jobs);
    const Total total{value, tolerance_of(bound)};
    found[fmt::format("{} {}", name_of(bound.kind), bound.name)] = total;
    Total& best = found[fmt::format("{} best", name_of(bound.kind))];
    best = {std::max(best.value, value), std::max(best.tolerance, total.tolerance)};
  }
  return found;
}

Case without_a_job(const Case& each, Rng& rng) {
  Case less = each;
  less.trace = {};
  less.trace.class_names = {"any"};
  const std::size_t dropped = rng.below(each.trace.jobs.size());
  for (std::size_t i = 0; i < each.trace.jobs.size(); ++i) {
    if (i != dropped) less.trace.add(each.trace.jobs[i], std::to_string(i));
  }
  return less;
}

Case with_a_later_due_date(const Case& each, Rng& rng) {
  Case less = each;
  less.trace.jobs[rng.below(each.trace.jobs.size())].deadline +=
      micros_from_seconds(rng.uniform(0, 60));
  return less;
}

Case with_less_power(const Case& each, Rng& rng) {
  Case less = each;
  for (double& watts : less.power.watts) watts *= rng.uniform(0.6, 1);
  return less;
}

Case with_less_idle_power(const Case& each, Rng& rng) {
  Case less = each;
  less.power.watts.front() *= rng.uniform(0.3, 1);
  return less;
}

struct Rise {
  double most = 0;  // relative
  std::uint64_t seed = 0;
};

void expect_no_rise(Case (*change)(const Case&, Rng&)) {
  std::map<std::string, Rise> rises;
  for (std::uint64_t seed = 1; seed <= PARTITA_METAMORPHIC_CASES; ++seed) {
    Rng rng(seed, 12);
    const Case each = draw(seed);
    const std::map<std::string, Total> before = totals(each);
    for (const auto& [name, after] : totals(change(each, rng))) {
      // The paper's formula has premises, which less power may break or restore.
      const auto was = before.find(name);
      if (was == before.end()) continue;
      const double rise = was->second.value > 0 ? after.value / was->second.value - 1 : 0;
      if (rise > rises[name].most) rises[name] = {rise, seed};
      EXPECT_LE(after.value, was->second.value * (1 + after.tolerance) + kRounding)
          << "seed " << seed << ", " << name;
    }
  }
  for (const auto& [name, rise] : rises) {
    if (rise.most <= 0) continue;
    fmt::print("{}: the largest rise is {:.2g} (seed {})\n", name, rise.most, rise.seed);
  }
}

TEST(ReportedBounds, DoNotRiseWhenAJobIsDropped) {
  expect_no_rise(without_a_job);
}

TEST(ReportedBounds, DoNotRiseWhenADueDateIsLater) {
  expect_no_rise(with_a_later_due_date);
}

TEST(ReportedBounds, DoNotRiseWithLessPower) {
  expect_no_rise(with_less_power);
}

TEST(ReportedBounds, DoNotRiseWithLessIdlePower) {
  expect_no_rise(with_less_idle_power);
}

}  // namespace
}  // namespace partita::bounds
