#include "workload/readers/openb.h"

#include <gtest/gtest.h>

#include "workload/readers/reader_test_support.h"

namespace partita::workload {
namespace {

const std::string kOpenbHeader =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
    "deletion_time,scheduled_time\n";

std::string pod(std::string_view name, std::string_view gpus, std::string_view milli,
                std::string_view times) {
  return std::string(name) + ",6000,12288," + std::string(gpus) + "," + std::string(milli) +
         ",,LS,Running," + std::string(times) + "\n";
}

TEST(Openb, APodRunsFullSpeedOnSlicesOfItsShareAndSlowerBelow) {
  const std::vector<JobRow> rows = rows_of(kOpenbHeader + pod("p", "1", "500", "100,1110,110"), {});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].id, "p");
  EXPECT_EQ(rows[0].job_class, "LS");
  EXPECT_EQ(rows[0].job.arrival, Micros{0});
  EXPECT_EQ(rows[0].job.time[4], Micros::seconds(1000));
  EXPECT_EQ(rows[0].job.time[3], Micros::seconds(1000));
  EXPECT_NEAR(rows[0].job.time[2].to_seconds(), 1000 * 3.5 / 3, 1e-6);
  EXPECT_EQ(rows[0].job.time[0], Micros::seconds(3500));
  EXPECT_EQ(rows[0].job.memory_gib, 0);
}

TEST(Openb, SlicesBelowTheShareAreForbiddenOnRequest) {
  ReaderOptions options;
  options.openb_smaller_slices = false;
  const Job job = rows_of(kOpenbHeader + pod("p", "1", "500", "100,1110,110"), options).at(0).job;
  EXPECT_EQ(job.time[2], kNoTime);
  EXPECT_EQ(job.time[3], Micros::seconds(1000));
}

TEST(Openb, MemoryIsTheShareOfTheGpuNamedOrAConstant) {
  const std::string text = kOpenbHeader + pod("p", "1", "500", "100,1110,110");
  ReaderOptions options;
  options.openb_gpu_gib = 40;
  EXPECT_EQ(rows_of(text, options).at(0).job.memory_gib, 20);
  options.memory_gib = 3;
  EXPECT_EQ(rows_of(text, options).at(0).job.memory_gib, 3);
}

TEST(Openb, PodsThatAreNoJobOfOneGpuArePassedOverAndCounted) {
  const std::string text =
      kOpenbHeader + pod("none", "0", "0", "0,10,0") + pod("many", "8", "1000", "0,10,0") +
      pod("waiting", "1", "500", "0,10,") + pod("running", "1", "500", "5,12902960,5") +
      pod("a", "1", "500", "7,9,8");
  EXPECT_EQ(rows_of(text, {}).size(), 1U);
  EXPECT_EQ(
      warnings_of(text, {}),
      (std::vector<std::string>{"t.csv: 1 row passed over: no GPU asked for",
                                "t.csv: 1 row passed over: more than one GPU asked for",
                                "t.csv: 1 row passed over: never started",
                                "t.csv: 1 row passed over: still running when the trace ended"}));
  ReaderOptions options;
  options.openb_censored = true;
  EXPECT_EQ(rows_of(text, options).size(), 2U);
}

TEST(Openb, BadRowsAreRefusedByColumn) {
  EXPECT_EQ(refusal(kOpenbHeader + pod("p", "x", "500", "0,10,0"), {}),
            "t.csv line 2, column num_gpu: found 'x', wanted a whole number of GPUs");
  EXPECT_EQ(refusal(kOpenbHeader + pod("p", "1", "1001", "0,10,0"), {}),
            "t.csv line 2, column gpu_milli: found '1001', wanted 1 to 1000 thousandths of a GPU");
  EXPECT_EQ(refusal(kOpenbHeader + pod("p", "1", "500", "0,10,10"), {}),
            "t.csv line 2, column deletion_time: found '10', wanted seconds after the start at 10");
  EXPECT_EQ(refusal(kOpenbHeader + pod("p", "1", "500", "0,10,soon"), {}),
            "t.csv line 2, column scheduled_time: found 'soon', wanted seconds");
  EXPECT_EQ(refusal(kOpenbHeader + pod("p", "1", "500", "nan,10,0"), {}),
            "t.csv line 2, column creation_time: found 'nan', wanted seconds");
  EXPECT_EQ(refusal(kOpenbHeader + pod("", "1", "500", "0,10,0"), {}),
            "t.csv line 2, column name: found '', wanted a name");
}

TEST(Openb, CurvesAreNotUsedAndAWarningSaysSo) {
  ReaderOptions options;
  options.curves = "bert-training";
  EXPECT_EQ(warnings_of(kOpenbHeader + pod("p", "1", "500", "0,10,0"), options),
            std::vector<std::string>{
                "openb: speed-up curves are not used; the share of the GPU decides"});
}

TEST(Openb, ThePublishedTraceHasItsPodsAndQuantiles) {
  const std::string path = shared_trace("alibaba_gpu2023_openb_pod_list_default.csv.zst");
  if (path.empty()) {
    GTEST_SKIP() << "no ../shared/traces/alibaba_gpu2023_openb_pod_list_default.csv.zst";
  }
  ReaderOptions options;
  EXPECT_EQ(all_rows(open_trace(Input::file(path), options)).size(), 6'099U);
  options.openb_censored = true;
  const auto source = open_trace(Input::file(path), options);
  const std::vector<JobRow> rows = all_rows(source);
  EXPECT_EQ(rows.size(), 6'129U);
  EXPECT_EQ(quantile(whole_gpu_s(rows), .5), 655);
  EXPECT_NE((*source)->warnings().at(0).find("1088 rows passed over: no GPU asked for"),
            std::string::npos);
}

}  // namespace
}  // namespace partita::workload
