#include "experiment/results/batches.h"

#include <gtest/gtest.h>

#include "experiment/test_support.h"

namespace partita::experiment {
namespace {

RunRecord run(const std::string& policy, std::uint64_t seed, double makespan_s, double energy_j) {
  RunRecord record = specimen_record();
  record.setting = "s";
  record.policy = policy;
  record.seed = seed;
  record.makespan_s = makespan_s;
  record.energy_j = energy_j;
  return record;
}

StudySetting setting_of(const std::vector<std::string>& policies) {
  StudySetting setting;
  setting.name = "s";
  for (const std::string& policy : policies) setting.policies.push_back({policy, "fifo", "none"});
  return setting;
}

TEST(BatchRows, DivideTheReferenceByThePolicy) {
  const std::vector<RunRecord> records = {run("b", 2, 40, 100), run("a", 1, 100, 300),
                                          run("a", 2, 120, 300), run("b", 1, 60, 200)};
  const std::vector<BatchRow> rows = batch_rows(setting_of({"a", "b"}), records);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_DOUBLE_EQ(rows[0].throughput.mean, 1);
  EXPECT_DOUBLE_EQ(rows[1].makespan_s, 50);
  EXPECT_DOUBLE_EQ(rows[1].throughput.mean, 2.2);
  EXPECT_DOUBLE_EQ(rows[1].throughput.best, 3);
  EXPECT_DOUBLE_EQ(rows[1].energy.mean, 2);
  EXPECT_TRUE(rows[1].energy.interval.has_value());
}

TEST(BatchRows, LeaveOutWhatWasNotRunOnTheSameBatches) {
  const std::vector<RunRecord> records = {run("a", 1, 100, 300), run("a", 2, 100, 300),
                                          run("b", 1, 50, 100)};
  EXPECT_EQ(batch_rows(setting_of({"a", "b"}), records).size(), 1U);
}

}  // namespace
}  // namespace partita::experiment
