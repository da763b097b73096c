#include "workload/readers/azure_llm.h"

#include "base/text.h"
#include "workload/readers/timestamp.h"

namespace partita::workload {
namespace {

// Curve: decoding is bound by memory bandwidth, which MIG divides like its slices, so the linear
// one. Memory: the weights of a 7-billion-parameter model in 16 bits, with space for its cache.
constexpr TraceFacts kAzureFacts{"TIMESTAMP", parse_timestamp,
                                 "a time such as 2023-11-16 18:17:03.9799600", "bert-inference",
                                 16};

class AzureLlm final : public TraceReader {
 public:
  explicit AzureLlm(Opened opened) : TraceReader(std::move(opened)) {}

 private:
  std::optional<double> tokens(std::size_t column) const {
    constexpr std::int64_t kTokensMax = 1'000'000'000;
    const std::optional<std::int64_t> count = parse_int(table().field(column));
    if (!count || *count < 0 || *count > kTokensMax) return {};
    return static_cast<double>(*count);
  }

  Result<bool> convert(JobRow& row) override {
    const std::optional<double> context = tokens(context_);
    if (!context) return table().bad_field(context_, "a whole number of tokens");
    const std::optional<double> generated = tokens(generated_);
    if (!generated) return table().bad_field(generated_, "a whole number of tokens");
    if (*context + *generated == 0) return pass_over("no tokens");
    const double seconds = *context / options().azure_prefill_tokens_per_s +
                           *generated / options().azure_decode_tokens_per_s;
    const Result<bool> used = set_arrival(row);
    if (!used || !*used) return used;
    set_id(row, table().line());
    set_times(row, seconds);
    row.job_class = "llm";
    return true;
  }

  std::size_t context_ = column(1);
  std::size_t generated_ = column(2);
};

}  // namespace

Result<std::unique_ptr<JobSource>> open_azure_llm(CsvTable table, const Input& input,
                                                  const ReaderOptions& options) {
  return TraceReader::open<AzureLlm>(std::move(table), kAzureLlmColumns, kAzureFacts, input,
                                     options);
}

}  // namespace partita::workload
