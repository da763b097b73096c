// SMART-MIG's program on its own setting, 50 jobs on four GPUs, and on its days cut to 50 jobs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

#include "bounds/exact/tardiness_mip.h"
#include "bounds/report.h"
#include "experiment/day_source.h"
#include "mig/gpu_model.h"

namespace partita::bounds {
namespace {

constexpr std::uint64_t kProblems = 10;
constexpr double kSecondsMax = 10;
constexpr std::size_t kJobs = 50;

Problem problem_of(const Result<workload::Trace>& trace, std::uint32_t gpus) {
  const mig::GpuModel* model = *mig::find_gpu("a100-40gb");
  return *make_problem(*trace, {model, &model->power_curves.front(), gpus, Micros{}});
}

Problem fifty_jobs(std::uint64_t seed, bool linear) {
  workload::PoissonOptions options;
  options.jobs = kJobs;
  const experiment::DaySource mixed = experiment::poisson_days(options);
  return problem_of(linear ? experiment::linearised(mixed).make(seed) : mixed.make(seed), 4);
}

// The first 50 jobs that arrive at or after noon of a smart-mig day at rate 20.
Problem fifty_jobs_of_a_day(std::uint64_t seed, std::uint32_t gpus, bool linear) {
  const experiment::DaySource days = experiment::papers_days({});
  const auto day = linear ? experiment::linearised(days).make(seed) : days.make(seed);
  workload::Trace cut;
  cut.class_names = day->class_names;
  for (const workload::Job& job : day->jobs) {
    const Micros noon = Micros::seconds(12 * 3600);
    if (job.arrival < noon || cut.jobs.size() == kJobs) continue;
    workload::Job moved = job;
    moved.arrival = job.arrival - noon;
    moved.deadline = job.deadline - noon;
    cut.add(moved, std::to_string(cut.jobs.size()));
  }
  return problem_of(cut, gpus);
}

// In sums of seconds: what is reported without the program, what our tree proves of the program,
// and what Cbc does.
struct Sums {
  double ours = 0;
  double tree = 0;
  double incumbent = 0;  // no less than the optimum of the program
  bool tree_solved = false;
  MipBound program;
};

double seconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

Sums bounds_of(const Problem& problem, const SlotProgram& program) {
  Request request;
  request.kinds = {Kind::kTardiness};
  request.use_mip = false;
  const BoundReport report = find_bounds(problem, request);
  Sums sums;
  sums.ours = report.best(Kind::kTardiness)->value * static_cast<double>(problem.jobs.size());
  const double end = seconds_now() + kSecondsMax;
  TreeEffort effort;
  effort.seconds_left = [end] { return end - seconds_now(); };
  const TreeFound found = search_tree(program, effort);
  const Result<double> proven = proven_tardiness_s(problem, found.tree);
  EXPECT_TRUE(proven.ok());
  sums.tree = proven ? *proven : 0;
  sums.incumbent = found.incumbent_s;
  sums.tree_solved = found.end == TreeEnd::kOptimal;
  sums.program = cbc_tardiness(program, kSecondsMax);
  return sums;
}

void print(std::string_view what, std::uint64_t seed, const Sums& sums) {
  fmt::print(
      "{}, seed {}: without the program {:.1f} s; slots of {:.1f} s: our tree {:.1f} s{}, best "
      "solution {:.1f} s, Cbc {:.1f} s ({})\n",
      what, seed, sums.ours, sums.program.slot_s, sums.tree, sums.tree_solved ? " (optimal)" : "",
      sums.incumbent, sums.program.total_s, name_of(sums.program.status));
}

// What the program's optimum is known to be at most and at least, and that what is reported is
// within two slots a job of it. True if the optimum is known.
bool expect_within_two_slots(const Problem& problem, const Sums& sums) {
  const double missed = 2 * static_cast<double>(problem.jobs.size()) * sums.program.slot_s;
  // What is taken off Cbc's value for its tolerances: a millionth of all there is to charge.
  const double span = static_cast<double>(problem.jobs.size()) * slots_end(problem) * 1e-6;
  const double slack = 1e-4 * (1 + sums.incumbent) + 2e-6 * span;
  const double reported = std::max(sums.ours, sums.tree);
  EXPECT_GE(reported, sums.program.total_s - missed);
  EXPECT_LE(sums.program.total_s, sums.incumbent + slack);
  EXPECT_LE(sums.tree, sums.incumbent + slack);
  const bool cbc_solved = sums.program.status == MipStatus::kOptimal;
  if (cbc_solved) {
    EXPECT_LE(sums.tree, sums.program.total_s + slack);
  }
  if (!cbc_solved && !sums.tree_solved) return false;
  const double optimum = cbc_solved ? sums.program.total_s : sums.tree;
  EXPECT_GE(reported, optimum - missed);
  return true;
}

// With slots of a size for which the program can be solved; what is asked scales with them.
SlotProgram coarse_program(const Problem& problem, std::size_t slots) {
  const double slot = slots_end(problem) / static_cast<double>(slots);
  return slot_program(problem, static_cast<std::int64_t>(slot) + 1, slots);
}

// Lightly and heavily loaded: 8 and 3 GPUs; with jobs as they are, and linear ones.
TEST(TheProgramOfFiftyJobs, IsWithinTwoSlotsAJobOfWhatIsReportedOnCutDays) {
  int solved = 0;
  int all = 0;
  for (const std::uint32_t gpus : {8u, 3u}) {
    for (const bool linear : {false, true}) {
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const Problem problem = fifty_jobs_of_a_day(seed, gpus, linear);
        ASSERT_EQ(problem.jobs.size(), kJobs);
        const Sums sums = bounds_of(problem, coarse_program(problem, 24));
        print(fmt::format("{} GPUs, {} jobs", gpus, linear ? "linear" : "mixed"), seed, sums);
        ++all;
        solved += expect_within_two_slots(problem, sums) ? 1 : 0;
      }
    }
  }
  fmt::print("{} of {} programs were solved\n", solved, all);
  EXPECT_GE(solved, all / 4);
}

// For linear jobs the program misses at most two slots a job of the optimum, which no bound
// exceeds; and ours alone comes as near.
TEST(TheProgramOfFiftyJobs, IsWithinTwoSlotsAJobOfWhatIsReportedForLinearJobs) {
  int solved = 0;
  for (std::uint64_t seed = 1; seed <= kProblems; ++seed) {
    const Problem problem = fifty_jobs(seed, true);
    const Sums sums = bounds_of(problem, mip_program(problem, 1));
    print("linear", seed, sums);
    // The best solution of the program is no less than its optimum: near it is near both.
    const double missed = 2 * kJobs * sums.program.slot_s;
    EXPECT_GE(std::max(sums.ours, sums.tree), sums.incumbent - missed) << seed;
    solved += expect_within_two_slots(problem, sums) ? 1 : 0;
  }
  fmt::print("{} of {} programs were solved\n", solved, kProblems);
  EXPECT_GT(solved, 0);
}

// The program takes jobs for linear; prices know better.
TEST(TheProgramOfFiftyJobs, ProvesLessThanWhatIsReportedForMixedJobs) {
  double ours = 0;
  double program = 0;
  for (std::uint64_t seed = 1; seed <= kProblems; ++seed) {
    const Problem problem = fifty_jobs(seed, false);
    const Sums sums = bounds_of(problem, mip_program(problem, 1));
    print("mixed", seed, sums);
    expect_within_two_slots(problem, sums);
    ours += sums.ours;
    program += sums.program.total_s;
  }
  EXPECT_GT(ours, program);
}

}  // namespace
}  // namespace partita::bounds
