#include "workload/job_csv.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <thread>

#include "base/rng.h"
#include "base/text.h"

namespace partita::workload {
namespace {

constexpr std::string_view kHeader =
    "id,arrival_s,deadline_s,class,memory_gib,t1_s,t2_s,t3_s,t4_s,t7_s\n";

Result<Trace> read(std::string_view text, const RowOptions& options = {}) {
  Result<std::unique_ptr<CsvJobSource>> source =
      CsvJobSource::open(Input::memory(text, "jobs.csv"), options);
  if (!source) return source.error();
  return read_all(**source);
}

// The message that refuses one row under the usual header.
std::string refused_row(std::string_view row) {
  const Result<Trace> trace = read(std::string(kHeader) + std::string(row) + "\n");
  return trace ? "accepted" : trace.error().message;
}

std::vector<std::string> csv_warnings(std::string_view text, const RowOptions& options = {}) {
  auto source = CsvJobSource::open(Input::memory(text, "jobs.csv"), options);
  EXPECT_TRUE(source.ok());
  EXPECT_TRUE(read_all(**source).ok());
  return (*source)->warnings();
}

TEST(JobCsv, ARowIsReadColumnByColumn) {
  const Result<Trace> trace = read(std::string(kHeader) + "j1,1.5,9,train,4.75,7,6,,4,1.000001\n");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const Job& job = trace->jobs.at(0);
  EXPECT_EQ(trace->id(JobId{0}), "j1");
  EXPECT_EQ(trace->class_names, std::vector<std::string>{"train"});
  EXPECT_EQ(job.arrival, Micros{1'500'000});
  EXPECT_EQ(job.deadline, Micros::seconds(9));
  EXPECT_EQ(job.memory_gib, 4.75F);
  EXPECT_EQ(job.time[0], Micros::seconds(7));
  EXPECT_EQ(job.time[2], kNoTime);
  EXPECT_EQ(job.time[4], Micros{1'000'001});
}

TEST(JobCsv, UsersAndPrioritiesAreReadWhereThereAreColumnsForThem) {
  const std::string header = std::string(kJobCsvHeader) + ",user,priority\n";
  const Result<Trace> trace =
      read(header + "a,5,9,x,1,5,,,,,bob,-3\nb,0,9,x,1,5,,,,,alice,\nc,6,9,x,1,5,,,,,,7\n");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  ASSERT_EQ(trace->owners.size(), 3U);  // in order of arrival, as the jobs are
  const auto user = [&](std::size_t job) { return trace->user_names[trace->owners[job].user]; };
  EXPECT_EQ(user(0), "alice");
  EXPECT_EQ(user(1), "bob");
  EXPECT_EQ(user(2), "none");
  EXPECT_EQ(trace->owners[0].priority, 0);
  EXPECT_EQ(trace->owners[1].priority, -3);
  EXPECT_EQ(trace->owners[2].priority, 7);
}

TEST(JobCsv, AFileThatNamesNobodyHasNoOwners) {
  const Result<Trace> without = read(std::string(kHeader) + "a,0,9,x,1,5,,,,\n");
  const Result<Trace> empty =
      read(std::string(kJobCsvHeader) + ",user,priority\na,0,9,x,1,5,,,,,,\n");
  ASSERT_TRUE(without.ok() && empty.ok());
  EXPECT_TRUE(without->owners.empty() && without->user_names.empty());
  EXPECT_TRUE(empty->owners.empty());
}

TEST(JobCsv, APriorityThatIsNoneIsRefused) {
  const std::string header = std::string(kJobCsvHeader) + ",priority\n";
  for (const std::string text : {"high", "1.5", "1000001"}) {
    const Result<Trace> trace = read(header + "a,0,9,x,1,5,,,,," + text + "\n");
    ASSERT_FALSE(trace.ok());
    EXPECT_EQ(trace.error().message, "jobs.csv line 2, column priority: found '" + text +
                                         "', wanted a whole number from -1000000 to 1000000");
  }
}

TEST(JobCsv, OwnersAreWrittenAndReadBackEqual) {
  std::string text;
  const OptionalColumns columns{.user = true, .priority = true};
  write_header(text, columns);
  JobRow row{"a", "x", {}, {}, "bob, \"the builder\"", 12};
  row.job.deadline = Micros::seconds(5);
  row.job.time.fill(Micros::seconds(1));
  write_row(text, row, columns);
  const Result<Trace> trace = read(text);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->user_names.back(), row.user);
  EXPECT_EQ(trace->owners[0].priority, 12);
}

TEST(JobCsv, ColumnsMayStandInAnyOrder) {
  const Result<Trace> trace = read(
      "t7_s,t4_s,t3_s,t2_s,t1_s,memory_gib,class,deadline_s,arrival_s,id\n1,2,3,4,5,,c,9,8,x\n");
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->jobs[0].time[4], Micros::seconds(1));
  EXPECT_EQ(trace->jobs[0].memory_gib, 0);
  EXPECT_EQ(trace->id(JobId{0}), "x");
}

