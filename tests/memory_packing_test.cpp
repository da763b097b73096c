// Packing by memory: whatever a batch does, every run of the two schemes is true to the model.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "checker/schedule_checker.h"
#include "policies/registry.h"
#include "policies/request.h"
#include "sim/engine.h"
#include "workload/generators/migm.h"

namespace partita {
namespace {

struct Packing {
  std::string mix;
  std::string repartition;
  bool early = false;
  std::uint32_t gpus = 1;
};

class MemoryPacking : public testing::TestWithParam<Packing> {
 protected:
  static workload::Trace batch(const std::string& mix, std::uint64_t seed) {
    workload::MigmOptions options;
    options.mix = mix;
    options.seed = seed;
    return *workload::read_all(**workload::make_migm(options));
  }

  static sim::RunOptions options() {
    sim::RunOptions options;
    options.model = *mig::find_gpu("a100-40gb");
    options.power = &options.model->power_curves.front();
    options.gpus = GetParam().gpus;
    options.preemption.mode = decide::Preemption::Mode::kNone;
    options.memory.restart = Micros::seconds(5);
    if (GetParam().early) options.memory.early_restart = decide::EarlyRestart{};
    options.keep_jobs = options.keep_schedule = true;
    return options;
  }

  static sim::RunResult run(const workload::Trace& trace, const std::string& scheduler) {
    const sim::RunOptions settings = options();
    const auto made = policies::make_scheduler(scheduler, 1);
    const auto forecast = policies::make_scheduler(scheduler, 1);
    const auto repartitioner =
        policies::make_repartitioner(GetParam().repartition, *settings.model, settings.gpus);
    sim::RunExtras extras;
    extras.forecast_scheduler = forecast->get();
    const auto result = sim::simulate(trace, settings, **made, **repartitioner, extras);
    EXPECT_TRUE(result.ok()) << result.error().message;
    return *result;
  }
};

TEST_P(MemoryPacking, KeepsEveryRuleOfTheModel) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const workload::Trace trace = batch(GetParam().mix, seed);
    const sim::RunResult result = run(trace, "fifo+tightest");
    EXPECT_EQ(result.jobs, trace.jobs.size());
    const auto found = checker::violations(trace, options(), result, {});
    EXPECT_TRUE(found.empty()) << fmt::format("{}", fmt::join(found, "\n"));
  }
}

// A job that never had to restart ran on one of the profiles that hold it and take least memory.
TEST_P(MemoryPacking, GivesEveryJobTheTightestSlice) {
  const workload::Trace trace = batch(GetParam().mix, 9);
  const sim::RunResult result = run(trace, "fifo+tightest");
  const cluster::ProfileFits fits(*options().model);
  std::set<std::uint32_t> seen;
  for (const sim::SchedulePiece& piece : result.schedule) {
    if (!seen.insert(piece.id.value).second) continue;  // only its first stay
    const workload::Job& job = trace.jobs[piece.id.value];
    const decide::ActiveJob active = decide::make_active(job, piece.id, fits(job));
    const unsigned tightest = policies::tightest_profiles(*options().model, active);
    EXPECT_NE(tightest >> piece.profile & 1U, 0U);
  }
}

// With all jobs there at once and one GPU, a group is set up once, and there are four sizes.
TEST_P(MemoryPacking, SchemeASetsNoGroupUpTwice) {
  if (GetParam().repartition != "migm-a" || GetParam().gpus != 1) GTEST_SKIP() << "another scheme";
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_LE(run(batch(GetParam().mix, seed), "fifo+tightest").repartitions, 4U);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Schemes, MemoryPacking,
    testing::Values(Packing{"general", "migm-a"}, Packing{"general", "migm-b"},
                    Packing{"ml", "migm-a"}, Packing{"ml", "migm-b"},
                    Packing{"ml", "migm-a", false, 3}, Packing{"ml", "migm-b", false, 3},
                    Packing{"llm", "migm-a"}, Packing{"llm", "migm-b"},
                    Packing{"llm", "migm-a", true}, Packing{"llm", "migm-b", true},
                    Packing{"llm", "migm-a", true, 4}, Packing{"llm", "migm-b", true, 4}),
    [](const auto& each) {
      return fmt::format("{}{}{}On{}", each.param.mix,
                         each.param.repartition == "migm-a" ? "SchemeA" : "SchemeB",
                         each.param.early ? "Early" : "", each.param.gpus);
    });

// What looking ahead sees is what is believed, so it must be able to run into restarts.
TEST(MemoryAndLookingAhead, GoTogether) {
  workload::MigmOptions batch;
  batch.mix = "llm";
  const workload::Trace trace = *workload::read_all(**workload::make_migm(batch));
  sim::RunOptions options;
  options.model = *mig::find_gpu("a100-40gb");
  options.power = &options.model->power_curves.front();
  options.gpus = 2;
  options.memory.restart = Micros::seconds(5);
  options.memory.early_restart = decide::EarlyRestart{};
  options.keep_jobs = options.keep_schedule = true;
  const auto scheduler = policies::make_scheduler("cedf", 1);
  const auto forecast = policies::make_scheduler("cedf", 1);
  const auto repartitioner =
      policies::make_repartitioner("lookahead:every=5,start=1/2", *options.model, options.gpus);
  sim::RunExtras extras;
  extras.forecast_scheduler = forecast->get();
  const auto result = sim::simulate(trace, options, **scheduler, **repartitioner, extras);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->jobs, trace.jobs.size());
  EXPECT_GT(result->out_of_memory + result->early_restarts, 0U);
}

}  // namespace
}  // namespace partita
