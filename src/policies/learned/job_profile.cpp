#include "policies/learned/job_profile.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace partita::policies {
namespace {

constexpr std::size_t kPoints = nn::Distributions::kPoints;

}  // namespace

std::array<float, kJobNumbers> job_numbers(const decide::ActiveJob& job) {
  const double fastest = std::max(1.0, job.fastest_time());
  double slowest = fastest;
  for (const double time : job.time) {
    if (std::isfinite(time)) slowest = std::max(slowest, time);
  }
  const auto allowed = static_cast<double>((job.deadline - job.arrival).count);
  return {static_cast<float>(std::log(fastest)),
          static_cast<float>(std::log(std::max(0.1, allowed / fastest))),
          static_cast<float>(std::log(slowest / fastest)), job.memory_gib};
}

void JobRecorder::add(const workload::Job& job) {
  const auto numbers = job_numbers(decide::make_active(job, JobId{0}, 0));
  for (std::size_t i = 0; i < kJobNumbers; ++i) values_[i].push_back(numbers[i]);
}

nn::Distributions JobRecorder::distributions() const {
  nn::Distributions made;
  for (std::vector<float> values : values_) {
    CHECK(!values.empty());
    std::ranges::sort(values);
    for (std::size_t point = 1; point <= kPoints; ++point) {
      const float at = values[values.size() * point / (kPoints + 1)];
      const auto below = std::ranges::upper_bound(values, at) - values.begin();
      made.at.push_back(at);
      made.share.push_back(
          static_cast<float>(static_cast<double>(below) / static_cast<double>(values.size())));
    }
  }
  return made;
}

void JobProfile::begin() {
  share_.assign(trained_.at.size(), 0);
  jobs_ = 0;
  trust_ = recorded() ? Trust::kUnknown : Trust::kYes;
}

void JobProfile::add(const decide::ActiveJob& job) {
  if (!recorded()) return;
  const auto numbers = job_numbers(job);
  jobs_ = std::min(jobs_ + 1, kJobsRemembered);
  for (std::size_t i = 0; i < share_.size(); ++i) {
    const double below = numbers[i / kPoints] <= trained_.at[i] ? 1 : 0;
    share_[i] += (below - share_[i]) / jobs_;
  }
  const double far = distance();
  if (far <= kFamiliar && jobs_ >= kJobsFew) trust_ = Trust::kYes;
  if (jobs_ < kJobsMin) return;
  trust_ = far > (trust_ == Trust::kNo ? kFamiliar : kStrange) ? Trust::kNo : Trust::kYes;
}

double JobProfile::distance() const {
  double farthest = 0;
  for (std::size_t i = 0; i < share_.size(); ++i) {
    farthest = std::max(farthest, std::abs(share_[i] - static_cast<double>(trained_.share[i])));
  }
  return farthest;
}

}  // namespace partita::policies
