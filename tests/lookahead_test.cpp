// The look-ahead repartitioner in whole runs: what may change its decisions, and what may not.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cases/papers_day.h"
#include "policies/registry.h"
#include "policies/repartitioners/lookahead.h"
#include "policies/repartitioners/lookahead_spec.h"
#include "sim/engine.h"

namespace partita {
namespace {

using RequestList = std::vector<decide::LayoutRequest>;
using Mode = decide::Preemption::Mode;

// Writes down what was asked for at each turn.
class Watched : public policies::Lookahead {
 public:
  using Lookahead::Lookahead;

  void decide(const decide::View& view, RequestList& requests) override {
    const std::uint64_t before = simulated_events();
    Lookahead::decide(view, requests);
    turns.push_back({view.now, simulated_events() - before, requests});
  }

  struct Turn {
    Micros time;
    std::uint64_t simulated = 0;
    RequestList requests;
  };
  std::vector<Turn> turns;
};

struct World {
  std::uint32_t gpus = 3;
  double rate = 9;
  Mode mode = Mode::kFree;
  sim::RepartitionCost cost = sim::RepartitionCost::kPaper;
  std::uint64_t seed = 1;
};

policies::LookaheadOptions options_of(const char* text, std::uint32_t gpus) {
  auto options = policies::parse_lookahead(text, **mig::find_gpu("a100-40gb"), gpus);
  EXPECT_TRUE(options.ok());
  options->evidence = 1;  // the days below have too few jobs for it to dare anything
  return *std::move(options);
}

struct Outcome {
  std::vector<Watched::Turn> turns;
  sim::RunResult result;
};

Outcome run(const World& world, const policies::LookaheadOptions& options) {
  const workload::Trace trace =
      cases::papers_day({.rate = world.rate, .hours = 5}, 3'000'000 + world.seed);
  const mig::GpuModel& model = **mig::find_gpu("a100-40gb");
  sim::RunOptions run_options;
  run_options.model = &model;
  run_options.gpus = world.gpus;
  run_options.power = &model.power_curves.front();
  const bool costs = world.mode == Mode::kCost || world.mode == Mode::kPays;
  run_options.preemption = {world.mode, Micros::seconds(costs ? 10 : 0)};
  run_options.repartition_cost = world.cost;
  const auto scheduler = policies::make_scheduler("cedf", 1);
  const auto ahead = policies::make_scheduler("cedf", 1);
  sim::RunExtras extras;
  extras.forecast_scheduler = ahead->get();
  Watched lookahead(options);
  auto result = sim::simulate(trace, run_options, **scheduler, lookahead, extras);
  EXPECT_TRUE(result.ok());
  return {lookahead.turns, *std::move(result)};
}

World world_of(std::uint64_t seed) {
  constexpr Mode kModes[] = {Mode::kFree, Mode::kNone, Mode::kCost, Mode::kPays};
  World world;
  world.seed = seed;
  world.mode = kModes[seed / 2 % 4];
  world.cost = seed % 2 == 0 ? sim::RepartitionCost::kPaper : sim::RepartitionCost::kMeasured;
  world.rate = 5 + static_cast<double>(seed % 5);
  return world;
}

void expect_same_decisions(const Outcome& a, const Outcome& b) {
  ASSERT_EQ(a.turns.size(), b.turns.size());
  for (std::size_t i = 0; i < a.turns.size(); ++i) {
    EXPECT_EQ(a.turns[i].time, b.turns[i].time);
    ASSERT_EQ(a.turns[i].requests.size(), b.turns[i].requests.size()) << "turn " << i;
    for (std::size_t k = 0; k < a.turns[i].requests.size(); ++k) {
      EXPECT_EQ(a.turns[i].requests[k].gpu, b.turns[i].requests[k].gpu);
      EXPECT_EQ(a.turns[i].requests[k].layout, b.turns[i].requests[k].layout);
    }
  }
  EXPECT_EQ(a.result.et, b.result.et);
}

std::uint64_t simulated(const Outcome& outcome) {
  std::uint64_t sum = 0;
  for (const Watched::Turn& turn : outcome.turns) sum += turn.simulated;
  return sum;
}

std::size_t changes(const Outcome& outcome) {
  std::size_t sum = 0;
  for (const Watched::Turn& turn : outcome.turns) sum += turn.requests.size();
  return sum;
}

TEST(Lookahead, BreakingForecastsOffChangesNoDecision) {
  std::uint64_t with = 0;
  std::uint64_t without = 0;
  std::size_t decided = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const World world = world_of(seed);
    policies::LookaheadOptions options =
        options_of("every=15,samples=3,wide=12,finalists=3", world.gpus);
    options.moves = 1 + static_cast<int>(seed % 2);
    const Outcome pruned = run(world, options);
    options.pruning = false;
    const Outcome whole = run(world, options);
    expect_same_decisions(pruned, whole);
    with += simulated(pruned);
    without += simulated(whole);
    decided += changes(pruned);
  }
  EXPECT_GT(decided, 30U) << "the runs should be worth comparing";
  EXPECT_LT(with, without) << "and forecasts should have been broken off";
}

TEST(Lookahead, TheSameSeedGivesTheSameRun) {
  const World world;
  const policies::LookaheadOptions options = options_of("every=15", world.gpus);
  expect_same_decisions(run(world, options), run(world, options));
}

TEST(Lookahead, ChangesAtMostMovesGpusATurnAndTurnsKeepTheirDistance) {
  for (const int moves : {1, 2}) {
    World world;
    world.gpus = 6;
    world.rate = 15;
    policies::LookaheadOptions options = options_of("every=20,caution=0", world.gpus);
    options.moves = moves;
    const Outcome outcome = run(world, options);
    EXPECT_LE(outcome.turns.size(), outcome.result.events / 20);
    EXPECT_GT(changes(outcome), 0U);
    for (const Watched::Turn& turn : outcome.turns) {
      EXPECT_LE(turn.requests.size(), static_cast<std::size_t>(moves));
    }
  }
}

TEST(Lookahead, InCalmTimesSitsOutAfterATurnThatChangedNothing) {
  World world;
  world.rate = 4;
  const auto looked = [](const Watched::Turn& turn) { return turn.simulated > 0; };
  const Outcome never = run(world, options_of("every=10,rest=0", world.gpus));
  const Outcome often = run(world, options_of("every=10,rest=3", world.gpus));
  const auto count = [&](const Outcome& outcome) {
    return std::count_if(outcome.turns.begin(), outcome.turns.end(), looked);
  };
  EXPECT_GT(count(never), 2 * count(often));
  int sat_out = 0;
  bool rests = false;  // from the first fruitless turn to the next one it takes
  for (const Watched::Turn& turn : often.turns) {
    if (looked(turn)) {
      EXPECT_TRUE(!rests || sat_out == 3 || sat_out == 0) << "three turns, or none";
      sat_out = 0;
      rests = turn.requests.empty();
    } else if (rests) {
      ++sat_out;
    }
  }
}

// The budget is looked at between forecasts: one forecast, or one round of the race, may go over.
TEST(Lookahead, StopsWhenItsBudgetIsSpent) {
  const World world;
  policies::LookaheadOptions options = options_of("every=15,rest=0", world.gpus);
  const Outcome free = run(world, options);
  std::uint64_t largest = 0;
  for (const Watched::Turn& turn : free.turns) largest = std::max(largest, turn.simulated);
  options.budget_events = largest / 4;
  const Outcome bounded = run(world, options);
  for (const Watched::Turn& turn : bounded.turns) {
    EXPECT_LE(turn.simulated, largest / 4 + largest / 4);
  }
  options.budget_events = 1;
  EXPECT_EQ(changes(run(world, options)), 0U) << "nothing was tried, so nothing is changed";
}

TEST(Lookahead, ChangesNothingBeforeTheJobsMeanTimeIsKnown) {
  const World world;
  policies::LookaheadOptions options = options_of("every=15,caution=0", world.gpus);
  EXPECT_GT(changes(run(world, options)), 0U);
  options.evidence = 0;
  EXPECT_EQ(changes(run(world, options)), 0U);
}

TEST(Lookahead, DrawsMoreFuturesWhereFewDoNotDecide) {
  const World world;
  policies::LookaheadOptions options =
      options_of("every=15,samples=2,samples_max=2,caution=2", world.gpus);
  const Outcome few = run(world, options);
  options.samples_max = 12;
  const Outcome more = run(world, options);
  ASSERT_FALSE(few.turns.empty() || more.turns.empty());
  const auto per_turn = [](const Outcome& outcome) {
    return static_cast<double>(simulated(outcome)) / static_cast<double>(outcome.turns.size());
  };
  EXPECT_GT(per_turn(more), 1.1 * per_turn(few));
}

// Twelve GPUs seen through four: each stands for three.
TEST(Lookahead, OfALargeFleetItSimulatesASampleAndTheRestFollows) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    World world = world_of(seed);
    world.gpus = 12;
    world.rate = 30;
    policies::LookaheadOptions options = options_of("every=15,fleet=4,caution=0", world.gpus);
    const Outcome outcome = run(world, options);
    EXPECT_LE(outcome.turns.size(), outcome.result.events / 45);
    EXPECT_GT(changes(outcome), 0U);
    for (const Watched::Turn& turn : outcome.turns) {
      EXPECT_LE(turn.requests.size(), 3U);
      std::set<std::uint32_t> gpus;
      for (const decide::LayoutRequest& request : turn.requests) {
        EXPECT_TRUE(gpus.insert(request.gpu.value).second);
        EXPECT_EQ(request.layout, turn.requests.front().layout);
      }
    }
    options.pruning = false;
    expect_same_decisions(outcome, run(world, options));
  }
}

// Of small slices only, and then of jobs of which every tenth needs a whole GPU.
TEST(Lookahead, NoJobIsLeftWithoutASlice) {
  for (const Mode mode : {Mode::kFree, Mode::kNone}) {
    workload::Trace trace = cases::papers_day({.rate = 9, .hours = 5}, 3'000'001);
    for (std::size_t i = 0; i < trace.jobs.size(); i += 10) trace.jobs[i].memory_gib = 30;
    trace.jobs.back().memory_gib = 30;
    const mig::GpuModel& model = **mig::find_gpu("a100-40gb");
    sim::RunOptions options;
    options.model = &model;
    options.gpus = 2;
    options.power = &model.power_curves.front();
    options.preemption.mode = mode;
    const auto scheduler = policies::make_scheduler("cedf", 1);
    const auto ahead = policies::make_scheduler("cedf", 1);
    sim::RunExtras extras;
    extras.forecast_scheduler = ahead->get();
    Watched lookahead(options_of("start=12,every=20", options.gpus));
    const auto result = sim::simulate(trace, options, **scheduler, lookahead, extras);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(result->jobs, trace.jobs.size());
  }
}

}  // namespace
}  // namespace partita
