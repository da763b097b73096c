// The engine against the naive second simulator: the same schedule, piece by piece.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cases/case.h"
#include "cases/random_case.h"
#include "oracle/naive_simulator.h"
#include "policies/registry.h"

namespace partita {
namespace {

#ifndef PARTITA_AGREEMENT_FACTOR
#define PARTITA_AGREEMENT_FACTOR 1  // more in the test that ctest labels "long"
#endif

// A case draws one of four modes of preemption; cases that pay are tried more.
constexpr std::uint64_t kCasesPerScheduler = 540 * PARTITA_AGREEMENT_FACTOR;
constexpr std::uint64_t kCasesThatPay = 140 * PARTITA_AGREEMENT_FACTOR;
constexpr std::uint64_t kCasesPerComposition = 68 * PARTITA_AGREEMENT_FACTOR;
constexpr std::uint64_t kCasesWithMemory = 140 * PARTITA_AGREEMENT_FACTOR;
constexpr std::uint64_t kCasesOfWaiting = 34 * PARTITA_AGREEMENT_FACTOR;
constexpr std::uint64_t kLargeFleetsThatPay = 10 * PARTITA_AGREEMENT_FACTOR;
constexpr std::uint64_t kLargeFleets = 40 * PARTITA_AGREEMENT_FACTOR;

std::vector<oracle::Piece> pieces_of(const sim::RunResult& result) {
  std::vector<oracle::Piece> pieces;
  for (const sim::SchedulePiece& piece : result.schedule) {
    pieces.push_back({piece.id.value, cluster::gpu_of(piece.slice).value,
                      mig::Placement{piece.profile, cluster::start_of(piece.slice)}, piece.begin,
                      piece.end});
  }
  std::ranges::sort(pieces);
  return pieces;
}

std::string piece_text(const mig::GpuModel& model, const oracle::Piece& piece) {
  return fmt::format("j{} gpu {} {} from {} to {} us", piece.job, piece.gpu,
                     mig::format_placement(model, piece.placement), piece.begin.count,
                     piece.end.count);
}

std::string layout_text(const mig::GpuModel& model, std::size_t gpu, Micros begin, Micros end,
                        const mig::Layout& layout) {
  return fmt::format("gpu {} {} to {} us {}", gpu, begin.count, end.count,
                     mig::format_layout(model, layout));
}

// The first pieces that only one of the two has.
std::string piece_differences(const mig::GpuModel& model, const std::vector<oracle::Piece>& engine,
                              const std::vector<oracle::Piece>& naive) {
  std::vector<oracle::Piece> only;
  std::string text;
  const auto list = [&](const char* who) {
    std::ranges::sort(only, {}, &oracle::Piece::begin);
    for (std::size_t i = 0; i < only.size() && i < 4; ++i) {
      text += fmt::format("  only {}: {}\n", who, piece_text(model, only[i]));
    }
    only.clear();
  };
  std::ranges::set_difference(engine, naive, std::back_inserter(only));
  list("engine");
  std::ranges::set_difference(naive, engine, std::back_inserter(only));
  list("naive ");
  return text;
}

// A span of the same layout that is cut in two says the same.
std::vector<sim::LayoutPiece> joined_layouts(const sim::RunResult& result) {
  std::vector<sim::LayoutPiece> joined;
  for (const sim::LayoutPiece& piece : result.layouts) {
    const bool goes_on = !joined.empty() && joined.back().gpu == piece.gpu &&
                         joined.back().layout == piece.layout && joined.back().end == piece.begin;
    if (goes_on) {
      joined.back().end = piece.end;
    } else {
      joined.push_back(piece);
    }
  }
  return joined;
}

std::string layout_differences(const mig::GpuModel& model, const sim::RunResult& engine,
                               const oracle::Outcome& naive) {
  std::vector<std::string> ours;
  std::vector<std::string> theirs;
  for (const sim::LayoutPiece& piece : joined_layouts(engine)) {
    ours.push_back(layout_text(model, piece.gpu.value, piece.begin, piece.end, piece.layout));
  }
  for (const oracle::LayoutSpan& span : naive.layouts) {
    theirs.push_back(layout_text(model, span.gpu, span.begin, span.end, span.layout));
  }
  if (ours == theirs) return "";
  return fmt::format("  layouts of the engine:\n    {}\n  of the naive simulator:\n    {}\n",
                     fmt::join(ours, "\n    "), fmt::join(theirs, "\n    "));
}

bool nearly_equal(double a, double b) {
  return std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b));
}

