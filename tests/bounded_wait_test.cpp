// No job waits for ever: under any policy, every job of a flood starts within a bound that depends
// on the jobs before it and on no job after it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/check.h"
#include "base/rng.h"
#include "cases/random_case.h"
#include "checker/schedule_checker.h"
#include "policies/registry.h"
#include "policies/repartitioners/static_layouts.h"
#include "policies/repartitioners/timetable.h"
#include "sim/engine.h"

namespace partita {
namespace {

constexpr Micros kAfter = Micros::seconds(30);
constexpr Micros kFlood = Micros::seconds(900);
constexpr std::uint64_t kSeeds = 5;

struct Policy {
  const char* scheduler;
  const char* repartition;
};

void PrintTo(const Policy& policy, std::ostream* out) {
  *out << policy.scheduler << "/" << policy.repartition;
}

struct Flood {
  workload::Trace trace;
  sim::RunOptions options;
  std::vector<std::uint32_t> large;  // jobs that the flood could starve
};

workload::Job job_of(Micros arrival, double gib, double seconds, double slack) {
  workload::Job job;
  job.arrival = arrival;
  job.deadline = arrival + micros_from_seconds(slack * seconds);
  for (Micros& time : job.time) time = micros_from_seconds(seconds);
  job.memory_gib = static_cast<float>(gib);
  return job;
}

// Short jobs for the smallest slices, a little more than all of them could serve, and now and then
// one that needs much more memory or time, with and without a deadline worth the name.
Flood random_flood(std::uint64_t seed) {
  Rng rng(seed, 11);
  Flood flood;
  sim::RunOptions& options = flood.options;
  options.model = *mig::find_gpu("a100-40gb");
  options.power = &options.model->power_curves.front();
  options.gpus = 1 + static_cast<std::uint32_t>(rng.below(3));
  const auto mode = static_cast<decide::Preemption::Mode>(rng.below(4));
  const bool costs =
      mode == decide::Preemption::Mode::kCost || mode == decide::Preemption::Mode::kPays;
  options.preemption = {mode, costs ? Micros::seconds(2) : Micros{}};
  options.keep_jobs = options.keep_schedule = true;
  const double gap_s = 2.0 / 7 / options.gpus;
  Micros next_large = Micros::seconds(static_cast<std::int64_t>(5 + rng.below(60)));
  flood.trace.class_index("job");
  for (double now_s = 0; now_s < kFlood.to_seconds(); now_s += gap_s * rng.uniform(0.5, 1.45)) {
    const Micros now = micros_from_seconds(now_s);
    const auto number = std::to_string(flood.trace.jobs.size());
    if (now >= next_large) {
      flood.large.push_back(static_cast<std::uint32_t>(flood.trace.jobs.size()));
      const double gib = rng.below(4) == 0 ? 4 : rng.uniform(11, 38);
      flood.trace.add(job_of(now, gib, rng.uniform(4, 8), rng.below(2) == 0 ? 8 : 1e4), number);
      next_large = now + Micros::seconds(static_cast<std::int64_t>(60 + rng.below(200)));
      continue;
    }
    flood.trace.add(job_of(now, rng.uniform(1, 4.5), rng.uniform(1.5, 2.5), 20), number);
  }
  return flood;
}

Result<sim::RunResult> run(const Flood& flood, const Policy& policy,
                           std::optional<Micros> reserve_after) {
  sim::RunOptions options = flood.options;
  options.queue.reserve_after = reserve_after;
  const auto scheduler = policies::make_scheduler(policy.scheduler, 1);
  const auto forecasts = policies::make_scheduler(policy.scheduler, 1);
  const auto layouts =
      policies::make_repartitioner(policy.repartition, *options.model, options.gpus);
  if (!scheduler) return scheduler.error();
  if (!layouts) return layouts.error();
  sim::RunExtras extras;
  extras.forecast_scheduler = forecasts->get();
  return sim::simulate(flood.trace, options, **scheduler, **layouts, extras);
}

// From when a place is reserved until it can be reserved again: it is left by the longest job, the
// GPU changes every instance, and the longest job runs there.
Micros turn_of(const Flood& flood) {
  Micros longest;
  for (const workload::Job& job : flood.trace.jobs) longest = std::max(longest, job.time[0]);
  double change_s = 0;
  for (const mig::ChangeSeconds& each : flood.options.model->change_seconds) {
    change_s = std::max({change_s, each.create, each.destroy});
  }
  constexpr int kStepsMax = 16;  // eight instances go, eight come
  return longest + longest + flood.options.preemption.cost + flood.options.preemption.cost +
         micros_from_seconds(kStepsMax * change_s);
}

// Those of the jobs that have waited beyond the bound: patience, and a turn for each job that
// waited when this one came, for itself, and for one that got a place early.
std::vector<std::uint32_t> beyond_bound(const Flood& flood, const sim::RunResult& result,
                                        const std::vector<std::uint32_t>& jobs) {
  const Micros turn = turn_of(flood);
  std::vector<std::uint32_t> late;
  for (const std::uint32_t job : jobs) {
    const Micros arrival = flood.trace.jobs[job].arrival;
    const auto ahead =
        std::count_if(result.job_records.begin(), result.job_records.begin() + job,
                      [&](const sim::JobRecord& each) { return each.first_start > arrival; });
    const Micros bound = kAfter + Micros{(ahead + 2) * turn.count};
    if (result.job_records[job].first_start > arrival + bound) late.push_back(job);
  }
  return late;
}

std::vector<std::uint32_t> all_jobs(const Flood& flood) {
  std::vector<std::uint32_t> jobs(flood.trace.jobs.size());
  for (std::uint32_t i = 0; i < jobs.size(); ++i) jobs[i] = i;
  return jobs;
}

class EveryPolicy : public testing::TestWithParam<Policy> {};

TEST_P(EveryPolicy, StartsEveryJobWithinTheBound) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Flood flood = random_flood(seed);
    const auto result = run(flood, GetParam(), kAfter);
    ASSERT_TRUE(result.ok()) << "seed " << seed << ": " << result.error().message;
    sim::RunOptions options = flood.options;
    options.queue.reserve_after = kAfter;
    const auto wrong = checker::violations(flood.trace, options, *result, {});
    ASSERT_TRUE(wrong.empty()) << "seed " << seed << ": " << wrong.front();
    const auto late = beyond_bound(flood, *result, all_jobs(flood));
    ASSERT_TRUE(late.empty()) << fmt::format(
        "seed {}, preemption {}: job {} came at {} s and began at {} s; {} such", seed,
        static_cast<int>(flood.options.preemption.mode), late.front(),
        flood.trace.jobs[late.front()].arrival.to_seconds(),
        result->job_records[late.front()].first_start.to_seconds(), late.size());
    EXPECT_GT(result->reservations, 0U) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shipped, EveryPolicy,
    testing::Values(Policy{"fifo+tightest", "migm-b"}, Policy{"fifo", "migm-b"},
                    Policy{"mdd+tightest", "migm-b"}, Policy{"mdd+slowest", "ondemand"},
                    Policy{"fifo+requested", "ondemand"},
                    Policy{"edf+half-speed", "ondemand:half-speed"}, Policy{"mdd", "static:2"},
                    Policy{"sjf", "static:12"}, Policy{"sjf", "static:9"}, Policy{"atc", "none"},
                    Policy{"cedf", "static:6"}, Policy{"met", "static:6"},
                    Policy{"edf+random", "ondemand:least-fragmenting"},
                    Policy{"llf", "timetable:00:00=12,00:05=2,00:10=12"},
                    Policy{"mdd", "lookahead:start=12,every=64"},
                    Policy{"lalf+wide-first", "static:9"}),
    [](const auto& each) {
      std::string name = fmt::format("{}_{}", each.param.scheduler, each.param.repartition);
      std::ranges::replace_if(
          name, [](char c) { return std::isalnum(c) == 0; }, '_');
      return name;
    });

// Or the bound would promise nothing.
TEST(WithoutReservations, LargeJobsStarveUnderThePoliciesThatWereSeenToStarveThem) {
  for (const Policy policy :
       {Policy{"fifo+tightest", "migm-b"}, Policy{"fifo", "migm-b"},
        Policy{"mdd+slowest", "ondemand"}, Policy{"fifo+requested", "ondemand"}}) {
    std::size_t late = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const Flood flood = random_flood(seed);
      const auto result = run(flood, policy, {});
      ASSERT_TRUE(result.ok()) << result.error().message;
      EXPECT_EQ(result->reservations, 0U);
      late += beyond_bound(flood, *result, flood.large).size();
    }
    EXPECT_GT(late, 0U) << policy.scheduler << "/" << policy.repartition;
  }
}

