#include "workload/generators/poisson.h"

#include <algorithm>

#include "workload/generators/purposes.h"
#include "workload/generators/thinning.h"
#include "workload/option_checks.h"

namespace partita::workload {
namespace {

std::array<double, 24> every_hour(double rate_per_min) {
  std::array<double, 24> rates;
  rates.fill(rate_per_min);
  return rates;
}

class Poisson final : public JobSource {
 public:
  explicit Poisson(const PoissonOptions& options)
      : jobs_max_(options.jobs),
        arrivals_(every_hour(options.rate_per_min), 1, options.hours.value_or(kHoursMax),
                  Rng(options.seed, kPurposeArrivals)),
        mix_(options.mix, options.seed) {}

  Result<bool> next(JobRow& row) override {
    if (jobs_max_ && count_ == *jobs_max_) return false;
    const std::optional<Micros> arrival = arrivals_.next();
    if (!arrival) return false;
    set_id(row, ++count_);
    mix_.fill(row, *arrival);
    return true;
  }

  double progress() const override {
    if (!jobs_max_) return arrivals_.progress();
    if (*jobs_max_ == 0) return 1;
    return std::max(arrivals_.progress(),
                    static_cast<double>(count_) / static_cast<double>(*jobs_max_));
  }

 private:
  std::optional<std::uint64_t> jobs_max_;
  ThinnedArrivals arrivals_;
  PapersMix mix_;
  std::uint64_t count_ = 0;
};

}  // namespace

Result<std::unique_ptr<JobSource>> make_poisson(const PoissonOptions& options) {
  if (!options.jobs && !options.hours) {
    return Error{"constant-rate arrivals need a number of jobs or of hours"};
  }
  OptionChecks checks;
  checks.within("rate per minute", options.rate_per_min, 0, kRateMax);
  if (options.hours) checks.within("hours", *options.hours, 0, kHoursMax);
  // A job a month, so that a number of jobs fits the longest window.
  if (options.jobs && !options.hours) {
    checks.within("rate per minute", options.rate_per_min, 1.0 / (60 * 24 * 30), kRateMax);
  }
  if (const Status status = checks.status(); !status) return status.error();
  if (const Status status = check_options(options.mix); !status) return status.error();
  return std::unique_ptr<JobSource>(std::make_unique<Poisson>(options));
}

}  // namespace partita::workload