TEST(JobCsv, ByteOrderMarkAndCarriageReturnsAreAccepted) {
  const Result<Trace> trace =
      read("\xef\xbb\xbf" + std::string(kHeader.substr(0, kHeader.size() - 1)) +
           "\r\na,0,1,c,0,1,1,1,1,1\r\n");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->jobs[0].time[4], Micros::seconds(1));
}

TEST(JobCsv, AnEmptyClassIsCalledNone) {
  const Result<Trace> trace = read(std::string(kHeader) + "a,0,1,,0,1,1,1,1,1\n");
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->class_names, std::vector<std::string>{"none"});
}

TEST(JobCsv, MissingColumnsAreAllNamed) {
  EXPECT_EQ(read("id,arrival_s,class,memory_gib,t1_s,t2_s,t3_s,t4_s\n").error().message,
            "jobs.csv line 1: missing columns deadline_s, t7_s; wanted "
            "id,arrival_s,deadline_s,class,memory_gib,t1_s,t2_s,t3_s,t4_s,t7_s");
}

TEST(JobCsv, AnEmptyFileIsRefused) {
  EXPECT_EQ(read("").error().message,
            "jobs.csv is empty; wanted a header line: "
            "id,arrival_s,deadline_s,class,memory_gib,t1_s,t2_s,t3_s,t4_s,t7_s");
}

TEST(JobCsv, AHeaderAloneIsNoJobsAndAWarning) {
  EXPECT_EQ(read(kHeader)->jobs.size(), 0U);
  EXPECT_EQ(csv_warnings(kHeader), std::vector<std::string>{"jobs.csv holds no jobs"});
}

TEST(JobCsv, ExtraColumnsAreLeftOutWithAWarning) {
  const std::string text =
      "note,id,arrival_s,deadline_s,class,memory_gib,t1_s,t2_s,t3_s,t4_s,t7_s\nhi,a,0,1,c,0,1,1,1,"
      "1,1\n";
  EXPECT_EQ(csv_warnings(text), std::vector<std::string>{"jobs.csv: column 'note' is not used"});
}

TEST(JobCsv, ATimeThatIsNoNumberIsRefused) {
  EXPECT_EQ(refused_row("a,0,1,c,0,abc,1,1,1,1"),
            "jobs.csv line 2, column t1_s: found 'abc', wanted seconds from 0.000001 to 1e12");
  EXPECT_EQ(refused_row("a,0,1,c,0,1,1,1,1,nan"),
            "jobs.csv line 2, column t7_s: found 'nan', wanted seconds from 0.000001 to 1e12");
}

TEST(JobCsv, ATimeOfZeroOrLessIsRefused) {
  EXPECT_EQ(refused_row("a,0,1,c,0,1,0,1,1,1"),
            "jobs.csv line 2, column t2_s: found '0', wanted seconds from 0.000001 to 1e12");
  EXPECT_EQ(refused_row("a,0,1,c,0,1,1,-3,1,1"),
            "jobs.csv line 2, column t3_s: found '-3', wanted seconds from 0.000001 to 1e12");
  EXPECT_EQ(refused_row("a,0,1,c,0,1,1,1,1e-9,1"),
            "jobs.csv line 2, column t4_s: found '1e-9', wanted seconds from 0.000001 to 1e12");
}

