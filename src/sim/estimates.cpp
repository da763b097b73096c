#include "sim/estimates.h"

#include <cmath>

#include "base/rng.h"
#include "base/round_up.h"

namespace partita::sim {

double Estimates::factor_of(JobId id) const {
  constexpr std::uint64_t kStride = 0x9E3779B97F4A7C15;  // far apart for neighbours
  Rng rng(seed_ + kStride * (id.value + 1ULL));
  return std::exp(sigma_ * rng.normal());
}

workload::Job Estimates::told(const workload::Job& job, JobId id) const {
  workload::Job told = job;
  const double factor = factor_of(id);
  for (Micros& time : told.time) {
    if (time == workload::kNoTime) continue;
    time = round_up(factor * static_cast<double>(time.count));
  }
  return told;
}

void Estimates::begin(JobHandle handle, const workload::Job& job) {
  if (truths_.size() <= handle.value) truths_.resize(handle.value + 1);
  Truth& truth = truths_[handle.value];
  truth = {};
  for (std::size_t i = 0; i < truth.time.size(); ++i) {
    truth.time[i] = static_cast<double>(job.time[i].count);
  }
}

void Estimates::book(JobHandle handle, const decide::ActiveJob& told, Micros now) {
  if (now <= told.progress_from) return;
  Truth& truth = truths_[handle.value];
  const auto passed = static_cast<double>((now - told.progress_from).count);
  truth.left = std::max(0.0, truth.left - passed / truth.time[told.size_index]);
}

Micros Estimates::due(JobHandle handle, const decide::ActiveJob& told) {
  Truth& truth = truths_[handle.value];
  truth.finish = told.progress_from + round_up(truth.left * truth.time[told.size_index]);
  return std::min(truth.finish, told.finish);
}

double Estimates::believe_more(JobHandle handle) {
  Truth& truth = truths_[handle.value];
  const double more = truth.believed;
  truth.believed += more;
  return more;
}

}  // namespace partita::sim
