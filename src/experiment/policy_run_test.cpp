#include "experiment/policy_run.h"

#include <gtest/gtest.h>

#include "experiment/test_support.h"
#include "policies/registry.h"

namespace partita::experiment {
namespace {

TEST(PolicyRun, IsTheSameWithARepartitionerThatIsThereAlready) {
  const workload::Trace trace = minute_jobs(40, 10);
  const sim::RunOptions options = a100_options(2);
  const auto by_name = run_policy(trace, options, {"mdd", "static:2,2"});
  const auto made = policies::make_repartitioner("static:2,2", *options.model, options.gpus);
  const auto handed_in = run_policy(trace, options, {"mdd", ""}, **made);
  ASSERT_TRUE(by_name.ok() && handed_in.ok());
  EXPECT_EQ(by_name->result.jobs, 40U);
  EXPECT_EQ(by_name->result.et, handed_in->result.et);
  EXPECT_NE(run_policy(trace, options, {"mdd", "none"})->result.et, by_name->result.et);
}

TEST(PolicyRun, AnUnknownPolicyIsAnError) {
  const workload::Trace trace = minute_jobs(1, 1);
  EXPECT_FALSE(run_policy(trace, a100_options(1), {"nonsense", "none"}).ok());
  EXPECT_FALSE(run_policy(trace, a100_options(1), {"mdd", "nonsense"}).ok());
}

TEST(PolicyRun, TellsHowFarItIsAndHowLongItTook) {
  double part = 0;
  double seconds = 0;
  const auto clock = [&] { return seconds += 5; };
  const auto run = run_policy(minute_jobs(40'000, 120), a100_options(1), {"mdd", "none"},
                              {[&](double now) { part = now; }, clock});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->wall_s, 5);
  EXPECT_GT(part, 0);
}

}  // namespace
}  // namespace partita::experiment
