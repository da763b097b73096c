// Eight users, one of whom floods the queue: what the others get, and when their jobs are done.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "base/rng.h"
#include "checker/schedule_checker.h"
#include "policies/registry.h"
#include "sim/engine.h"

namespace partita {
namespace {

using decide::FairOrder;
using Mode = decide::Preemption::Mode;

constexpr std::uint32_t kUsers = 8;
constexpr std::uint32_t kFlooder = 3;
constexpr std::uint32_t kGpus = 2;
constexpr Micros kHour = Micros::seconds(3600);
constexpr std::uint64_t kSeeds = 3;
// The longest job of the flood: at least once in so long a slice becomes free, and the next job is
// chosen.
constexpr double kFloodSecondsMax = 40;

struct Policy {
  const char* scheduler;
  const char* repartition;
  Mode mode = Mode::kNone;
  int instances = 7;  // of a GPU, as jobs find them
};

workload::Trace empty_trace() {
  workload::Trace trace;
  trace.class_index("job");
  for (std::uint32_t i = 0; i < kUsers; ++i) trace.user_names.push_back(fmt::format("user{}", i));
  return trace;
}

// Every user but the flooder has a load of `load` times the share of one user, in jobs of 10 to
// 60 s; the flood is 20 jobs every 10 s from the beginning, several times what the fleet can do.
workload::Trace shared_day(std::uint64_t seed, int instances, double load, bool flood, double slack,
                           Micros flood_from = {}, Micros end = kHour) {
  constexpr double kMeanSeconds = 35;
  struct Row {
    workload::Job job;
    std::uint32_t user;
  };
  std::vector<Row> rows;
  const auto add = [&](std::uint32_t user, double at, double seconds, double spare) {
    workload::Job job;
    job.arrival = micros_from_seconds(at);
    job.deadline = micros_from_seconds(at + seconds + spare);
    for (Micros& time : job.time) time = micros_from_seconds(seconds);
    job.memory_gib = 4;
    rows.push_back({job, user});
  };
  const double rate = load * kGpus * instances / kUsers / kMeanSeconds;
  for (std::uint32_t user = 0; user < kUsers; ++user) {
    Rng rng(seed, user + 1);
    if (user == kFlooder) {
      for (double at = flood_from.to_seconds(); flood && at < end.to_seconds(); at += 10) {
        for (int i = 0; i < 20; ++i) add(user, at, rng.uniform(20, kFloodSecondsMax), 30);
      }
      continue;
    }
    for (double at = rng.exponential(1 / rate); at < end.to_seconds();
         at += rng.exponential(1 / rate)) {
      add(user, at, rng.uniform(10, 60), slack * rng.uniform(0.5, 1.5));
    }
  }
  std::ranges::stable_sort(rows, {}, [](const Row& row) { return row.job.arrival; });
  workload::Trace trace = empty_trace();
  for (const Row& row : rows) {
    trace.add(row.job, std::to_string(trace.jobs.size()));
    trace.set_owner({row.user, 0});
  }
  return trace;
}

sim::RunOptions options_for(const Policy& policy, FairOrder order) {
  sim::RunOptions options;
  options.model = *mig::find_gpu("a100-40gb");
  options.power = &options.model->power_curves.front();
  options.gpus = kGpus;
  options.preemption = {policy.mode, Micros::seconds(policy.mode == Mode::kNone ? 0 : 5)};
  options.keep_jobs = options.keep_schedule = true;
  options.queue.fair_share = order;
  options.queue.half_life = kHour;
  options.queue.reserve_after = Micros::seconds(900);
  return options;
}

sim::RunResult run(const workload::Trace& trace, const Policy& policy,
                   const sim::RunOptions& options) {
  const auto scheduler = policies::make_scheduler(policy.scheduler, 1);
  const auto forecasts = policies::make_scheduler(policy.scheduler, 1);
  const auto layouts = policies::make_repartitioner(policy.repartition, *options.model, kGpus);
  CHECK(scheduler.ok() && layouts.ok());
  sim::RunExtras extras;
  extras.forecast_scheduler = forecasts->get();
  extras.make_scheduler = [&] { return *policies::make_scheduler(policy.scheduler, 1); };
  auto result = sim::simulate(trace, options, **scheduler, **layouts, extras);
  CHECK(result.ok());
  const auto wrong = checker::violations(trace, options, *result, {});
  EXPECT_TRUE(wrong.empty()) << wrong.front();
  return *std::move(result);
}

// Each user's part of the slices that were in use in an hour, the first unless it is said.
std::array<double, kUsers> shares(const workload::Trace& trace, const sim::RunResult& result,
                                  Micros from = {}) {
  std::array<double, kUsers> used{};
  double all = 0;
  const mig::GpuModel& model = **mig::find_gpu("a100-40gb");
  for (const sim::SchedulePiece& piece : result.schedule) {
    const Micros begin = std::max(piece.begin, from);
    const Micros end = std::min(piece.end, from + kHour);
    if (end <= begin) continue;
    const double slices = model.profiles[piece.profile].compute_slices;
    const double slice_seconds = slices * (end - begin).to_seconds();
    used[trace.owners[piece.id.value].user] += slice_seconds;
    all += slice_seconds;
  }
  for (double& each : used) each /= all;
  return used;
}

double worst_share_error(const std::array<double, kUsers>& shares) {
  double worst = 0;
  for (std::uint32_t user = 0; user < kUsers; ++user) {
    if (user != kFlooder) worst = std::max(worst, std::abs(shares[user] * kUsers - 1));
  }
  return worst;
}

class Sharing : public testing::TestWithParam<Policy> {};

TEST_P(Sharing, EveryUserWithEnoughToDoGetsTheirShareOfAnHourWithinATenth) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const workload::Trace trace = shared_day(seed, GetParam().instances, 2, true, 600);
    for (const FairOrder order : {FairOrder::kSliceSeconds, FairOrder::kJoules}) {
      const auto result = run(trace, GetParam(), options_for(GetParam(), order));
      EXPECT_LT(worst_share_error(shares(trace, result)), 0.1)
          << "seed " << seed << ", order " << static_cast<int>(order);
    }
    const auto unshared = run(trace, GetParam(), options_for(GetParam(), FairOrder::kOff));
    EXPECT_GT(worst_share_error(shares(trace, unshared)), 0.1) << "seed " << seed;
  }
}

