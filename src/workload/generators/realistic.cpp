#include "workload/generators/realistic.h"

#include <algorithm>
#include <cmath>

#include "workload/curve_mix.h"
#include "workload/generators/profiles.h"
#include "workload/generators/purposes.h"
#include "workload/generators/thinning.h"
#include "workload/option_checks.h"

namespace partita::workload {
namespace {

double batch_mean(const RealisticOptions& options) {
  return (options.burstiness * options.burstiness + 1) / 2;
}

// 1, 2, 3, ... with the given mean.
std::uint64_t geometric(Rng& rng, double mean) {
  if (mean <= 1) return 1;
  constexpr double kBatchMax = 1e6;
  const double failures = std::log1p(-rng.uniform()) / std::log1p(-1 / mean);
  return 1 + static_cast<std::uint64_t>(std::min(failures, kBatchMax));
}

class Realistic final : public JobSource {
 public:
  Realistic(const RealisticOptions& options, const Profile& profile, CurveMix mix)
      : options_(options),
        mix_(std::move(mix)),
        batches_(hourly_rates_per_min(profile, options.jobs_per_hour / batch_mean(options)), 1,
                 options.hours, Rng(options.seed, kPurposeArrivals)),
        batch_sizes_(options.seed, kPurposeBatches),
        types_(options.seed, kPurposeTypes),
        durations_(options.seed, kPurposeDurations),
        deadlines_(options.seed, kPurposeDeadlines),
        memory_(options.seed, kPurposeMemory) {}

  Result<bool> next(JobRow& row) override {
    if (batch_left_ == 0) {
      const std::optional<Micros> arrival = batches_.next();
      if (!arrival) return false;
      arrival_ = *arrival;
      batch_left_ = geometric(batch_sizes_, batch_mean(options_));
    }
    --batch_left_;
    set_id(row, ++count_);
    fill(row);
    return true;
  }
  double progress() const override { return batches_.progress(); }

 private:
  void fill(JobRow& row) {
    const Curve& curve = mix_.pick(types_.uniform());
    const double slack =
        std::max(options_.slack_least,
                 deadlines_.lognormal(std::log(options_.slack_median), options_.slack_sigma));
    const double whole_gpu_s = draw_duration();
    row.job_class = curve.name;
    row.job.arrival = arrival_;
    row.job.time = times_on_slices(curve, 7, whole_gpu_s);
    row.job.deadline =
        arrival_ + micros_from_seconds(std::min(slack * whole_gpu_s, kJobSecondsMax));
    row.job.memory_gib = draw_memory(curve);
  }

  double draw_duration() {
    constexpr int kTries = 100;  // the median is within the limits, so this many never miss in use
    double seconds = options_.median_s;
    for (int i = 0; i < kTries; ++i) {
      seconds = durations_.lognormal(std::log(options_.median_s), options_.sigma);
      if (seconds >= options_.shortest_s && seconds <= options_.longest_s) return seconds;
    }
    return std::clamp(seconds, options_.shortest_s, options_.longest_s);
  }

  float draw_memory(const Curve& curve) {
    const double jitter = memory_.lognormal(0, options_.memory_sigma);
    const double typical =
        curve.memory_at_most_gib > 0 ? curve.memory_gib : options_.memory_unknown_gib;
    const double gib = std::min(typical * options_.memory_scale * jitter, options_.memory_max_gib);
    return static_cast<float>(std::floor(gib * 100) / 100);
  }

  RealisticOptions options_;
  CurveMix mix_;
  ThinnedArrivals batches_;
  Rng batch_sizes_;
  Rng types_;
  Rng durations_;
  Rng deadlines_;
  Rng memory_;
  Micros arrival_;
  std::uint64_t batch_left_ = 0;
  std::uint64_t count_ = 0;
};

Status check(const RealisticOptions& options) {
  constexpr double kSecondsMax = kMinutesMax * 60;
  constexpr double kSigmaMax = 10;
  OptionChecks checks;
  checks.within("hours", options.hours, 0, kHoursMax);
  checks.within("jobs per hour", options.jobs_per_hour, 0, kRateMax * 60);
  checks.within("burstiness", options.burstiness, 1, 1000);
  checks.range("durations in seconds", options.shortest_s, options.longest_s, 1e-6, kSecondsMax);
  checks.within("median duration in seconds", options.median_s, options.shortest_s,
                options.longest_s);
  checks.within("sigma", options.sigma, 0, kSigmaMax);
  checks.within("slack median", options.slack_median, 1e-6, kSlackMax);
  checks.within("slack sigma", options.slack_sigma, 0, kSigmaMax);
  checks.within("least slack", options.slack_least, 0, kSlackMax);
  checks.within("memory scale", options.memory_scale, 0, kGibMax);
  checks.within("memory sigma", options.memory_sigma, 0, kSigmaMax);
  checks.within("memory of curves without a figure", options.memory_unknown_gib, 0, kGibMax);
  checks.within("most memory", options.memory_max_gib, 0, kGibMax);
  return checks.status();
}

}  // namespace

Result<std::unique_ptr<JobSource>> make_realistic(const RealisticOptions& options) {
  if (const Status status = check(options); !status) return status.error();
  const Result<const Profile*> profile = find_profile(options.profile);
  if (!profile) return profile.error();
  Result<CurveMix> mix = CurveMix::parse(options.curves);
  if (!mix) return mix.error();
  return std::unique_ptr<JobSource>(
      std::make_unique<Realistic>(options, **profile, *std::move(mix)));
}

}  // namespace partita::workload
