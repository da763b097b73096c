#include "workload/generators/papers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "workload/test_support.h"

namespace partita::workload {
namespace {

PapersOptions options_with(std::uint64_t seed, double hours = 24) {
  PapersOptions options;
  options.seed = seed;
  options.hours = hours;
  return options;
}

std::vector<JobRow> rows_of(const PapersOptions& options) {
  return all_rows(make_papers(options));
}

// Two thousand hours and a bit, a round number of days: 83 of them.
const std::vector<JobRow>& many_days() {
  static const std::vector<JobRow> rows = rows_of(options_with(7, 24 * 83));
  return rows;
}

TEST(Papers, ADayAtRateTwentyHasAbout4148Jobs) {
  const double mean = static_cast<double>(many_days().size()) / 83;
  EXPECT_NEAR(mean, 4148.4, 4 * std::sqrt(4148.4 / 83));
}

TEST(Papers, ArrivalsAreInOrderWithinTheWindowAndNumbered) {
  const std::vector<JobRow> rows = rows_of(options_with(3, 5.5));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].id, std::to_string(i + 1));
    EXPECT_LE(rows[i == 0 ? 0 : i - 1].job.arrival, rows[i].job.arrival);
    EXPECT_LT(rows[i].job.arrival, Micros::seconds(19'800));
  }
}

TEST(Papers, TheHourlyCountsFollowTheTable) {
  std::array<double, 24> counts{};
  for (const JobRow& row : many_days()) counts[hour_of_day(row)] += 1;
  double chi_square = 0;
  for (std::size_t hour = 0; hour < 24; ++hour) {
    const double expected = kPapersHourlyRates[hour] * 20 * 60 * 83;
    chi_square += (counts[hour] - expected) * (counts[hour] - expected) / expected;
  }
  EXPECT_LT(chi_square, 51.2);  // 99.9 % quantile at 24 degrees of freedom
}

TEST(Papers, AnHourStartsAtItsOwnRateNotAtThatOfTheHourBefore) {
  // A slow hour before a fast one: a gap drawn at the slow rate would leave the first minutes of
  // the fast hour short of jobs by a third of that gap's work.
  PapersOptions options = options_with(5, 24 * 40);
  for (std::size_t hour = 0; hour < 24; ++hour)
    options.hourly_rates[hour] = hour % 2 == 0 ? .01 : 1;
  double first_minute = 0;
  double last_minute = 0;
  double slow = 0;
  for (const JobRow& row : rows_of(options)) {
    const std::int64_t minute = row.job.arrival.count / 60'000'000;
    if (minute / 60 % 2 == 0)
      ++slow;
    else if (minute % 60 == 0)
      ++first_minute;
    else if (minute % 60 == 59)
      ++last_minute;
  }
  const double expected = 20 * 12 * 40;  // jobs in one given minute of the fast hours
  EXPECT_NEAR(first_minute, expected, 4 * std::sqrt(expected));
  EXPECT_NEAR(last_minute, expected, 4 * std::sqrt(expected));
  EXPECT_NEAR(slow, 0.2 * 60 * 12 * 40, 4 * std::sqrt(0.2 * 60 * 12 * 40));
}

TEST(Papers, TypesHaveTheirShares) {
  std::map<std::string, double> share;
  for (const JobRow& row : many_days())
    share[row.job_class] += 1.0 / static_cast<double>(many_days().size());
  EXPECT_NEAR(share["bert-inference"], 0.8 * 2 / 3, .005);
  EXPECT_NEAR(share["resnet-inference"], 0.8 / 3, .005);
  EXPECT_NEAR(share["bert-training"], 0.2 * 2 / 3, .005);
  EXPECT_NEAR(share["resnet-training"], 0.2 / 3, .005);
}

TEST(Papers, MeanTimesOverTheMixAreThoseOfThePapers) {
  std::array<double, kSliceSizeCount> sum{};
  for (const JobRow& row : many_days()) {
    for (std::size_t i = 0; i < kSliceSizeCount; ++i) sum[i] += row.job.time[i].to_minutes();
  }
  constexpr std::array<double, kSliceSizeCount> kMinutes{12.27, 6.60, 4.72, 3.98, 2.89};
  for (std::size_t i = 0; i < kSliceSizeCount; ++i) {
    EXPECT_NEAR(sum[i] / static_cast<double>(many_days().size()) / kMinutes[i], 1, .01);
  }
}

TEST(Papers, TrainingTimesHaveTheirQuantilesAndInferenceItsMean) {
  std::vector<double> training;
  double inference_sum = 0;
  double inference_count = 0;
  for (const JobRow& row : many_days()) {
    const double minutes = row.job.time[0].to_minutes();
    if (row.job_class.ends_with("training")) {
      training.push_back(minutes);
    } else {
      inference_sum += minutes;
      ++inference_count;
    }
  }
  EXPECT_NEAR(quantile(training, .05), 40, .3);
  EXPECT_NEAR(quantile(training, .50), 48.99, .3);
  EXPECT_NEAR(quantile(training, .95), 60, .4);
  EXPECT_NEAR(inference_sum / inference_count, 3, .03);
}

TEST(Papers, DeadlinesAreUniformBetweenTheirFactorsOfTheWholeGpuTime) {
  std::vector<double> slack;
  for (const JobRow& row : many_days()) {
    if (row.job.time.back() < Micros::seconds(1)) continue;  // rounding shows below
    slack.push_back((row.job.deadline - row.job.arrival).to_seconds() /
                    row.job.time.back().to_seconds());
  }
  EXPECT_GE(quantile(slack, 0), 1 - 1e-6);
  EXPECT_LE(quantile(slack, 1), 1.5 + 1e-6);
  EXPECT_NEAR(quantile(slack, .25), 1.125, .005);
  EXPECT_NEAR(quantile(slack, .75), 1.375, .005);
}

TEST(Papers, TheSameSeedGivesTheSameBytes) {
  EXPECT_EQ(csv_of(rows_of(options_with(7))), csv_of(rows_of(options_with(7))));
  EXPECT_NE(csv_of(rows_of(options_with(7))), csv_of(rows_of(options_with(8))));
}

TEST(Papers, ChangingOneOptionLeavesWhatTheOthersDecide) {
  const std::vector<JobRow> before = rows_of(options_with(7));
  PapersOptions options = options_with(7);
  options.mix.training_share = 0.5;
  options.mix.deadline_low = 2;
  options.mix.deadline_high = 4;
  const std::vector<JobRow> after = rows_of(options);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].job.arrival, after[i].job.arrival);
    if (before[i].job_class != after[i].job_class) continue;
    EXPECT_EQ(before[i].job.time, after[i].job.time);
  }
}

