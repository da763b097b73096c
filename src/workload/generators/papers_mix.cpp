#include "workload/generators/papers_mix.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "workload/generators/purposes.h"
#include "workload/option_checks.h"

namespace partita::workload {

Status check_options(const PapersMixOptions& options) {
  OptionChecks checks;
  checks.range("deadline", options.deadline_low, options.deadline_high, 0, kSlackMax);
  checks.within("training share", options.training_share, 0, 1);
  checks.within("bert share", options.bert_share, 0, 1);
  checks.within("mean inference time in minutes", options.inference_mean_min, 0, kMinutesMax);
  checks.range("training time in minutes", options.training_low_min, options.training_high_min,
               1e-6, kMinutesMax);
  for (const double gib : options.memory_gib) checks.within("memory in GiB", gib, 0, kGibMax);
  return checks.status();
}

PapersMix::PapersMix(const PapersMixOptions& options, std::uint64_t seed)
    : options_(options),
      types_(seed, kPurposeTypes),
      durations_(seed, kPurposeDurations),
      deadlines_(seed, kPurposeDeadlines) {
  constexpr double kZ95 = 1.645;  // as the notebooks have it
  const double low = std::log(options.training_low_min);
  const double high = std::log(options.training_high_min);
  training_mu_ = (low + high) / 2;
  training_sigma_ = (high - low) / (2 * kZ95);
  for (std::size_t i = 0; i < curves_.size(); ++i) {
    const Result<const Curve*> curve = find_curve(kPapersClasses[i]);
    CHECK(curve.ok());
    curves_[i] = *curve;
  }
}

void PapersMix::fill(JobRow& row, Micros arrival) {
  const bool training = types_.uniform() < options_.training_share;
  const bool bert = types_.uniform() < options_.bert_share;
  const double inference_min = durations_.exponential(options_.inference_mean_min);
  const double training_min = durations_.lognormal(training_mu_, training_sigma_);
  const std::size_t type = (training ? 2U : 0U) + (bert ? 0U : 1U);

  row.job_class.assign(kPapersClasses[type]);
  row.job.arrival = arrival;
  row.job.memory_gib = static_cast<float>(options_.memory_gib[type]);
  row.job.time = times_on_slices(*curves_[type], 1, 60 * (training ? training_min : inference_min));
  const double slack = deadlines_.uniform(options_.deadline_low, options_.deadline_high);
  const double whole_gpu_s = row.job.time.back().to_seconds();
  row.job.deadline = arrival + micros_from_seconds(std::min(slack * whole_gpu_s, kJobSecondsMax));
}

}  // namespace partita::workload
