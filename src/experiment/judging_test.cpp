#include "experiment/judging.h"

#include <gtest/gtest.h>

#include "experiment/test_support.h"

namespace partita::experiment {
namespace {

TEST(Judging, HasOneValueADayInTheirOrder) {
  const std::vector<workload::Trace> days{minute_jobs(20, 60), minute_jobs(20, 1)};
  std::vector<double> parts;
  const auto judged =
      judge(days, a100_options(1), {"mdd", "none"}, [&](double part) { parts.push_back(part); });
  ASSERT_TRUE(judged.ok());
  EXPECT_EQ(parts, (std::vector{0.5, 1.0}));
  EXPECT_EQ(judged->name, "none");
  const auto second = run_policy(days[1], a100_options(1), {"mdd", "none"});
  EXPECT_EQ(judged->et,
            (std::vector{run_policy(days[0], a100_options(1), {"mdd", "none"})->result.et,
                         second->result.et}));
  EXPECT_EQ(judged->tardiness_min[0], 0);
  EXPECT_EQ(judged->tardiness_min[1], second->result.mean_tardiness_s / 60);
  EXPECT_EQ(judged->late_percent[1], 100 * second->result.late_share());
}

TEST(Judging, APolicyThatCannotRunADayIsAnError) {
  std::vector<workload::Trace> days{minute_jobs(3, 60)};
  days[0].jobs[1].memory_gib = 30;
  EXPECT_FALSE(judge(days, a100_options(1), {"mdd", "static:12"}, [](double) {}).ok());
}

TEST(Judging, NothingFallsByMoreThanAllOfIt) {
  const std::vector<double> none{0, 0, 3};
  const std::vector<double> some{10, 1, 10};
  const auto change = relative_change(none, some);
  ASSERT_TRUE(change && change->interval);
  EXPECT_DOUBLE_EQ(change->share, 3.0 / 21 - 1);
  EXPECT_EQ(change->interval->low, -1);
}

}  // namespace
}  // namespace partita::experiment
