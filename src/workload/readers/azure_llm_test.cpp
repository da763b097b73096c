#include "workload/readers/azure_llm.h"

#include <gtest/gtest.h>

#include "workload/readers/reader_test_support.h"

namespace partita::workload {
namespace {

const std::string kAzureHeader = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n";

TEST(AzureLlm, TokensBecomeSecondsByTheTwoRates) {
  ReaderOptions options;
  options.azure_prefill_tokens_per_s = 1000;
  options.azure_decode_tokens_per_s = 10;
  const std::vector<JobRow> rows = rows_of(
      kAzureHeader + "2023-11-16 18:17:03.9799600,4000,20\r\n2023-11-16 18:17:04.0319600,1,1",
      options);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].job.time[4], Micros::seconds(6));
  EXPECT_EQ(rows[0].job.time[0], Micros::seconds(42));
  EXPECT_EQ(rows[0].job.memory_gib, 16);
  EXPECT_EQ(rows[0].job_class, "llm");
  EXPECT_EQ(rows[1].job.arrival, Micros{52'000});
}

TEST(AzureLlm, ARequestWithoutTokensIsPassedOver) {
  EXPECT_EQ(warnings_of(kAzureHeader + "2023-11-16 18:17:03,0,0\n2023-11-16 18:17:04,1,1\n", {}),
            std::vector<std::string>{"t.csv: 1 row passed over: no tokens"});
}

TEST(AzureLlm, BadRowsAreRefusedByColumn) {
  EXPECT_EQ(refusal(kAzureHeader + "2023-11-16 18:17:03,-1,3\n", {}),
            "t.csv line 2, column ContextTokens: found '-1', wanted a whole number of tokens");
  EXPECT_EQ(refusal(kAzureHeader + "2023-11-16 18:17:03,1,3.5\n", {}),
            "t.csv line 2, column GeneratedTokens: found '3.5', wanted a whole number of tokens");
}

TEST(AzureLlm, ThePublishedTracesHaveTheirRequests) {
  const std::string code = shared_trace("azure_llm2023_code.csv.zst");
  const std::string conv = shared_trace("azure_llm2023_conv.csv.zst");
  if (code.empty() || conv.empty()) {
    GTEST_SKIP() << "no ../shared/traces/azure_llm2023_code.csv.zst and _conv.csv.zst";
  }
  ReaderOptions options;
  options.azure_prefill_tokens_per_s = 1e12;  // only the generated tokens count
  options.azure_decode_tokens_per_s = 1;
  const std::vector<JobRow> rows = all_rows(open_trace(Input::file(code), options));
  EXPECT_EQ(rows.size(), 8'819U);
  EXPECT_NEAR(quantile(whole_gpu_s(rows), .5), 13, .01);
  const std::vector<JobRow> chat = all_rows(open_trace(Input::file(conv), options));
  EXPECT_EQ(chat.size(), 19'366U);
  EXPECT_NEAR(quantile(whole_gpu_s(chat), .5), 129, .01);
}

}  // namespace
}  // namespace partita::workload
