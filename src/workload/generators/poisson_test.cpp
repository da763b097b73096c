#include "workload/generators/poisson.h"

#include <gtest/gtest.h>

#include "workload/test_support.h"

namespace partita::workload {
namespace {

TEST(Poisson, GivesTheNumberOfJobsAskedFor) {
  PoissonOptions options;
  options.jobs = 1234;
  EXPECT_EQ(all_rows(make_poisson(options)).size(), 1234U);
  options.jobs = 0;
  EXPECT_TRUE(all_rows(make_poisson(options)).empty());
}

TEST(Poisson, GapsAreExponentialWithTheMeanOfTheRate) {
  PoissonOptions options;
  options.rate_per_min = 6;
  options.jobs = 200'000;
  const std::vector<JobRow> rows = all_rows(make_poisson(options));
  const std::vector<double> gaps = gaps_s(rows);
  EXPECT_NEAR(mean(gaps), 10, .1);
  EXPECT_NEAR(coefficient_of_variation(gaps), 1, .02);
  EXPECT_NEAR(quantile(gaps, .5), 10 * std::log(2.0), .1);
}

TEST(Poisson, HoursEndTheRun) {
  PoissonOptions options;
  options.jobs.reset();
  options.hours = 10;
  const std::vector<JobRow> rows = all_rows(make_poisson(options));
  EXPECT_NEAR(static_cast<double>(rows.size()), 4800, 4 * std::sqrt(4800.0));
  EXPECT_LT(rows.back().job.arrival, Micros::seconds(36'000));
}

TEST(Poisson, TheSameSeedGivesTheSameBytes) {
  PoissonOptions options;
  options.seed = 9;
  EXPECT_EQ(csv_of(all_rows(make_poisson(options))), csv_of(all_rows(make_poisson(options))));
}

TEST(Poisson, NeedsAnEndAndARateThatReachesIt) {
  PoissonOptions options;
  options.jobs.reset();
  EXPECT_EQ(make_poisson(options).error().message,
            "constant-rate arrivals need a number of jobs or of hours");
  options.jobs = 5;
  options.rate_per_min = 0;
  EXPECT_FALSE(make_poisson(options).ok());
}

}  // namespace
}  // namespace partita::workload