// By how much jobs are late, at most, that were on time without the flood.
Micros most_late(const workload::Trace& with, const sim::RunResult& flooded,
                 const workload::Trace& without, const sim::RunResult& calm) {
  Micros most;
  std::uint32_t other = 0;
  for (std::uint32_t i = 0; i < with.jobs.size(); ++i) {
    if (with.owners[i].user == kFlooder) continue;
    CHECK(with.jobs[i] == without.jobs[other]);
    const sim::JobRecord& before = calm.job_records[other++];
    if (before.completion > before.deadline) continue;
    most = std::max(most, flooded.job_records[i].completion - flooded.job_records[i].deadline);
  }
  return most;
}

TEST_P(Sharing, ADeadlineThatCouldBeMetWithoutTheFloodIsMissedByOneIntervalAtMost) {
  Micros most_unshared;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const workload::Trace with = shared_day(seed, GetParam().instances, 0.5, true, 60);
    const workload::Trace without = shared_day(seed, GetParam().instances, 0.5, false, 60);
    const sim::RunOptions options = options_for(GetParam(), FairOrder::kSliceSeconds);
    const auto calm = run(without, GetParam(), options);
    const auto flooded = run(with, GetParam(), options);
    EXPECT_LE(most_late(with, flooded, without, calm).to_seconds(), kFloodSecondsMax)
        << "seed " << seed;
    const auto unshared = run(with, GetParam(), options_for(GetParam(), FairOrder::kOff));
    most_unshared = std::max(most_unshared, most_late(with, unshared, without, calm));
  }
  EXPECT_GT(most_unshared.to_seconds(), kFloodSecondsMax);
}

