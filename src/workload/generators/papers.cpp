#include "workload/generators/papers.h"

#include "workload/generators/purposes.h"
#include "workload/generators/thinning.h"
#include "workload/option_checks.h"

namespace partita::workload {
namespace {

class Papers final : public JobSource {
 public:
  explicit Papers(const PapersOptions& options)
      : arrivals_(options.hourly_rates, options.rate, options.hours,
                  Rng(options.seed, kPurposeArrivals)),
        mix_(options.mix, options.seed) {}

  Result<bool> next(JobRow& row) override {
    const std::optional<Micros> arrival = arrivals_.next();
    if (!arrival) return false;
    set_id(row, ++count_);
    mix_.fill(row, *arrival);
    return true;
  }
  double progress() const override { return arrivals_.progress(); }

 private:
  ThinnedArrivals arrivals_;
  PapersMix mix_;
  std::uint64_t count_ = 0;
};

}  // namespace

Result<std::unique_ptr<JobSource>> make_papers(const PapersOptions& options) {
  OptionChecks checks;
  checks.within("hours", options.hours, 0, kHoursMax);
  checks.within("rate", options.rate, 0, kRateMax);
  for (const double rate : options.hourly_rates) checks.within("hourly rate", rate, 0, kRateMax);
  if (const Status status = checks.status(); !status) return status.error();
  if (const Status status = check_options(options.mix); !status) return status.error();
  return std::unique_ptr<JobSource>(std::make_unique<Papers>(options));
}

}  // namespace partita::workload
