// Defragmentation: jobs that can be resumed make space for one that needs a larger slice, where
// that pays.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "checker/schedule_checker.h"
#include "policies/registry.h"
#include "sim/engine.h"

namespace partita {
namespace {

using Mode = decide::Preemption::Mode;

constexpr std::int64_t kHour = 3'600;

sim::RunOptions options_for(std::uint32_t gpus, Mode mode, std::int64_t cost_s) {
  sim::RunOptions options;
  options.model = *mig::find_gpu("a100-40gb");
  options.power = &options.model->power_curves.front();
  options.gpus = gpus;
  options.preemption = {mode, Micros::seconds(cost_s)};
  options.keep_jobs = options.keep_schedule = true;
  options.measure_fragmentation = true;
  return options;
}

Result<sim::RunResult> run(const workload::Trace& trace, const sim::RunOptions& options,
                           const std::string& scheduler, const std::string& repartition) {
  const auto order = policies::make_scheduler(scheduler, 1);
  const auto layouts = policies::make_repartitioner(repartition, *options.model, options.gpus);
  return sim::simulate(trace, options, **order, **layouts);
}

// Runs on this size only, for so long.
workload::Job job_on(int size, std::int64_t arrival_s, std::int64_t seconds) {
  workload::Job job;
  job.time.fill(workload::kNoTime);
  job.time[*workload::slice_size_index(size)] = Micros::seconds(seconds);
  job.arrival = Micros::seconds(arrival_s);
  job.deadline = job.arrival + Micros::seconds(2 * seconds);
  return job;
}

// Two GPUs, a long 3g job on the one and a long 1g job on the other, and a job that needs a whole
// GPU: 10 of 14 compute slices are idle.
class TwoGpusInPieces : public testing::Test {
 protected:
  TwoGpusInPieces() {
    add(job_on(4, 0, kHour));          // fills GPU 0 together with the next
    add(job_on(3, 0, 12 * kHour));     // stays there
    add(job_on(1, 1, 10 * kHour));     // so it goes to GPU 1
    add(job_on(7, 2 * kHour, kHour));  // needs a whole GPU
  }
  void add(workload::Job job) {
    job.job_class = trace_.class_index("any");
    trace_.add(job, fmt::format("j{}", trace_.jobs.size()));
  }
  sim::RunResult result(Mode mode, std::int64_t cost_s = 30) {
    options_ = options_for(2, mode, cost_s);
    return *run(trace_, options_, "fifo+requested", "ondemand");
  }
  static double waits_s(const sim::RunResult& result) {
    return (result.job_records[3].first_start - Micros::seconds(2 * kHour)).to_seconds();
  }