INSTANTIATE_TEST_SUITE_P(Shipped, Sharing,
                         testing::Values(Policy{"fifo", "static:12"}, Policy{"mdd", "static:12"},
                                         Policy{"fifo+tightest", "migm-b"},
                                         Policy{"fifo+requested", "ondemand"},
                                         Policy{"edf-ss", "static:12", Mode::kPays},
                                         Policy{"mdd", "static:9", Mode::kNone, 4},
                                         Policy{"atc", "static:12", Mode::kFree},
                                         Policy{"fifo", "static:12", Mode::kCost}),
                         [](const auto& each) {
                           std::string name =
                               fmt::format("{}_{}_{}", each.param.scheduler, each.param.repartition,
                                           static_cast<int>(each.param.mode));
                           std::ranges::replace_if(
                               name, [](char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

TEST(Priority, HigherOnesAreServedFirstWhoeverHasThem) {
  workload::Trace trace = empty_trace();
  for (std::uint32_t i = 0; i < 60; ++i) {
    workload::Job job;
    job.deadline = Micros::seconds(100'000);
    for (Micros& time : job.time) time = Micros::seconds(10);
    trace.add(job, std::to_string(i));
    trace.set_owner({i % kUsers, static_cast<std::int32_t>(i / 20)});
  }
  const Policy policy{"fifo", "static:12"};
  for (const FairOrder order : {FairOrder::kPriority, FairOrder::kSliceSeconds}) {
    const auto result = run(trace, policy, options_for(policy, order));
    const auto last_start = [&](std::uint32_t from) {
      Micros last;
      for (std::uint32_t i = from; i < from + 20; ++i) {
        last = std::max(last, result.job_records[i].first_start);
      }
      return last;
    };
    for (std::uint32_t i = 0; i < 40; ++i) {
      EXPECT_GE(result.job_records[i].first_start, last_start(i < 20 ? 20 : 40));
    }
  }
}

TEST(Shares, AUserWithTwiceTheShareGetsTwiceAsMuch) {
  const workload::Trace trace = shared_day(1, 7, 3, true, 600);
  const Policy policy{"fifo", "static:12"};
  sim::RunOptions options = options_for(policy, FairOrder::kSliceSeconds);
  options.queue.weights = {{"user1", 2}};
  const auto found = shares(trace, run(trace, policy, options));
  for (std::uint32_t user = 0; user < kUsers; ++user) {
    EXPECT_NEAR(found[user] * (kUsers + 1), user == 1 ? 2 : 1, 0.1) << user;
  }
}

// Somebody with no past is behind everybody in usage, and still cannot take everything at once.
TEST(Shares, AFloodThatBeginsAfterAnHourLeavesTheOthersTheirsInTheNext) {
  const Policy policy{"fifo", "static:12"};
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const workload::Trace trace = shared_day(seed, 7, 2, true, 600, kHour, kHour + kHour);
    const auto result = run(trace, policy, options_for(policy, FairOrder::kSliceSeconds));
    EXPECT_LT(worst_share_error(shares(trace, result, kHour)), 0.1) << "seed " << seed;
  }
}

TEST(Usage, IsReportedForEachUserAndSumsToWhatRan) {
  const workload::Trace trace = shared_day(2, 4, 0.5, false, 60);
  const Policy policy{"mdd", "static:9"};
  const sim::RunOptions options = options_for(policy, FairOrder::kOff);
  const auto result = run(trace, policy, options);
  ASSERT_EQ(result.users.size(), kUsers - 1);
  double slice_seconds = 0;
  double share = 0;
  for (const sim::UserUsage& user : result.users) {
    slice_seconds += user.usage;
    share += user.share;
    EXPECT_DOUBLE_EQ(user.fair_share, 1.0 / (kUsers - 1));
  }
  EXPECT_NEAR(share, 1, 1e-9);
  const double held = result.compute_utilisation * result.end.to_seconds() * kGpus * 7;
  EXPECT_NEAR(slice_seconds, held, 1e-6 * held);
}

TEST(Usage, TheSameSeedGivesTheSameBytes) {
  const workload::Trace trace = shared_day(5, 4, 1, true, 100);
  const Policy policy{"mdd", "static:9", Mode::kPays};
  const sim::RunOptions options = options_for(policy, FairOrder::kJoules);
  const auto once = run(trace, policy, options);
  const auto again = run(trace, policy, options);
  EXPECT_EQ(once.energy_j, again.energy_j);
  EXPECT_EQ(once.mean_tardiness_s, again.mean_tardiness_s);
  EXPECT_EQ(once.events, again.events);
}

}  // namespace
}  // namespace partita