std::string job_differences(const sim::RunResult& engine, const oracle::Outcome& naive) {
  std::string text;
  for (std::size_t i = 0; i < naive.jobs.size(); ++i) {
    const sim::JobRecord& ours = engine.job_records[i];
    const oracle::JobOutcome& theirs = naive.jobs[i];
    if (ours.completion == theirs.completion && ours.deadline == theirs.deadline &&
        ours.first_start == theirs.first_start && ours.preemptions == theirs.preemptions &&
        ours.restarts == theirs.restarts) {
      continue;
    }
    text += fmt::format(
        "  j{}: start {}/{} completion {}/{} deadline {}/{} preemptions {}/{} "
        "restarts {}/{}\n",
        i, ours.first_start.count, theirs.first_start.count, ours.completion.count,
        theirs.completion.count, ours.deadline.count, theirs.deadline.count, ours.preemptions,
        theirs.preemptions, ours.restarts, theirs.restarts);
  }
  return text;
}

std::string figure_differences(const sim::RunResult& engine, const oracle::Outcome& naive) {
  std::string text;
  const auto compare = [&](const char* what, double ours, double theirs) {
    if (nearly_equal(ours, theirs)) return;
    text += fmt::format("  {}: engine {:.17g}, naive {:.17g}\n", what, ours, theirs);
  };
  const auto whole = [](std::uint64_t count) { return static_cast<double>(count); };
  compare("energy_j", engine.energy_j, naive.energy_j);
  compare("mean_tardiness_s", engine.mean_tardiness_s, naive.mean_tardiness_s);
  compare("end", engine.end.to_seconds(), naive.end.to_seconds());
  compare("late_jobs", whole(engine.late_jobs), whole(naive.late_jobs));
  compare("events", whole(engine.events), whole(naive.events));
  compare("decisions", whole(engine.decisions), whole(naive.decisions));
  compare("preemptions", whole(engine.preemptions), whole(naive.preemptions));
  compare("repartitions", whole(engine.repartitions), whole(naive.repartitions));
  compare("created", whole(engine.instances_created), whole(naive.instances_created));
  compare("out of memory", whole(engine.out_of_memory), whole(naive.out_of_memory));
  compare("early restarts", whole(engine.early_restarts), whole(naive.early_restarts));
  compare("destroyed", whole(engine.instances_destroyed), whole(naive.instances_destroyed));
  return text;
}

// What the two disagree about; empty when they agree.
std::string disagreement(const cases::Case& each) {
  const oracle::Outcome naive = oracle::simulate(each.trace.jobs, cases::oracle_setup(each));
  if (naive.endless) return "";
  const Result<sim::RunResult> engine = cases::run_engine(each);
  if (!engine.ok() || naive.stuck) {
    if (engine.ok() != naive.stuck) return "";
    return engine.ok() ? "  only the naive simulator is stuck\n"
                       : "  only the engine fails: " + engine.error().message + "\n";
  }
  return piece_differences(cases::model_of(each), pieces_of(*engine), naive.pieces) +
         layout_differences(cases::model_of(each), *engine, naive) +
         job_differences(*engine, naive) + figure_differences(*engine, naive);
}

// Stops at the first case that fails, with everything needed to see it again.
void expect_agreement(cases::Draw draw, std::uint64_t count) {
  for (const std::uint64_t first = draw.seed; draw.seed < first + count; ++draw.seed) {
    const cases::Case each = cases::random_case(draw);
    const std::string difference = disagreement(each);
    if (difference.empty()) continue;
    FAIL() << draw.scheduler << ", case seed " << draw.seed << ":\n"
           << difference << "as a scenario file:\n"
           << cases::to_text(each);
  }
}

std::string test_name(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == '+'; }, '_');
  return name;
}

class NamedScheduler : public testing::TestWithParam<std::string> {};

TEST_P(NamedScheduler, AgreesWithTheNaiveSimulator) {
  expect_agreement({.seed = 1, .scheduler = GetParam()}, kCasesPerScheduler);
}

// With more than 64 slices the free ones no longer fit a machine word, and other code finds them.
TEST_P(NamedScheduler, AgreesWithTheNaiveSimulatorOnLargeFleets) {
  expect_agreement({.seed = 2'000'000,
                    .scheduler = GetParam(),
                    .jobs_max = 100,
                    .gpus_min = 14,
                    .gpus_max = 24,
                    .may_be_stuck = false},
                   kLargeFleets);
}

