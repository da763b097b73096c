#include "experiment/results/run_record.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/rng.h"
#include "experiment/test_support.h"

namespace partita::experiment {
namespace {

std::string refusal(std::string_view line) {
  const Result<RunRecord> record = parse_record(line);
  return record ? "accepted" : record.error().message;
}

// The specimen's line with one piece of it replaced.
std::string changed(std::string_view from, std::string_view to) {
  std::string line = format_record(specimen_record());
  const std::size_t at = line.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return line.replace(at, from.size(), to);
}

TEST(RunRecord, IsWrittenAsTheDocumentShowsIt) {
  const std::string document =
      text_of(std::string(PARTITA_SOURCE_DIR) + "/docs/reference/results.md");
  const std::string line = format_record(specimen_record());
  EXPECT_NE(document.find("\n" + line + "\n"), std::string::npos) << line;
}

TEST(RunRecord, EveryBitComesBack) {
  Rng rng(61);
  for (int trial = 0; trial < 2000; ++trial) {
    RunRecord record = specimen_record();
    record.energy_j = std::ldexp(rng.uniform(), static_cast<int>(rng.below(400)) - 200);
    record.mean_tardiness_s = rng.lognormal(0, 3);
    record.et = -rng.uniform();
    record.jobs = rng.next();
    record.policy = "ä \"quoted\" \\ \n\t" + std::to_string(rng.next());
    EXPECT_EQ(*parse_record(format_record(record)), record);
  }
  RunRecord edge = specimen_record();
  edge.energy_j = std::numeric_limits<double>::denorm_min();
  edge.et = std::numeric_limits<double>::max();
  edge.et_a = -0.0;
  edge.jobs = std::numeric_limits<std::uint64_t>::max();
  const RunRecord back = *parse_record(format_record(edge));
  EXPECT_EQ(back, edge);
  EXPECT_TRUE(std::signbit(back.et_a));
}

TEST(RunRecord, WhatIsNoRecordIsRefusedWithItsKey) {
  EXPECT_EQ(refusal(""), "found no JSON object, wanted one run a line");
  EXPECT_EQ(refusal("[1,2]"), "found no JSON object, wanted one run a line");
  EXPECT_EQ(refusal("{\"experiment\":"), "found no JSON object, wanted one run a line");
  EXPECT_EQ(refusal("{}"), "key 'experiment' is missing");
  EXPECT_EQ(refusal(changed("\"jobs\":4148,", "")), "key 'jobs' is missing");
  EXPECT_EQ(refusal(changed(":4148,", ":-1,")),
            "jobs: found -1, wanted a whole number of 0 or more");
  EXPECT_EQ(refusal(changed(":4148,", ":1.5,")),
            "jobs: found 1.5, wanted a whole number of 0 or more");
  EXPECT_EQ(refusal(changed(":150612345.6,", ":\"much\",")),
            "energy_j: found \"much\", wanted a number");
  EXPECT_EQ(refusal(changed("\"test\"", "\"exam\"")),
            "role: found \"exam\", wanted test, train or tune");
  EXPECT_EQ(refusal(changed("{", "{\"wall_s\":1,")), "unknown key 'wall_s'");
}

TEST(RunRecord, TheFragmentationStandsOnlyWhereItWasMeasured) {
  RunRecord record = specimen_record();
  EXPECT_EQ(format_record(record).find("fragmentation"), std::string::npos);
  EXPECT_FALSE(parse_record(format_record(record))->fragmentation);
  record.fragmentation = 0.125;
  EXPECT_TRUE(format_record(record).ends_with(",\"fragmentation\":0.125}"));
  EXPECT_EQ(*parse_record(format_record(record)), record);
  EXPECT_EQ(refusal(changed("{", "{\"fragmentation\":\"none\",")),
            "fragmentation: found \"none\", wanted a number");
  record.fragmentation = std::nan("");
  EXPECT_EQ(check_record(record).error().message,
            "fragmentation: found nan, wanted a finite number");
}

TEST(RunRecord, ADayOfAnotherRoleIsRefused) {
  EXPECT_EQ(refusal(changed("\"test\"", "\"train\"")),
            "seed: found 1000000, which is a day of role test, wanted one of role train");
}

TEST(RunRecord, NumbersThatJsonCannotHoldAreRefusedBeforeWriting) {
  RunRecord record = specimen_record();
  record.mean_wait_s = std::nan("");
  EXPECT_EQ(check_record(record).error().message, "mean_wait_s: found nan, wanted a finite number");
  record = specimen_record();
  record.scheduler = "\xff";
  EXPECT_EQ(check_record(record).error().message, "scheduler: found bytes that are not UTF-8");
  EXPECT_TRUE(check_record(specimen_record()).ok());
}

TEST(RunRecord, KeysSortBySettingThenPolicyThenDay) {
  EXPECT_LT((RunKey{"a", "z", 9}), (RunKey{"b", "a", 1}));
  EXPECT_LT((RunKey{"a", "b", 9}), (RunKey{"a", "c", 1}));
  EXPECT_LT((RunKey{"a", "b", 9}), (RunKey{"a", "b", 10}));
  EXPECT_EQ((RunKey{"", "cedf", 9}.text()), "cedf, day 9");
  EXPECT_EQ((RunKey{"rate=20", "cedf", 9}.text()), "rate=20, cedf, day 9");
}

}  // namespace
}  // namespace partita::experiment