TEST(JobCsv, AJobWithoutAnyTimeIsRefused) {
  EXPECT_EQ(refused_row("a,0,1,c,0,,,,,"),
            "jobs.csv line 2: found no time at all, wanted one of t1_s, t2_s, t3_s, t4_s, t7_s");
}

TEST(JobCsv, ADeadlineBeforeTheArrivalIsRefused) {
  EXPECT_EQ(refused_row("a,5,4.9,c,0,1,1,1,1,1"),
            "jobs.csv line 2, column deadline_s: found '4.9', wanted seconds not before the "
            "arrival at 5");
  EXPECT_EQ(refused_row("a,5,,c,0,1,1,1,1,1"),
            "jobs.csv line 2, column deadline_s: found '', wanted seconds up to 1e12");
}

TEST(JobCsv, ANegativeOrUnreadableArrivalIsRefused) {
  EXPECT_EQ(refused_row("a,-1,4,c,0,1,1,1,1,1"),
            "jobs.csv line 2, column arrival_s: found '-1', wanted seconds from 0 to 1e12");
  EXPECT_EQ(refused_row("a,inf,4,c,0,1,1,1,1,1"),
            "jobs.csv line 2, column arrival_s: found 'inf', wanted seconds from 0 to 1e12");
}

TEST(JobCsv, MemoryThatIsNegativeOrNoNumberIsRefused) {
  EXPECT_EQ(refused_row("a,0,4,c,-2,1,1,1,1,1"),
            "jobs.csv line 2, column memory_gib: found '-2', wanted GiB from 0 to 1e38");
  EXPECT_EQ(refused_row("a,0,4,c,NaN,1,1,1,1,1"),
            "jobs.csv line 2, column memory_gib: found 'NaN', wanted GiB from 0 to 1e38");
}

TEST(JobCsv, AnEmptyIdIsRefused) {
  EXPECT_EQ(refused_row(",0,4,c,0,1,1,1,1,1"),
            "jobs.csv line 2, column id: found '', wanted an id");
}

TEST(JobCsv, AnIdThatAppearsTwiceIsRefusedWhenAllJobsAreRead) {
  EXPECT_EQ(refused_row("a,0,4,c,0,1,1,1,1,1\na,0,4,c,0,1,1,1,1,1"),
            "job id 'a' appears twice, as jobs 1 and 2 of the input");
}

TEST(JobCsv, AShortRowIsRefused) {
  EXPECT_EQ(refused_row("a,0,4"), "jobs.csv line 2: found 3 fields, wanted 10 as in the header");
}

TEST(JobCsv, BadRowsAreCountedAndTheFirstIsShownOnRequest) {
  const std::string text =
      std::string(kHeader) + "a,0,4,c,0,1,1,1,1,1\nb,0,4,c,0,x,1,1,1,1\nc,0\nd,1,4,c,0,1,1,1,1,1\n";
  RowOptions options;
  options.skip_bad_rows = true;
  EXPECT_EQ(read(text, options)->jobs.size(), 2U);
  EXPECT_EQ(
      csv_warnings(text, options),
      std::vector<std::string>{"jobs.csv: 2 rows skipped as bad; the first: jobs.csv line 3, "
                               "column t1_s: found 'x', wanted seconds from 0.000001 to 1e12"});
}

TEST(JobCsv, ATraceOfBadRowsAloneIsAnErrorAlsoWhenTheyAreSkipped) {
  const std::string text = std::string(kHeader) + "b,0,4,c,0,x,1,1,1,1\nc,0\n";
  RowOptions options;
  options.skip_bad_rows = true;
  const auto trace = read(text, options);
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().message,
            "jobs.csv has no row that can be used: 2 rows skipped as bad; the first: jobs.csv "
            "line 2, column t1_s: found 'x', wanted seconds from 0.000001 to 1e12");
}

