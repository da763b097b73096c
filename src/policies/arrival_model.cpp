#include "policies/arrival_model.h"

#include <algorithm>
#include <cmath>

#include "policies/seen_job.h"

namespace partita::policies {
namespace {

constexpr Micros kHour = Micros::seconds(3600);
constexpr Micros kDay = Micros::seconds(86'400);

Micros fastest_time(const workload::Job& job) {
  Micros fastest = Micros::max();
  for (const Micros time : job.time) {
    if (time != workload::kNoTime) fastest = std::min(fastest, time);
  }
  return fastest == Micros::max() ? Micros{} : fastest;
}

}  // namespace

void ArrivalModel::job_arrived(const decide::ActiveJob& job) {
  workload::Job drawn = seen_job(job);
  drawn.deadline = job.deadline - job.arrival;
  drawn.arrival = {};
  // An exponentially weighted mean and variance that begin as plain ones.
  times_.weight = std::min(times_.weight + 1, kTimesRemembered);
  const double off = fastest_time(drawn).to_seconds() - times_.mean;
  times_.mean += off / times_.weight;
  times_.variance += (off * off * (1 - 1 / times_.weight) - times_.variance) / times_.weight;
  if (pool_.size() < kPoolJobs) {
    pool_.push_back(drawn);
  } else {
    pool_[pool_next_] = drawn;
    pool_next_ = (pool_next_ + 1) % kPoolJobs;
  }
  if (recent_.size() > 64 && recent_[recent_.size() / 2] < job.arrival - kWindow) {
    recent_.erase(recent_.begin(),
                  recent_.begin() + static_cast<std::ptrdiff_t>(recent_.size() / 2));
  }
  recent_.push_back(job.arrival);
}

double ArrivalModel::mean_time_error() const {
  if (times_.mean <= 0) return 0;
  return std::sqrt(times_.variance / times_.weight) / times_.mean;
}

double ArrivalModel::profile_at(Micros time) const {
  return profile_[static_cast<std::size_t>(time.count % kDay.count / kHour.count)];
}

double ArrivalModel::profile_hours(Micros from, Micros to) const {
  double sum = 0;
  while (from < to) {
    const Micros hour_end{(from.count / kHour.count + 1) * kHour.count};
    const Micros end = std::min(hour_end, to);
    sum += profile_at(from) * static_cast<double>((end - from).count) /
           static_cast<double>(kHour.count);
    from = end;
  }
  return sum;
}

double ArrivalModel::level(Micros now) const {
  const Micros watched = std::min(began_, now - kStretchMin);
  const Micros from = std::max({Micros{}, now - kWindow, watched});
  const auto first = std::upper_bound(recent_.begin(), recent_.end(), from);
  const auto count = static_cast<double>(recent_.end() - first);
  const double exposure = profile_hours(from, now);
  return exposure > 0 ? count / exposure : 0;
}

void ArrivalModel::sample(Rng& rng, Micros now, Micros until, std::vector<workload::Job>& jobs,
                          double share) const {
  jobs.clear();
  const double peak = *std::max_element(profile_.begin(), profile_.end());
  const double peak_rate = share * level(now) * peak / static_cast<double>(kHour.count);
  if (peak_rate <= 0) return;
  // Thinned from the highest rate of the day, as the generators do.
  for (double time = static_cast<double>(now.count);;) {
    time += rng.exponential(1 / peak_rate);
    if (time > static_cast<double>(until.count)) return;
    const Micros arrival{static_cast<std::int64_t>(time)};
    if (rng.uniform() * peak > profile_at(arrival)) continue;
    workload::Job job = pool_[rng.below(pool_.size())];
    job.arrival = arrival;
    job.deadline += arrival;
    jobs.push_back(job);
    if (jobs.size() == kSampleJobsMax) return;
  }
}

}  // namespace partita::policies
