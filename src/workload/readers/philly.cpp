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
  static Result<std::unique_ptr<JobSource>> open(CsvTable table, const Input& input,
                                                 const ReaderOptions& options) {
    const Result<std::vector<std::size_t>> columns = table.require(kPhillyColumns);
    if (!columns) return columns.error();
    Result<Setup> setup = set_up(table, input, kPhillyFacts, options);
    if (!setup) return setup.error();
    return std::unique_ptr<JobSource>(
        new Philly(std::move(table), options, *std::move(setup), *columns));
  }

 private:
  Philly(CsvTable table, const ReaderOptions& options, Setup setup,
         const std::vector<std::size_t>& columns)
      : TraceReader(std::move(table), kPhillyFacts, options, std::move(setup)),
        duration_(columns[1]),
        gpus_(columns[2]) {}

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

  std::size_t duration_;
  std::size_t gpus_;
};

}  // namespace

Result<std::unique_ptr<JobSource>> open_philly(CsvTable table, const Input& input,
                                               const ReaderOptions& options) {
  return Philly::open(std::move(table), input, options);
}

}  // namespace partita::workload