  workload::Trace trace_;
  sim::RunOptions options_;
};

TEST_F(TwoGpusInPieces, WithoutMovingTheLargeJobWaitsForHours) {
  const sim::RunResult without = result(Mode::kNone);
  EXPECT_GT(waits_s(without), 8 * kHour);
  EXPECT_GT(without.fragmentation, 0.99);
}

TEST_F(TwoGpusInPieces, MovingOneSmallJobLetsTheLargeOneStartAtOnce) {
  const sim::RunResult with = result(Mode::kPays);
  EXPECT_LT(waits_s(with), 5);  // one instance unmade, one made
  EXPECT_EQ(with.preemptions, 1U);
  EXPECT_EQ(with.job_records[2].preemptions, 1U);
  // It pays the restart and the making of its new instance, no more.
  const double late_s = with.job_records[2].completion.to_seconds() -
                        result(Mode::kNone).job_records[2].completion.to_seconds();
  EXPECT_GT(late_s, 30);
  EXPECT_LT(late_s, 35);
  EXPECT_TRUE(checker::violations(trace_, options_for(2, Mode::kPays, 30), with, {}).empty());
}

TEST_F(TwoGpusInPieces, AJobThatCannotBeResumedIsNotMoved) {
  trace_.jobs[2].resumable = false;
  trace_.jobs[1].resumable = false;
  const sim::RunResult with = result(Mode::kPays);
  EXPECT_EQ(with.preemptions, 0U);
  EXPECT_GT(waits_s(with), 8 * kHour);
}

TEST_F(TwoGpusInPieces, TheOtherJobIsMovedWhenTheCheapestCannotBe) {
  trace_.jobs[2].resumable = false;
  const sim::RunResult with = result(Mode::kPays);
  EXPECT_EQ(with.job_records[1].preemptions, 1U);
  EXPECT_LT(waits_s(with), 5);
}

// The wait is 8 hours: a third of it is the margin's edge, since 3c has to be less.
TEST_F(TwoGpusInPieces, NothingMovesWhenTheWaitCostsLess) {
  EXPECT_EQ(result(Mode::kPays, 3 * kHour).preemptions, 0U);
  trace_.jobs[2].time[0] = Micros::seconds(2 * kHour + 60);  // gone a minute later
  EXPECT_EQ(result(Mode::kPays).preemptions, 0U);
}

TEST_F(TwoGpusInPieces, OtherModesMoveNobodyForSpace) {
  for (const Mode mode : {Mode::kFree, Mode::kCost, Mode::kNone}) {
    const sim::RunResult other = result(mode);
    EXPECT_EQ(other.preemptions, 0U);
    EXPECT_GT(waits_s(other), 8 * kHour);
  }
}

TEST_F(TwoGpusInPieces, MovesCanBeSwitchedOff) {
  options_ = options_for(2, Mode::kPays, 30);
  const auto off = run(trace_, options_, "fifo+requested", "ondemand:first-fit,no-moves");
  ASSERT_TRUE(off.ok());
  EXPECT_EQ(off->preemptions, 0U);
  EXPECT_GT(waits_s(*off), 8 * kHour);
}

// The small job came first, and would be first to get the space that it left.
TEST_F(TwoGpusInPieces, SpaceIsKeptForTheJobItWasMadeFor) {
  trace_ = {};
  add(job_on(4, 0, kHour));
  add(job_on(3, 0, 12 * kHour));
  add(job_on(3, 1, 12 * kHour));     // GPU 1
  add(job_on(4, 2 * kHour, kHour));  // GPU 0 again, for an hour
  add(job_on(7, 2 * kHour + 60, kHour));
  const sim::RunResult with = result(Mode::kPays);
  // While GPU 0 is full nobody can move; then its 3g or the other's goes, once.
  EXPECT_EQ(with.preemptions, 1U);
  EXPECT_LT(with.job_records[4].first_start, Micros::seconds(3 * kHour + 10));
}

// A job that was moved gets on for ten times the cost before it is moved again.
TEST_F(TwoGpusInPieces, AJobIsNotMovedAgainAtOnce) {
  for (int i = 0; i < 20; ++i) add(job_on(7, 2 * kHour + 61 + i, 30));
  const sim::RunResult with = result(Mode::kPays);
  EXPECT_LE(with.job_records[2].preemptions, 2U);
  EXPECT_EQ(with.jobs, trace_.jobs.size());
}

struct Setup {
  const char* scheduler;
  const char* repartition;
};

class AnyDay : public testing::TestWithParam<Setup> {
 protected:
  // Jobs of all sizes, from minutes to hours; half of them cannot be resumed on every second day.
  static workload::Trace random_day(std::uint64_t seed) {
    Rng rng(seed);
    workload::Trace trace;
    const auto job_class = trace.class_index("any");
    double at_s = 0;
    for (int i = 0; i < 120; ++i) {
      at_s += rng.uniform(0, 1'500);
      const double whole_s = std::exp(rng.uniform(4.5, 9.5));
      const double serial = rng.uniform();
      workload::Job job;
      job.job_class = job_class;
      job.arrival = micros_from_seconds(at_s);
      const auto least = rng.below(workload::kSliceSizeCount);
      for (std::size_t size = 0; size < job.time.size(); ++size) {
        const double share = serial + (1 - serial) / workload::kSliceSizes[size];
        job.time[size] = size < least ? workload::kNoTime : micros_from_seconds(whole_s * share);
      }
      job.deadline = job.arrival + micros_from_seconds(whole_s * rng.uniform(0.3, 2));
      job.memory_gib = static_cast<float>(rng.uniform(0, 12));
      job.resumable = seed % 2 == 0 || rng.below(2) == 0;
      trace.add(job, fmt::format("j{}", i));
    }
    return trace;
  }
};

// The piece ended because its instance did.
bool moved_by_layout(const sim::SchedulePiece& piece, const sim::RunResult& result) {
  const mig::Placement placement{piece.profile, cluster::start_of(piece.slice)};
  for (const sim::LayoutPiece& layout : result.layouts) {
    const bool after = layout.gpu == cluster::gpu_of(piece.slice) && layout.begin <= piece.end &&
                       piece.end < layout.end;
    if (after) return !layout.layout.contains(placement);
  }
  return true;
}

TEST_P(AnyDay, KeepsEveryRuleAndEndsEveryJob) {
  std::uint64_t moves = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const workload::Trace trace = random_day(seed);
    const std::int64_t cost_s = std::array{0, 5, 30, 300}[seed % 4];
    const sim::RunOptions options =
        options_for(static_cast<std::uint32_t>(2 + seed % 3), Mode::kPays, cost_s);
    const auto result = run(trace, options, GetParam().scheduler, GetParam().repartition);
    ASSERT_TRUE(result.ok()) << "day " << seed << ": " << result.error().message;
    ASSERT_EQ(result->jobs, trace.jobs.size());
    const auto found = checker::violations(trace, options, *result, {});
    ASSERT_TRUE(found.empty()) << "day " << seed << ": " << found.front();
    for (const sim::JobRecord& job : result->job_records) {
      ASSERT_TRUE(trace.jobs[job.id.value].resumable || job.preemptions == 0) << "day " << seed;
    }
    for (const sim::SchedulePiece& piece : result->schedule) {
      if (piece.end == result->job_records[piece.id.value].completion) continue;
      if (!moved_by_layout(piece, *result)) continue;
      ++moves;
      const double making_s = options.model->change_seconds[piece.profile].create;
      ASSERT_GE((piece.end - piece.begin).to_seconds(),
                10 * (static_cast<double>(cost_s) + making_s))
          << "day " << seed << ", job " << piece.id.value;
    }
  }
  EXPECT_GT(moves, 20U);  // or nothing was tested
}

TEST_P(AnyDay, GivesTheSameBytesForTheSameSeed) {
  const workload::Trace trace = random_day(8);
  const sim::RunOptions options = options_for(3, Mode::kPays, 30);
  const auto once = run(trace, options, GetParam().scheduler, GetParam().repartition);
  const auto again = run(trace, options, GetParam().scheduler, GetParam().repartition);
  ASSERT_TRUE(once.ok() && again.ok());
  EXPECT_EQ(once->energy_j, again->energy_j);
  EXPECT_EQ(once->et, again->et);
  EXPECT_EQ(once->fragmentation, again->fragmentation);
  EXPECT_EQ(once->schedule.size(), again->schedule.size());
}

std::string name_of(const testing::TestParamInfo<Setup>& each) {
  std::string name = fmt::format("{}On{}", each.param.scheduler, each.param.repartition);
  std::erase_if(name, [](char c) { return std::isalnum(c) == 0; });
  return name;
}

INSTANTIATE_TEST_SUITE_P(Repartitioners, AnyDay,
                         testing::Values(Setup{"fifo+requested", "ondemand"},
                                         Setup{"edf+requested", "ondemand:least-fragmenting"},
                                         Setup{"fifo+half-speed", "ondemand:half-speed"}),
                         name_of);

}  // namespace
}  // namespace partita
