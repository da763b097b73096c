#include "experiment/results/make_record.h"

#include <gtest/gtest.h>

#include "experiment/test_support.h"

namespace partita::experiment {
namespace {

TEST(MakeRecord, EveryFigureOfARunHasItsPlace) {
  sim::RunOptions options;
  options.gpus = 8;
  options.et_a = 2e-7;
  sim::RunResult result;
  result.energy_j = 600;
  result.jobs = 4;
  result.late_jobs = 1;
  result.mean_tardiness_s = 1;
  result.p50_tardiness_s = 2;
  result.p95_tardiness_s = 3;
  result.p99_tardiness_s = 4;
  result.max_tardiness_s = 5;
  result.mean_wait_s = 6;
  result.compute_utilisation = 0.7;
  result.memory_utilisation = 0.8;
  result.events = 9;
  result.decisions = 10;
  result.preemptions = 11;
  result.repartitions = 12;
  result.instances_created = 13;
  result.instances_destroyed = 14;
  result.out_of_memory = 16;
  result.early_restarts = 17;
  result.makespan = Micros::seconds(18);
  result.et = 15;
  const RunRecord record = make_record(
      {"e", "s", "p", "cedf", "none", day_seed(Role::kTune, 3), Role::kTune}, options, result);
  EXPECT_EQ(format_record(record),
            "{\"experiment\":\"e\",\"setting\":\"s\",\"policy\":\"p\",\"scheduler\":\"cedf\","
            "\"repartition\":\"none\",\"seed\":3000003,\"role\":\"tune\",\"energy_j\":600.0,"
            "\"energy_w_min\":10.0,\"mean_tardiness_s\":1.0,\"p50_tardiness_s\":2.0,"
            "\"p95_tardiness_s\":3.0,\"p99_tardiness_s\":4.0,\"max_tardiness_s\":5.0,"
            "\"late_share\":0.25,\"mean_wait_s\":6.0,\"compute_utilisation\":0.7,"
            "\"memory_utilisation\":0.8,\"jobs\":4,\"gpus\":8,\"events\":9,\"decisions\":10,"
            "\"preemptions\":11,\"repartitions\":12,\"instances_created\":13,"
            "\"instances_destroyed\":14,\"out_of_memory\":16,\"early_restarts\":17,"
            "\"makespan_s\":18.0,\"et_a\":2e-07,\"et\":15.0,\"layout_shares\":\"\"}");
  EXPECT_FALSE(record.fragmentation);
  options.measure_fragmentation = true;
  result.fragmentation = 0.19;
  EXPECT_EQ(make_record({}, options, result).fragmentation, 0.19);
}

}  // namespace
}  // namespace partita::experiment