TEST_P(NamedScheduler, AgreesWithTheNaiveSimulatorWhenMemoryGrows) {
  expect_agreement({.seed = 3'000'000, .scheduler = GetParam(), .memory_grows = true},
                   kCasesWithMemory);
}

// Few slices for many jobs, so that jobs wait, are late and are displaced.
TEST_P(NamedScheduler, AgreesWithTheNaiveSimulatorOnWhatPays) {
  expect_agreement({.seed = 5'000'000,
                    .scheduler = GetParam(),
                    .jobs_max = 90,
                    .gpus_max = 2,
                    .may_be_stuck = false,
                    .preemption = decide::Preemption::Mode::kPays},
                   kCasesThatPay);
}

// With more late jobs than may claim, more waiting ones than are projected, and more slices of a
// profile than a projection keeps.
TEST_P(NamedScheduler, AgreesWithTheNaiveSimulatorOnWhatPaysOnLargeFleets) {
  expect_agreement({.seed = 6'000'000,
                    .scheduler = GetParam(),
                    .jobs_max = 300,
                    .gpus_min = 6,
                    .gpus_max = 16,
                    .may_be_stuck = false,
                    .preemption = decide::Preemption::Mode::kPays},
                   kLargeFleetsThatPay);
}

TEST_P(NamedScheduler, AgreesWithTheNaiveSimulatorOnWhatPaysWhenMemoryGrows) {
  expect_agreement({.seed = 7'000'000,
                    .scheduler = GetParam(),
                    .jobs_max = 50,
                    .gpus_max = 2,
                    .preemption = decide::Preemption::Mode::kPays,
                    .memory_grows = true},
                   kCasesWithMemory / 2);
}

// Or agreement on what pays would say nothing.
TEST(CasesThatPay, InterruptJobsByMovesAndByDisplacements) {
  std::uint64_t runs = 0;
  std::uint64_t preempting = 0;
  for (std::uint64_t seed = 5'000'000; seed < 5'000'000 + kCasesThatPay; ++seed) {
    cases::Case each = cases::random_case({.seed = seed,
                                           .scheduler = "mdd",
                                           .jobs_max = 90,
                                           .gpus_max = 2,
                                           .may_be_stuck = false,
                                           .preemption = decide::Preemption::Mode::kPays});
    if (!each.switches.empty()) continue;  // there layouts interrupt
    ++runs;
    preempting += cases::run_engine(each)->preemptions > 0 ? 1U : 0U;
  }
  EXPECT_GT(runs, kCasesThatPay / 4);
  EXPECT_GT(preempting, runs / 4);
}

std::vector<std::string> scheduler_names() {
  std::vector<std::string> names;
  for (const policies::SchedulerRow& row : policies::schedulers()) names.push_back(row.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Agreement, NamedScheduler, testing::ValuesIn(scheduler_names()),
                         [](const auto& each) { return test_name(each.param); });

class Composition : public testing::TestWithParam<std::string> {};

TEST_P(Composition, OfThisOrderWithEveryPlacementAgreesWithTheNaiveSimulator) {
  std::uint64_t first_seed = 1'000'000;
  for (const policies::PlacementRow& placement : policies::placements()) {
    if (placement.facts.may_wait) continue;  // for layouts made on demand: on_demand_test.cpp
    expect_agreement({.seed = first_seed, .scheduler = GetParam() + "+" + placement.facts.name},
                     kCasesPerComposition);
    first_seed += kCasesPerComposition;
  }
}

// Static layouts may have no slice of the kind a job waits for; then both must say so.
TEST(WaitingPlacement, AgreesWithTheNaiveSimulator) {
  for (const policies::PlacementRow& placement : policies::placements()) {
    if (!placement.facts.may_wait) continue;
    for (const char* order : {"fifo+", "mdd+", "atc+"}) {
      for (const bool memory_grows : {false, true}) {
        expect_agreement({.seed = 4'000'000,
                          .scheduler = order + placement.facts.name,
                          .memory_grows = memory_grows},
                         kCasesOfWaiting);
      }
    }
  }
}

std::vector<std::string> order_names() {
  std::vector<std::string> names;
  for (const policies::OrderRow& row : policies::orders()) names.push_back(row.facts.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Agreement, Composition, testing::ValuesIn(order_names()),
                         [](const auto& each) { return test_name(each.param); });

}  // namespace
}  // namespace partita