// Reservations and users in every combination with schedulers, preemption, layouts that change and
// memory that grows: whatever they decide, the run is true to the model.
class EveryRule : public testing::TestWithParam<std::string> {};

TEST_P(EveryRule, KeepsEveryRuleOfTheModel) {
  std::uint64_t reservations = 0;
  std::uint64_t backfilled = 0;
  for (std::uint64_t seed = 70'000; seed < 70'000 + 150; ++seed) {
    Rng rng(seed, 3);
    cases::Case each = cases::random_case({.seed = seed,
                                           .scheduler = GetParam(),
                                           .jobs_max = 80,
                                           .gpus_max = 6,
                                           .may_be_stuck = false,
                                           .memory_grows = rng.below(4) == 0});
    sim::RunOptions options = cases::options_of(each);
    options.queue.reserve_after = Micros::seconds(static_cast<std::int64_t>(rng.below(200)));
    options.queue.fair_share = static_cast<decide::FairOrder>(rng.below(4));
    options.queue.half_life = Micros::seconds(600);
    // The files of a run do not say when a change was asked for that the papers would charge.
    options.repartition_cost = sim::RepartitionCost::kMeasured;
    each.trace.user_names = {"none", "a", "b"};
    for (std::size_t i = 0; i < each.trace.jobs.size(); ++i) {
      const auto priority = static_cast<std::int32_t>(rng.below(2));
      each.trace.owners.push_back({static_cast<std::uint32_t>(rng.below(3)), priority});
    }
    std::unique_ptr<decide::Repartitioner> layouts;
    if (each.switches.empty()) {
      layouts = std::make_unique<policies::StaticLayouts>(each.layouts);
    } else {
      layouts = std::make_unique<policies::Timetable>(each.switches);
    }
    const auto scheduler = policies::make_scheduler(GetParam(), each.seed);
    sim::RunExtras extras;
    extras.make_scheduler = [&] { return *policies::make_scheduler(GetParam(), each.seed); };
    const auto result = sim::simulate(each.trace, options, **scheduler, *layouts, extras);
    // A projection of memory may ask for more than any slice of these layouts has.
    if (!result.ok() && each.memory.early_restart) continue;
    ASSERT_TRUE(result.ok()) << result.error().message << "\n" << cases::to_text(each);
    reservations += result->reservations;
    backfilled += result->backfilled;
    const auto wrong = checker::violations(each.trace, options, *result, {});
    ASSERT_TRUE(wrong.empty()) << "seed " << seed << ": " << wrong.front() << "\n"
                               << cases::to_text(each);
  }
  EXPECT_GT(reservations, 100U);
  EXPECT_GT(backfilled, 0U);
}