TEST(JobCsv, ReadingStopsAfterTheMostJobsAskedFor) {
  RowOptions options;
  options.max_jobs = 1;
  const std::string text = std::string(kHeader) + "a,0,4,c,0,1,1,1,1,1\nbroken\n";
  EXPECT_EQ(read(text, options)->jobs.size(), 1U);
}

TEST(JobCsv, PrintedSecondsAreThoseOfFormatSeconds) {
  Rng rng(5);
  for (int i = 0; i < 100'000; ++i) {
    const auto count = static_cast<std::int64_t>(rng.next() >> rng.below(64));
    std::string text;
    append_seconds(text, Micros{count});
    ASSERT_EQ(text, format_seconds(Micros{count}));
  }
}

JobRow random_row(Rng& rng, int number) {
  constexpr std::string_view kOdd = "a ,\"b\tc'\r-";
  JobRow row;
  row.id = std::to_string(number);
  for (std::uint64_t n = rng.below(5); n > 0; --n) row.id += kOdd[rng.below(kOdd.size())];
  row.job_class = "class " + std::to_string(rng.below(5));
  row.job.arrival = Micros{static_cast<std::int64_t>(rng.below(1'000'000'000'000'000))};
  row.job.deadline = row.job.arrival + Micros{static_cast<std::int64_t>(rng.below(1ULL << 40))};
  for (Micros& time : row.job.time) {
    time =
        rng.below(4) == 0 ? kNoTime : Micros{1 + static_cast<std::int64_t>(rng.below(1ULL << 45))};
  }
  row.job.time[rng.below(5)] = Micros{1};
  row.job.memory_gib = static_cast<float>(rng.lognormal(0, 5));
  return row;
}

MemoryCurve random_curve(Rng& rng) {
  if (rng.below(2) == 0) return {};
  const double peak = rng.lognormal(0, 3);
  return {peak * rng.uniform(), peak, 1 - rng.uniform(), rng.uniform()};
}

void expect_same_back(const std::string& text, const std::vector<JobRow>& rows) {
  auto source = CsvJobSource::open(Input::memory(text, "jobs.csv"));
  ASSERT_TRUE(source.ok());
  JobRow back;
  for (const JobRow& row : rows) {
    const Result<bool> more = (*source)->next(back);
    ASSERT_TRUE(more.ok() && *more) << (more ? "early end" : more.error().message);
    ASSERT_EQ(back.id, row.id);
    ASSERT_EQ(back.job_class, row.job_class);
    ASSERT_EQ(back.job, row.job);
    ASSERT_EQ(back.memory, row.memory);
  }
  EXPECT_FALSE(*(*source)->next(back));
}

TEST(JobCsv, WhatIsPrintedReadsBackEqual) {
  Rng rng(11);
  std::vector<JobRow> rows;
  std::string text;
  write_header(text);
  for (int i = 0; i < 20'000; ++i) {
    rows.push_back(random_row(rng, i));
    write_row(text, rows.back());
  }
  expect_same_back(text, rows);
}

TEST(JobCsv, MemoryCurvesReadBackEqual) {
  Rng rng(12);
  std::vector<JobRow> rows;
  std::string text;
  write_header(text, {.memory = true, .resumable = true});
  for (int i = 0; i < 5'000; ++i) {
    rows.push_back(random_row(rng, i));
    rows.back().memory = random_curve(rng);
    rows.back().job.resumable = rng.below(2) == 0;
    write_row(text, rows.back(), {.memory = true, .resumable = true});
  }
  expect_same_back(text, rows);
}

TEST(JobCsv, AJobCanBeResumedUnlessItsRowSaysNot) {
  const std::string text = std::string(kJobCsvHeader) +
                           ",resumable\na,0,9,x,1,5,,,,,0\nb,0,9,x,1,5,,,,,1\nc,0,9,x,1,5,,,,,\n";
  auto source = CsvJobSource::open(Input::memory(text, "jobs.csv"));
  ASSERT_TRUE(source.ok());
  JobRow row;
  for (const bool resumable : {false, true, true}) {
    ASSERT_TRUE(*(*source)->next(row));
    EXPECT_EQ(row.job.resumable, resumable);
  }
  EXPECT_TRUE((*source)->warnings().empty());
}

TEST(JobCsv, WhetherAJobCanBeResumedIsOneOrZero) {
  const std::string text = std::string(kJobCsvHeader) + ",resumable\na,0,9,x,1,5,,,,,yes\n";
  auto source = CsvJobSource::open(Input::memory(text, "jobs.csv"));
  ASSERT_TRUE(source.ok());
  JobRow row;
  const Result<bool> more = (*source)->next(row);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().message,
            "jobs.csv line 2, column resumable: found 'yes', wanted 1 or 0, or nothing for 1");
}

std::string memory_complaint(const std::string& columns, const std::string& fields) {
  const std::string text =
      std::string(kJobCsvHeader) + "," + columns + "\n1,0,9,x,1,5,,,,," + fields + "\n";
  auto source = CsvJobSource::open(Input::memory(text, "jobs.csv"));
  if (!source) return source.error().message;
  JobRow row;
  const Result<bool> more = (*source)->next(row);
  return more ? "accepted" : more.error().message;
}

TEST(JobCsv, AMemoryCurveIsWholeAndGrows) {
  const std::string all(kMemoryCsvHeader);
  EXPECT_EQ(memory_complaint(all, "1,2,0.5,0"), "accepted");
  EXPECT_EQ(memory_complaint(all, ",,,"), "accepted");
  for (const char* fields :
       {"2,1,0.5,0", "1,2,0,0", "1,2,1.5,0", "1,2,0.5,", "0,0,1,0", "x,2,1,0", "-1,2,1,0"}) {
    EXPECT_NE(memory_complaint(all, fields).find("jobs.csv line 2"), std::string::npos) << fields;
  }
  const std::string missing = memory_complaint("memory_start_gib,memory_peak_gib", "1,2");
  EXPECT_NE(missing.find("memory_peak_at"), std::string::npos) << missing;
}

std::int64_t resident_kib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == "VmRSS:") break;
  }
  std::int64_t kib = 0;
  status >> kib;
  return kib;
}

