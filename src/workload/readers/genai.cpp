#include "workload/readers/genai.h"

#include "workload/readers/timestamp.h"

namespace partita::workload {
namespace {

// Curve: the one measured image generator. Memory: the median in use on the pods that served these
// requests.
constexpr TraceFacts kGenaiFacts{"gmt_create", parse_timestamp,
                                 "a time such as 2024-11-15 16:57:50", "miso-cyclegan-b1", 23.1};

class Genai final : public TraceReader {
 public:
  explicit Genai(Opened opened) : TraceReader(std::move(opened)) {}

 private:
  Result<bool> convert(JobRow& row) override {
    if (table().field(status_) != "SUCCEED") return pass_over("predict_status is not SUCCEED");
    if (table().field(type_).empty()) return table().bad_field(type_, "a type of request");
    const Result<double> seconds = duration(seconds_);
    if (!seconds) return seconds.error();
    const Result<bool> used = set_arrival(row);
    if (!used || !*used) return used;
    set_id(row, table().line());
    set_times(row, *seconds);
    row.job_class.assign(table().field(type_));
    return true;
  }

  std::size_t type_ = column(1);
  std::size_t status_ = column(2);
  std::size_t seconds_ = column(3);
};

}  // namespace

Result<std::unique_ptr<JobSource>> open_genai(CsvTable table, const Input& input,
                                              const ReaderOptions& options) {
  return TraceReader::open<Genai>(std::move(table), kGenaiColumns, kGenaiFacts, input, options);
}

}  // namespace partita::workload
