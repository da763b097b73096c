#include "workload/generators/realistic.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "workload/generators/profiles.h"
#include "workload/test_support.h"

namespace partita::workload {
namespace {

RealisticOptions many_jobs(std::string_view profile) {
  RealisticOptions options;
  options.hours = 24 * 70;
  options.profile = profile;
  options.seed = 3;
  return options;
}

const std::vector<JobRow>& flat_rows() {
  static const std::vector<JobRow> rows = all_rows(make_realistic(many_jobs("flat")));
  return rows;
}

std::vector<double> whole_gpu_times(const std::vector<JobRow>& rows) {
  std::vector<double> times;
  for (const JobRow& row : rows) times.push_back(row.job.time.back().to_seconds());
  return times;
}

TEST(Realistic, TheMeanRateIsTheOneAskedFor) {
  EXPECT_NEAR(static_cast<double>(flat_rows().size()) / (24 * 70), 60, 1.2);
}

TEST(Realistic, BurstinessIsTheCoefficientOfVariationOfTheGaps) {
  EXPECT_NEAR(coefficient_of_variation(gaps_s(flat_rows())), 1.8, .05);
  RealisticOptions options = many_jobs("flat");
  options.burstiness = 1;
  EXPECT_NEAR(coefficient_of_variation(gaps_s(all_rows(make_realistic(options)))), 1, .02);
  options.burstiness = 10.6;  // Philly
  options.jobs_per_hour = 600;
  EXPECT_NEAR(coefficient_of_variation(gaps_s(all_rows(make_realistic(options)))), 10.6, .4);
}

TEST(Realistic, AProfileAddsToTheBurstiness) {
  EXPECT_GT(coefficient_of_variation(gaps_s(all_rows(make_realistic(many_jobs("venus"))))), 2);
}

TEST(Realistic, BatchesFollowTheHourlyProfile) {
  std::array<double, 24> counts{};
  const std::vector<JobRow> rows = all_rows(make_realistic(many_jobs("venus")));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool first_of_batch = i == 0 || rows[i].job.arrival != rows[i - 1].job.arrival;
    if (first_of_batch) counts[hour_of_day(rows[i])] += 1;
  }
  const auto rates = hourly_rates_per_min(**find_profile("venus"), 60 / ((1.8 * 1.8 + 1) / 2));
  double chi_square = 0;
  for (std::size_t hour = 0; hour < 24; ++hour) {
    const double expected = rates[hour] * 60 * 70;
    chi_square += (counts[hour] - expected) * (counts[hour] - expected) / expected;
  }
  EXPECT_LT(chi_square, 51.2);  // 99.9 % quantile at 24 degrees of freedom
}

TEST(Realistic, DurationsAreLogNormalWithAHeavyTailBetweenTheirLimits) {
  const std::vector<double> times = whole_gpu_times(flat_rows());
  EXPECT_NEAR(quantile(times, .5) / 800, 1, .05);
  EXPECT_NEAR(std::log(quantile(times, .8413) / quantile(times, .5)), 2, .05);
  EXPECT_GE(quantile(times, 0), 1);
  EXPECT_LE(quantile(times, 1), 2 * 86'400);
  EXPECT_GT(coefficient_of_variation(times), 2.5);
}

TEST(Realistic, SlackHasTheQuantilesMeasuredByHydra) {
  std::vector<double> slack;
  for (const JobRow& row : flat_rows()) {
    slack.push_back((row.job.deadline - row.job.arrival).to_seconds() /
                    row.job.time.back().to_seconds());
  }
  EXPECT_NEAR(quantile(slack, .1), 1.75, .1);
  EXPECT_NEAR(quantile(slack, .5), 3.15, .05);
  EXPECT_NEAR(quantile(slack, .9), 5.30, .25);
  EXPECT_GE(quantile(slack, 0), 1 - 1e-5);
}

TEST(Realistic, MemoryOftenBindsBeforeComputeOnAnA100AndAlwaysFitsTheWhole) {
  double too_big_for_1g = 0;
  double too_big_for_2g = 0;
  for (const JobRow& row : flat_rows()) {
    if (row.job.memory_gib > 4.75F) ++too_big_for_1g;
    if (row.job.memory_gib > 9.62F) ++too_big_for_2g;
    EXPECT_LE(row.job.memory_gib, 39.0F);
  }
  EXPECT_GT(too_big_for_1g / static_cast<double>(flat_rows().size()), .4);
  EXPECT_GT(too_big_for_2g / static_cast<double>(flat_rows().size()), .1);
}

TEST(Realistic, AllCurvesOfTheMixAppear) {
  std::set<std::string> classes;
  for (const JobRow& row : flat_rows()) classes.insert(row.job_class);
  EXPECT_EQ(classes.size(), 36U);
}

TEST(Realistic, TheSameSeedGivesTheSameBytes) {
  const RealisticOptions options;
  EXPECT_EQ(csv_of(all_rows(make_realistic(options))), csv_of(all_rows(make_realistic(options))));
}

TEST(Realistic, ChangingDurationsLeavesArrivalsClassesAndMemory) {
  RealisticOptions options;
  const std::vector<JobRow> before = all_rows(make_realistic(options));
  options.sigma = 1;
  options.longest_s = 5000;
  const std::vector<JobRow> after = all_rows(make_realistic(options));
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].job.arrival, after[i].job.arrival);
    EXPECT_EQ(before[i].job_class, after[i].job_class);
    EXPECT_EQ(before[i].job.memory_gib, after[i].job.memory_gib);
  }
}

TEST(Realistic, OptionsOutOfRangeAreRefused) {
  RealisticOptions options;
  options.burstiness = .5;
  EXPECT_EQ(make_realistic(options).error().message, "burstiness: found 0.5, wanted 1 to 1000");
  options = {};
  options.profile = "mars";
  EXPECT_TRUE(make_realistic(options).error().message.starts_with("unknown hourly profile"));
  options = {};
  options.curves = "gpt";
  EXPECT_TRUE(make_realistic(options).error().message.starts_with("unknown speed-up curve"));
  options = {};
  options.median_s = 1e9;
  EXPECT_EQ(make_realistic(options).error().message,
            "median duration in seconds: found 1000000000, wanted 1 to 172800");
}

}  // namespace
}  // namespace partita::workload
