#include "workload/readers/genai.h"

#include <gtest/gtest.h>

#include "workload/readers/reader_test_support.h"

namespace partita::workload {
namespace {

const std::string kGenaiHeader =
    "gmt_create,predict_type,predict_status,exec_time_seconds,groupId\n";

TEST(Genai, ASuccessfulRequestIsAJob) {
  const std::string text = kGenaiHeader + "2024-11-15 16:57:50,TXT_2_IMG,SUCCEED,32.0,G0\n" +
                           "2024-11-15 18:16:14,IMG_2_IMG,FAILED,43.0,G1\n" +
                           "2024-11-15 18:17:06,IMG_2_IMG,SUCCEED,36.0,G1\n";
  const std::vector<JobRow> rows = rows_of(text, {});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].job_class, "TXT_2_IMG");
  EXPECT_EQ(rows[0].job.time[4], Micros::seconds(32));
  EXPECT_NEAR(rows[0].job.memory_gib, 23.1, 1e-5);
  EXPECT_EQ(rows[1].job.arrival, Micros::seconds(3600 + 19 * 60 + 16));
  EXPECT_EQ(warnings_of(text, {}),
            std::vector<std::string>{"t.csv: 1 row passed over: predict_status is not SUCCEED"});
}

TEST(Genai, MemoryMayComeFromTheCurve) {
  ReaderOptions options;
  options.memory_from_curve = true;
  const std::string text = kGenaiHeader + "2024-11-15 16:57:50,TXT_2_IMG,SUCCEED,32.0,G0\n";
  EXPECT_NEAR(rows_of(text, options).at(0).job.memory_gib, 4.75 / 2, 1e-5);
}

TEST(Genai, BadRowsAreRefusedByColumn) {
  EXPECT_EQ(refusal(kGenaiHeader + "2024-11-15,TXT_2_IMG,SUCCEED,32.0,G0\n", {}),
            "t.csv line 2, column gmt_create: found '2024-11-15', wanted a time such as "
            "2024-11-15 16:57:50");
  EXPECT_EQ(refusal(kGenaiHeader + "2024-11-15 16:57:50,TXT_2_IMG,SUCCEED,0,G0\n", {}),
            "t.csv line 2, column exec_time_seconds: found '0', wanted seconds greater than 0");
  EXPECT_EQ(refusal(kGenaiHeader + "2024-11-15 16:57:50,,SUCCEED,1,G0\n", {}),
            "t.csv line 2, column predict_type: found '', wanted a type of request");
}

TEST(Genai, ThePublishedTraceHasItsRequestsAndQuantiles) {
  const std::string path = shared_trace("alibaba_genai2026_lora_request_trace.csv.zst");
  if (path.empty()) {
    GTEST_SKIP() << "no ../shared/traces/alibaba_genai2026_lora_request_trace.csv.zst";
  }
  const std::vector<JobRow> rows = all_rows(open_trace(Input::file(path), {}));
  EXPECT_EQ(rows.size(), 26'392U);
  EXPECT_EQ(quantile(whole_gpu_s(rows), .05), 11);
  EXPECT_EQ(quantile(whole_gpu_s(rows), .50), 23);
  EXPECT_EQ(quantile(whole_gpu_s(rows), .99), 106);
}

}  // namespace
}  // namespace partita::workload