INSTANTIATE_TEST_SUITE_P(Some, EveryRule,
                         testing::Values("mdd", "fifo", "sjf", "atc", "edf-fs", "met",
                                         "fifo+requested"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::ranges::replace_if(
                               name, [](char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

// One GPU, jobs of 4 GiB and 2 s without end, and one of 30 GiB with a minute to spare: it used to
// wait until the others stopped coming.
TEST(Issue15, TheLargeJobStartsBeforeItsDeadline) {
  for (const Policy policy :
       {Policy{"fifo+tightest", "migm-b"}, Policy{"fifo", "migm-b"},
        Policy{"mdd+slowest", "ondemand"}, Policy{"fifo+requested", "ondemand"}}) {
    Flood flood;
    flood.options.model = *mig::find_gpu("a100-40gb");
    flood.options.power = &flood.options.model->power_curves.front();
    flood.options.preemption.mode = decide::Preemption::Mode::kNone;
    flood.options.keep_jobs = true;
    flood.trace.class_index("job");
    for (int i = 0; i < 1000; ++i) {
      const Micros arrival{i * 280'000};
      const bool large = i == 40;
      flood.trace.add(job_of(arrival, large ? 30 : 4, 2, 30), std::to_string(i));
    }
    const Micros deadline = flood.trace.jobs[40].deadline;
    const auto without = run(flood, policy, {});
    const auto with = run(flood, policy, Micros::seconds(600));
    ASSERT_TRUE(without.ok() && with.ok());
    EXPECT_GT(without->job_records[40].first_start, deadline) << policy.scheduler;
    EXPECT_LT(with->job_records[40].completion, deadline)
        << policy.scheduler << "/" << policy.repartition;
  }
}

}  // namespace
}  // namespace partita
