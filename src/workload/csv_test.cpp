#include "workload/csv.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/rng.h"

namespace partita::workload {
namespace {

std::string fields_of(std::string_view line) {
  CsvSplitter splitter;
  if (!splitter.split(line)) return "bad";
  return fmt::format("{}", fmt::join(splitter.fields(), "|"));
}

TEST(CsvSplitter, SplitsAtCommasAndDropsBlanksAroundFields) {
  EXPECT_EQ(fields_of("a,b,,c"), "a|b||c");
  EXPECT_EQ(fields_of(" a ,\tb"), "a|b");
  EXPECT_EQ(fields_of(","), "|");
  EXPECT_EQ(fields_of(""), "");
}

TEST(CsvSplitter, QuotesKeepCommasBlanksAndDoubledQuotes) {
  EXPECT_EQ(fields_of(R"("a,b",c)"), "a,b|c");
  EXPECT_EQ(fields_of(R"(x,"say ""hi""")"), R"(x|say "hi")");
  EXPECT_EQ(fields_of(R"( " a " ,b)"), " a |b");
  EXPECT_EQ(fields_of(R"("",b)"), "|b");
  EXPECT_EQ(fields_of(R"(a,"b",)"), "a|b|");
  EXPECT_EQ(fields_of(R"(5" disk,b)"), R"(5" disk|b)");
}

TEST(CsvSplitter, AnOpenQuoteAndTextAfterAQuoteAreRefused) {
  EXPECT_EQ(fields_of(R"("a,b)"), "bad");
  EXPECT_EQ(fields_of(R"("a"b,c)"), "bad");
  EXPECT_EQ(fields_of(R"(a,")"), "bad");
}

TEST(CsvSplitter, WhatIsPrintedSplitsBackEqual) {
  constexpr std::string_view kAlphabet = "ab,\" \t\r'x";
  Rng rng(3);
  CsvSplitter splitter;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::string> fields(1 + rng.below(4));
    std::string line;
    for (std::string& field : fields) {
      for (std::uint64_t n = rng.below(5); n > 0; --n) field += kAlphabet[rng.below(9)];
      if (&field != &fields.front()) line += ',';
      append_csv_field(line, field);
    }
    ASSERT_TRUE(splitter.split(line)) << line;
    ASSERT_EQ(std::vector<std::string>(splitter.fields().begin(), splitter.fields().end()), fields);
  }
}

TEST(CsvTable, ErrorsNameFileLineColumnFoundAndWanted) {
  Result<CsvTable> table = CsvTable::open(Input::memory("a,b\n\n1,x\n", "jobs.csv"), "a,b");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(*table->next(), RowState::kRow);
  EXPECT_EQ(table->bad_field(1, "a number").message,
            "jobs.csv line 3, column b: found 'x', wanted a number");
  EXPECT_EQ(*table->next(), RowState::kEnd);
}

TEST(CsvTable, ARowWithTheWrongNumberOfFieldsIsBad) {
  Result<CsvTable> table = CsvTable::open(Input::memory("a,b\n1\n\"x,2\n", "jobs.csv"), "a,b");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(*table->next(), RowState::kBad);
  EXPECT_EQ(table->row_error().message,
            "jobs.csv line 2: found 1 fields, wanted 2 as in the header");
  EXPECT_EQ(*table->next(), RowState::kBad);
  EXPECT_EQ(table->row_error().message, "jobs.csv line 3: a quote is not closed on this line");
}

TEST(CsvTable, AColumnThatAppearsTwiceIsRefused) {
  EXPECT_EQ(CsvTable::open(Input::memory("a,b,a\n", "jobs.csv"), "a").error().message,
            "jobs.csv line 1: column 'a' appears twice in the header");
}

TEST(CsvTable, LongAndUnprintableFindsAreShownShortAndClean) {
  EXPECT_EQ(shown("a\tb"), "'a?b'");
  EXPECT_EQ(shown(std::string(100, 'x')), "'" + std::string(60, 'x') + "...'");
}

}  // namespace
}  // namespace partita::workload