TEST(Papers, AZeroRateOrNoHoursGivesNoJobs) {
  PapersOptions options;
  options.rate = 0;
  EXPECT_TRUE(rows_of(options).empty());
  EXPECT_TRUE(rows_of(options_with(1, 0)).empty());
}

TEST(Papers, NoJobTakesNoTime) {
  PapersOptions options = options_with(1);
  options.mix.inference_mean_min = 0;
  for (const JobRow& row : rows_of(options)) {
    for (const Micros time : row.job.time) EXPECT_GE(time.count, 1);
    EXPECT_GE(row.job.deadline, row.job.arrival);
  }
}

TEST(Papers, OptionsOutOfRangeAreRefused) {
  PapersOptions options;
  options.hours = -1;
  EXPECT_EQ(make_papers(options).error().message, "hours: found -1, wanted 0 to 1000000");
  options = {};
  options.mix.deadline_low = 2;
  EXPECT_EQ(make_papers(options).error().message,
            "deadline: found 2:1.5, wanted the smaller number before the larger");
  options = {};
  options.mix.training_share = std::nan("");
  EXPECT_EQ(make_papers(options).error().message, "training share: found nan, wanted 0 to 1");
}

TEST(Papers, ProgressEndsAtOne) {
  auto source = make_papers(options_with(1));
  ASSERT_TRUE(source.ok());
  JobRow row;
  while (*(*source)->next(row)) {
    EXPECT_LE((*source)->progress(), 1);
  }
  EXPECT_EQ((*source)->progress(), 1);
}

}  // namespace
}  // namespace partita::workload
