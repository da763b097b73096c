#include "workload/readers/openb.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace partita::workload {
namespace {

constexpr TraceFacts kOpenbFacts{"creation_time", parse_seconds, "seconds", "bert-inference",
                                 std::nullopt};

enum Column : std::size_t { kName, kGpus, kMilli, kQos, kCreated, kDeleted, kScheduled };

class Openb final : public TraceReader {
 public:
  explicit Openb(Opened opened) : TraceReader(std::move(opened)) {
    if (!options().curves.empty()) {
      warn("openb: speed-up curves are not used; the share of the GPU decides");
    }
  }

 private:
  std::string_view text(Column column) const { return table().field(TraceReader::column(column)); }
  Error bad(Column column, std::string_view wanted) const {
    return table().bad_field(TraceReader::column(column), wanted);
  }

  Result<bool> convert(JobRow& row) override {
    const std::optional<std::int64_t> gpus = parse_int(text(kGpus));
    if (!gpus || *gpus < 0) return bad(kGpus, "a whole number of GPUs");
    if (*gpus == 0) return pass_over("no GPU asked for");
    if (*gpus > 1) return pass_over("more than one GPU asked for");
    if (text(kScheduled).empty()) return pass_over("never started");
    if (text(kName).empty()) return bad(kName, "a name");

    const std::optional<std::int64_t> milli = parse_int(text(kMilli));
    if (!milli || *milli < 1 || *milli > 1000) return bad(kMilli, "1 to 1000 thousandths of a GPU");
    const std::optional<Micros> scheduled = parse_seconds(text(kScheduled));
    if (!scheduled) return bad(kScheduled, "seconds");
    const std::optional<Micros> deleted = parse_seconds(text(kDeleted));
    if (!deleted || *deleted <= *scheduled) {
      return bad(kDeleted, fmt::format("seconds after the start at {}", text(kScheduled)));
    }
    if (*deleted >= kOpenbEnd && !options().openb_censored) {
      return pass_over("still running when the trace ended");
    }
    const Result<bool> used = set_arrival(row);
    if (!used || !*used) return used;
    row.id.assign(text(kName));
    row.job_class.assign(text(kQos).empty() ? "none" : text(kQos));
    set_share(row, static_cast<double>(*milli) / 1000,
              (*deleted - *scheduled).to_seconds() * options().duration_scale);
    return true;
  }

  void set_share(JobRow& row, double share, double seconds) {
    for (std::size_t i = 0; i < kSliceSizeCount; ++i) {
      const double slowdown = std::max(1.0, share * 7 / kSliceSizes[i]);
      const bool allowed = slowdown == 1 || options().openb_smaller_slices;
      const double time = std::min(seconds * slowdown, kJobSecondsMax);
      row.job.time[i] = allowed ? std::max(Micros{1}, micros_from_seconds(time)) : kNoTime;
    }
    set_deadline(row);
    set_memory(row, nullptr);
    if (!options().memory_gib) {
      row.job.memory_gib = static_cast<float>(share * options().openb_gpu_gib);
    }
  }
};

}  // namespace

Result<std::unique_ptr<JobSource>> open_openb(CsvTable table, const Input& input,
                                              const ReaderOptions& options) {
  return TraceReader::open<Openb>(std::move(table), kOpenbColumns, kOpenbFacts, input, options);
}

}  // namespace partita::workload
