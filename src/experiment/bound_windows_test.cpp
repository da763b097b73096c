#include "experiment/bound_windows.h"

#include <gtest/gtest.h>

#include "experiment/test_support.h"

namespace partita::experiment {
namespace {

bounds::Fleet one_gpu() {
  const sim::RunOptions options = a100_options(1);
  return {options.model, options.power, 1, {}};
}

TEST(BoundWindows, EachIsJudgedAloneAndTheRestIsPassedOver) {
  const auto compared = window_bounds(minute_jobs(11, 5), one_gpu(), 3, {});
  ASSERT_TRUE(compared.ok()) << compared.error().message;
  EXPECT_EQ(compared->total, 3U);
  ASSERT_EQ(compared->windows.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const WindowBounds& window = compared->windows[i];
    EXPECT_EQ(window.first_job, 3 * i);
    EXPECT_TRUE(window.on_time());  // three at a time, of seven that fit
    EXPECT_LE(window.bound_s, window.optimum_s + 1e-6);
  }
  EXPECT_EQ(compared->sums().on_time, 3U);
}

TEST(BoundWindows, EndWhenTheTimeIsOver) {
  double now = 0;
  const auto compared =
      window_bounds(minute_jobs(9, 5), one_gpu(), 3, {0.5, [&] { return now += 1; }});
  ASSERT_TRUE(compared.ok());
  EXPECT_EQ(compared->total, 3U);
  EXPECT_TRUE(compared->windows.empty());
}

TEST(BoundWindows, SumsAreOfWindowsWithAKnownOptimumAboveZero) {
  ComparedWindows compared;
  compared.windows = {{0, 1, 2, 3, 4, true}, {3, 5, 5, 5, 5, false}, {6, 0, 0, 0, 0, true}};
  const ComparedWindows::Sums sums = compared.sums();
  EXPECT_EQ(sums.windows, 1U);
  EXPECT_EQ(sums.unproven, 1U);
  EXPECT_EQ(sums.on_time, 1U);
  EXPECT_EQ(sums.prices_s, 1);
  EXPECT_EQ(sums.non_preemptive_s, 2);
  EXPECT_EQ(sums.bound_s, 3);
  EXPECT_EQ(sums.optimum_s, 4);
}

}  // namespace
}  // namespace partita::experiment
