#include "decide/active_job.h"

#include <cmath>
#include <functional>
#include <limits>

namespace partita::decide {
namespace {

// Rounding in what follows is far under a microsecond. Within this much of the deadline it could
// tip the answer, so there it is found anew each time.
constexpr double kGuardMicros = 4;
// Far beyond any run, and far from overflow.
constexpr double kForeverMicros = 1e17;

}  // namespace

void ActiveJob::find_on_time_sizes(Micros now) const {
  const double left = work_at(now);
  const auto slack = static_cast<double>((deadline - now - restart).count);
  const bool progressing = running() && now >= progress_from;
  const double pace = progressing ? 1 / time[size_index] : 0;
  double lasts = running() && !progressing ? 0 : kForeverMicros;
  // Where it runs, its completion is settled.
  const std::size_t here = running() ? size_index : time.size();
  unsigned bits = running() && finish <= deadline ? 1U << here : 0U;
  double least_lateness = running() ? left * time[here] - slack : kForeverMicros;
  for (std::size_t size = 0; size < time.size(); ++size) {
    if (size == here || time[size] > kForeverMicros) continue;
    // Elsewhere the completion would be rounded up; comparing before is the same, the slack is
    // whole.
    const double lateness = left * time[size] - slack;
    bits |= static_cast<unsigned>(left * time[size] <= slack) << size;
    least_lateness = std::min(least_lateness, lateness);
    // Lateness grows by all of the time that passes while the job waits; while it runs, by less,
    // for what gets done meanwhile, seen from a slice of this size.
    const double growth = 1 - time[size] * pace;
    const double distance = std::abs(lateness) - kGuardMicros;
    if (distance <= 0) {
      lasts = 0;
    } else if (lateness > 0 ? growth < 0 : growth > 0) {
      lasts = std::min(lasts, distance / std::abs(growth));
    }
  }
  on_time_bits = static_cast<std::uint8_t>(bits);
  on_time_until = least_lateness > kGuardMicros
                      ? Micros::max()
                      : now + Micros{static_cast<std::int64_t>(std::min(lasts, kForeverMicros))};
}

JobHandle ActiveJobs::add(const ActiveJob& job) {
  if (free_.empty()) {
    jobs_.push_back(job);
    return {static_cast<std::uint32_t>(jobs_.size() - 1)};
  }
  const JobHandle handle = free_.back();
  free_.pop_back();
  jobs_[handle.value] = job;
  return handle;
}

void ActiveJobs::remove(JobHandle handle) {
  jobs_[handle.value].id = JobId{};
  free_.push_back(handle);
}

ActiveJob make_active(const workload::Job& job, JobId id, std::uint16_t fits) {
  ActiveJob active;
  active.deadline = job.deadline;
  for (std::size_t i = 0; i < active.time.size(); ++i) {
    active.time[i] = job.time[i] == workload::kNoTime ? std::numeric_limits<double>::infinity()
                                                      : static_cast<double>(job.time[i].count);
  }
  active.larger_is_faster = std::adjacent_find(active.time.begin(), active.time.end(),
                                               std::less_equal<>()) == active.time.end();
  active.id = id;
  active.arrival = job.arrival;
  active.fits = fits;
  active.memory_gib = job.memory_gib;
  active.job_class = job.job_class;
  return active;
}

}  // namespace partita::decide