TEST(JobCsv, TwoHundredMegabytesThroughAPipeAreReadInConstantMemory) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  constexpr int kBlocks = 200;
  constexpr int kRowsInBlock = 13'000;
  std::thread writer([&] {
    Rng rng(2);
    std::string block;
    for (int i = 0; i < kRowsInBlock; ++i) write_row(block, random_row(rng, i));
    std::string header;
    write_header(header);
    EXPECT_GT(write(ends[1], header.data(), header.size()), 0);
    for (int i = 0; i < kBlocks; ++i) {
      std::size_t done = 0;
      while (done < block.size()) {
        const ssize_t wrote = write(ends[1], block.data() + done, block.size() - done);
        if (wrote <= 0) break;
        done += static_cast<std::size_t>(wrote);
      }
    }
    close(ends[1]);
  });
  auto source = CsvJobSource::open(Input::file("/dev/fd/" + std::to_string(ends[0])));
  ASSERT_TRUE(source.ok()) << source.error().message;
  JobRow row;
  std::int64_t first_kib = 0;
  std::int64_t most_kib = 0;
  std::int64_t rows = 0;
  while (true) {
    const Result<bool> more = (*source)->next(row);
    ASSERT_TRUE(more.ok());
    if (!*more) break;
    if (++rows % 100'000 != 0) continue;
    if (first_kib == 0) first_kib = resident_kib();
    most_kib = std::max(most_kib, resident_kib());
  }
  writer.join();
  close(ends[0]);
  EXPECT_EQ(rows, kBlocks * kRowsInBlock);
  EXPECT_LT((*source)->progress(), 0);
  EXPECT_LT(most_kib - first_kib, 16 * 1024);
}

}  // namespace
}  // namespace partita::workload
