#include "workload/readers/philly.h"

#include <gtest/gtest.h>

#include "workload/readers/reader_test_support.h"

namespace partita::workload {
namespace {

constexpr std::string_view kSample =
    "timestamp,duration,num_gpus,gpu_time,cluster\n"
    "2017-10-09 07:01:55,66.0,1,66.0,11cb48\n"
    "2017-10-09 06:13:03,2951.0,1,2951.0,6214e9\n"
    "2017-10-10 00:00:00,100,4,400,6214e9\n"
    "\n";

ReaderOptions with_curve(std::string_view curve) {
  ReaderOptions options;
  options.curves = curve;
  return options;
}

TEST(Philly, ARowIsAJobOfItsDurationOnTheWholeGpu) {
  const std::vector<JobRow> rows = rows_of(kSample, with_curve("bert-inference"));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].id, "2");
  EXPECT_EQ(rows[0].job_class, "bert-inference");
  EXPECT_EQ(rows[0].job.time[4], Micros::seconds(66));
  EXPECT_EQ(rows[0].job.time[0], Micros::seconds(462));
}

TEST(Philly, TimeStartsAtTheEarliestRowWhereverItStands) {
  const std::vector<JobRow> rows = rows_of(kSample, {});
  EXPECT_EQ(rows[0].job.arrival, Micros::seconds(2932));
  EXPECT_EQ(rows[1].job.arrival, Micros{0});
}

TEST(Philly, TimeMayStartAtMidnightOrAtAGivenTime) {
  ReaderOptions options;
  options.origin = "midnight";
  EXPECT_EQ(rows_of(kSample, options)[1].job.arrival, Micros::seconds(6 * 3600 + 13 * 60 + 3));
  options.origin = "2017-10-09 07:00:00";
  EXPECT_EQ(rows_of(kSample, options).at(0).job.arrival, Micros::seconds(115));
  EXPECT_EQ(warnings_of(kSample, options),
            (std::vector<std::string>{"t.csv: 1 row passed over: before the origin",
                                      "t.csv: 1 row passed over: more than one GPU asked for"}));
  options.origin = "noon";
  EXPECT_EQ(refusal(kSample, options),
            "origin: found 'noon', wanted first, midnight or a time such as 2017-10-09 07:01:55");
}

TEST(Philly, JobsOfSeveralGpusAreFlattenedOnRequest) {
  ReaderOptions options = with_curve("bert-inference");
  options.philly_flatten = true;
  const std::vector<JobRow> rows = rows_of(kSample, options);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[2].job.time[4], Micros::seconds(400));
}

TEST(Philly, ScalesMultiplyGapsAndDurations) {
  ReaderOptions options = with_curve("bert-inference");
  options.time_scale = 0.5;
  options.duration_scale = 2;
  const std::vector<JobRow> rows = rows_of(kSample, options);
  EXPECT_EQ(rows[0].job.arrival, Micros::seconds(1466));
  EXPECT_EQ(rows[0].job.time[4], Micros::seconds(132));
}

TEST(Philly, DeadlinesLieBetweenTheirFactorsAndDependOnSeedAndRow) {
  ReaderOptions options;
  options.deadline_low = options.deadline_high = 2;
  const std::vector<JobRow> rows = rows_of(kSample, options);
  EXPECT_EQ(rows[0].job.deadline - rows[0].job.arrival, Micros::seconds(132));
  options.deadline_high = 4;
  options.seed = 2;
  const std::vector<JobRow> other = rows_of(kSample, options);
  options.rows.max_jobs = 1;
  EXPECT_EQ(rows_of(kSample, options).at(0).job, other[0].job);
}

TEST(Philly, MemoryIsTheCurvesOrAConstant) {
  ReaderOptions options = with_curve("miso-bert-b2");
  EXPECT_NEAR(rows_of(kSample, options)[0].job.memory_gib, (4.75 + 9.62) / 2, 1e-5);
  options.memory_gib = 12;
  EXPECT_EQ(rows_of(kSample, options)[0].job.memory_gib, 12);
}

TEST(Philly, BadRowsAreRefusedByColumn) {
  const std::string header = "timestamp,duration,num_gpus\n";
  EXPECT_EQ(refusal(header + "2017-10-09 25:01:55,66,1\n", {}),
            "t.csv line 2, column timestamp: found '2017-10-09 25:01:55', wanted a time such as "
            "2017-10-09 07:01:55");
  EXPECT_EQ(refusal(header + "2017-10-09 07:01:55,-6,1\n", {}),
            "t.csv line 2, column duration: found '-6', wanted seconds greater than 0");
  EXPECT_EQ(refusal(header + "2017-10-09 07:01:55,1e300,1\n", {}),
            "t.csv line 2, column duration: found '1e300', wanted at most 100000000000 seconds");
  EXPECT_EQ(refusal(header + "2017-10-09 07:01:55,6,two\n", {}),
            "t.csv line 2, column num_gpus: found 'two', wanted a whole number of GPUs");
}

TEST(Philly, BadRowsAreCountedOnRequest) {
  ReaderOptions options;
  options.rows.skip_bad_rows = true;
  const std::string text = "timestamp,duration,num_gpus\nx,1,1\n2017-10-09 07:01:55,6,1\ny,1,1\n";
  EXPECT_EQ(rows_of(text, options).size(), 1U);
  EXPECT_EQ(warnings_of(text, options),
            std::vector<std::string>{"t.csv: 2 rows skipped as bad; the first: t.csv "
                                     "line 2, column timestamp: found 'x', wanted a time such as "
                                     "2017-10-09 07:01:55"});
}

TEST(Philly, OptionsOutOfRangeAreRefused) {
  ReaderOptions options;
  options.duration_scale = 0;
  EXPECT_EQ(refusal(kSample, options), "duration scale: found 0, wanted 1e-06 to 1000000");
}

TEST(Philly, ThePublishedTraceHasItsJobsAndQuantiles) {
  const std::string path = shared_trace("philly_jobs.csv.zst");
  if (path.empty()) GTEST_SKIP() << "no ../shared/traces/philly_jobs.csv.zst";
  ReaderOptions options;
  const std::vector<JobRow> single = all_rows(open_trace(Input::file(path), options));
  EXPECT_EQ(single.size(), 76'627U);
  EXPECT_EQ(quantile(whole_gpu_s(single), .5), 1117);
  options.philly_flatten = true;
  const std::vector<JobRow> all = all_rows(open_trace(Input::file(path), options));
  EXPECT_EQ(all.size(), 82'247U);
  double earliest = 1e9;
  for (const JobRow& row : all) earliest = std::min(earliest, row.job.arrival.to_seconds());
  EXPECT_EQ(earliest, 0);
}

}  // namespace
}  // namespace partita::workload
