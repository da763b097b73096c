// docs/reference/workloads.md gives the native format byte by byte; this holds it to that.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "workload/generators/papers.h"
#include "workload/test_support.h"

namespace partita::workload {
namespace {

// The first block between "```csv" and "```".
std::string documented_example() {
  std::ifstream file(std::string(PARTITA_SOURCE_DIR) + "/docs/reference/workloads.md");
  std::ostringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  const std::string fence = "```csv\n";
  const std::size_t begin = all.find(fence) + fence.size();
  return all.substr(begin, all.find("```", begin) - begin);
}

TEST(FormatDocument, ItsExampleReadsAndPrintsBackByteForByte) {
  const std::string example = documented_example();
  const std::vector<JobRow> rows =
      all_rows(CsvJobSource::open(Input::memory(example, "docs/reference/workloads.md")));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(csv_of(rows), example);
  EXPECT_EQ(rows[2].id, "fixed size, 2g");
  EXPECT_EQ(rows[2].job.time[0], kNoTime);
  EXPECT_EQ(rows[2].job.time[1], Micros::seconds(45));
}

TEST(FormatDocument, ItsFirstRowsAreThoseOfThePapersDayWithSeedSeven) {
  PapersOptions options;
  options.seed = 7;
  options.hours = 0.01;
  std::vector<JobRow> rows = all_rows(make_papers(options));
  ASSERT_GE(rows.size(), 2U);
  rows.resize(2);
  EXPECT_TRUE(documented_example().starts_with(csv_of(rows)));
}

}  // namespace
}  // namespace partita::workload
