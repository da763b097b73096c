#include "workload/job.h"

#include <gtest/gtest.h>

#include "workload/job_source.h"

namespace partita::workload {
namespace {

Job job_at(std::int64_t arrival_s) {
  Job job;
  job.arrival = Micros::seconds(arrival_s);
  job.deadline = Micros::seconds(arrival_s + 10);
  job.time.fill(Micros::seconds(5));
  return job;
}

class ListSource final : public JobSource {
 public:
  explicit ListSource(std::vector<JobRow> rows) : rows_(std::move(rows)) {}
  Result<bool> next(JobRow& row) override {
    if (at_ == rows_.size()) return false;
    row = rows_[at_++];
    return true;
  }

 private:
  std::vector<JobRow> rows_;
  std::size_t at_ = 0;
};

TEST(Trace, IdsAreKeptOneAfterTheOther) {
  Trace trace;
  EXPECT_EQ(trace.class_index("train"), 0);
  EXPECT_EQ(trace.class_index("serve"), 1);
  EXPECT_EQ(trace.class_index("train"), 0);
  trace.add(job_at(1), "a");
  trace.add(job_at(2), "");
  trace.add(job_at(3), "long name");
  EXPECT_EQ(trace.id(JobId{0}), "a");
  EXPECT_EQ(trace.id(JobId{1}), "");
  EXPECT_EQ(trace.id(JobId{2}), "long name");
}

TEST(Trace, SortingByArrivalKeepsTiesInOrderAndIdsWithTheirJobs) {
  Trace trace;
  trace.class_index("c");
  trace.add(job_at(5), "five");
  trace.add(job_at(1), "one");
  trace.add(job_at(5), "five-again");
  trace.add(job_at(1), "one-again");
  sort_by_arrival(trace);
  EXPECT_EQ(trace.id(JobId{0}), "one");
  EXPECT_EQ(trace.id(JobId{1}), "one-again");
  EXPECT_EQ(trace.id(JobId{2}), "five");
  EXPECT_EQ(trace.id(JobId{3}), "five-again");
  EXPECT_EQ(trace.jobs[3].arrival, Micros::seconds(5));
}

TEST(Trace, AMillionJobsTakeLessThanAHundredBytesEach) {
  Trace trace;
  trace.class_index("c");
  trace.jobs.reserve(1'000'000);
  trace.id_ends.reserve(1'000'000);
  for (int i = 0; i < 1'000'000; ++i) trace.add(job_at(i), std::to_string(i));
  EXPECT_LT(trace.memory_bytes(), 100'000'000U);
}

TEST(ReadAll, SortsAndNumbersTheClassesInOrderOfTheirFirstUse) {
  ListSource source(
      {{"x", "serve", job_at(9)}, {"y", "train", job_at(3)}, {"z", "serve", job_at(4)}});
  const Result<Trace> trace = read_all(source);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->class_names, (std::vector<std::string>{"serve", "train"}));
  EXPECT_EQ(trace->id(JobId{0}), "y");
  EXPECT_EQ(trace->jobs[0].job_class, 1);
  EXPECT_EQ(trace->id(JobId{2}), "x");
}

TEST(ReadAll, RefusesAnIdThatAppearsTwice) {
  ListSource source({{"a", "c", job_at(1)}, {"b", "c", job_at(2)}, {"a", "c", job_at(3)}});
  const Result<Trace> trace = read_all(source);
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().message, "job id 'a' appears twice, as jobs 1 and 3 of the input");
}

TEST(ReadAll, RefusesMoreClassesThanAnIndexCanTellApart) {
  std::vector<JobRow> rows;
  for (std::size_t i = 0; i <= kClassesMax; ++i) {
    rows.push_back({std::to_string(i), "class" + std::to_string(i), job_at(1)});
  }
  ListSource source(std::move(rows));
  const Result<Trace> trace = read_all(source);
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().message,
            "more than 65536 job classes; class 'class65536' is one too many");
}

}  // namespace
}  // namespace partita::workload
