#include "workload/readers/registry.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "workload/readers/reader_test_support.h"

namespace partita::workload {
namespace {

TEST(Dialects, AreSortedByName) {
  EXPECT_TRUE(std::is_sorted(dialects().begin(), dialects().end(),
                             [](const Dialect& a, const Dialect& b) { return a.name < b.name; }));
}

TEST(Dialects, AnUnknownNameListsTheKnownOnes) {
  EXPECT_EQ(find_dialect("swf").error().message,
            "unknown trace format 'swf'; known: azure-llm, genai, native, openb, philly");
}

TEST(Dialects, EachIsRecognisedByItsColumnsInAnyOrder) {
  for (const Dialect& dialect : dialects()) {
    std::vector<std::string> header(dialect.columns.rbegin(), dialect.columns.rend());
    header.emplace_back("something else");
    ASSERT_NE(detect(header), nullptr);
    EXPECT_EQ(detect(header)->name, dialect.name);
    EXPECT_TRUE(find_dialect(dialect.name).ok());
  }
}

TEST(Dialects, NativeFilesAreReadThroughTheSameFunction) {
  const std::string text =
      "id,arrival_s,deadline_s,class,memory_gib,t1_s,t2_s,t3_s,t4_s,t7_s\na,0,1,c,0,1,1,1,1,1\n";
  EXPECT_EQ(rows_of(text, {}).size(), 1U);
}

TEST(Dialects, AHeaderOfNoKnownDialectSaysWhatEachNeedsAndWhatTheClosestLacks) {
  const std::string message = refusal("id,arrival_s,class,memory_gib,t1_s,t2_s,t3_s,t4_s\n", {});
  EXPECT_TRUE(message.starts_with(
      "t.csv line 1: the header fits no known trace format (closest: native, which lacks "
      "deadline_s,t7_s); azure-llm needs TIMESTAMP,ContextTokens,GeneratedTokens; genai needs "))
      << message;
  EXPECT_NE(message.find("; philly needs timestamp,duration,num_gpus"), std::string::npos);
  EXPECT_TRUE(
      refusal("a,b\n", {})
          .starts_with("t.csv line 1: the header fits no known trace format; azure-llm needs "));
}

TEST(Dialects, ANamedDialectWithoutItsColumnsIsRefused) {
  EXPECT_EQ(open_trace(Input::memory("a\n", "t.csv"), {}, "philly").error().message,
            "t.csv line 1: missing columns timestamp, duration, num_gpus; wanted "
            "timestamp,duration,num_gpus");
}

TEST(Dialects, AnEmptyFileIsRefused) {
  EXPECT_EQ(refusal("", {}),
            "t.csv is empty; wanted a header line: "
            "id,arrival_s,deadline_s,class,memory_gib,t1_s,t2_s,t3_s,t4_s,t7_s");
}

TEST(Dialects, AMissingFileIsRefused) {
  EXPECT_EQ(open_trace(Input::file("/nonexistent/t.csv"), {}).error().message,
            "cannot read /nonexistent/t.csv: No such file or directory");
}

TEST(Dialects, StandardInputCannotBeReadTwiceSoTheFirstRowIsTheOrigin) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  constexpr std::string_view kText =
      "timestamp,duration,num_gpus\n2017-10-09 07:00:00,1,1\n2017-10-09 07:00:05,1,1\n"
      "2017-10-09 06:00:00,1,1\n";
  ASSERT_EQ(write(ends[1], kText.data(), kText.size()), static_cast<ssize_t>(kText.size()));
  close(ends[1]);
  const int saved = dup(STDIN_FILENO);
  dup2(ends[0], STDIN_FILENO);
  const auto source = open_trace(Input::file("-"), {});
  ASSERT_TRUE(source.ok());
  JobRow row;
  EXPECT_TRUE(*(*source)->next(row));
  EXPECT_EQ(row.job.arrival, Micros{0});
  EXPECT_TRUE(*(*source)->next(row));
  EXPECT_EQ(row.job.arrival, Micros::seconds(5));
  EXPECT_EQ((*source)->next(row).error().message,
            "standard input line 4, column timestamp: found '2017-10-09 06:00:00', wanted a time "
            "not before that of the first row");
  dup2(saved, STDIN_FILENO);
  close(saved);
  close(ends[0]);
}

}  // namespace
}  // namespace partita::workload
