#include "workload/readers/philly.h"

#include "base/text.h"
#include "workload/readers/timestamp.h"

namespace partita::workload {
namespace {

// Curves: the trace says nothing of models, so the measured training jobs stand for them.
constexpr TraceFacts kPhillyFacts{"timestamp", parse_timestamp,
                                  "a time such as 2017-10-09 07:01:55", "miso", std::nullopt};

class Philly final : public TraceReader {
 public:
  explicit Philly(Opened opened) : TraceReader(std::move(opened)) {}

 private:
  Result<bool> convert(JobRow& row) override {
    constexpr std::int64_t kGpusMax = 100'000;
    const std::optional<std::int64_t> gpus = parse_int(table().field(gpus_));
    if (!gpus || *gpus < 0 || *gpus > kGpusMax) {
      return table().bad_field(gpus_, "a whole number of GPUs");
    }
    if (*gpus == 0) return pass_over("no GPU asked for");
    if (*gpus > 1 && !options().philly_flatten) return pass_over("more than one GPU asked for");
    const Result<double> seconds = duration(duration_);
    if (!seconds) return seconds.error();
    const Result<bool> used = set_arrival(row);
    if (!used || !*used) return used;
    set_id(row, table().line());
    set_times(row, *seconds * static_cast<double>(*gpus));
    return true;
  }

  std::size_t duration_ = column(1);
  std::size_t gpus_ = column(2);
};

}  // namespace

Result<std::unique_ptr<JobSource>> open_philly(CsvTable table, const Input& input,
                                               const ReaderOptions& options) {
  return TraceReader::open<Philly>(std::move(table), kPhillyColumns, kPhillyFacts, input, options);
}

}  // namespace partita::workload
