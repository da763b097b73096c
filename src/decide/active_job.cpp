#include "decide/active_job.h"

#include <functional>
#include <limits>

namespace partita::decide {
namespace {

// Rounding in the instants computed below is far under a microsecond; an answer is given up this
// much before it could change, and found exactly again.
constexpr double kGuardMicros = 4;

}  // namespace

void ActiveJob::find_on_time_sizes(Micros now) const {
  const double left = work_at(now);
  const auto slack = static_cast<double>((deadline - now - restart).count);
  const bool progressing = running() && now >= progress_from;
  double stands_for = std::numeric_limits<double>::infinity();
  double least_lateness = stands_for;
  unsigned bits = 0;
  for (std::size_t size = 0; size < time.size(); ++size) {
    const double lateness = left * time[size] - slack;
    // Where it runs, its completion is settled; elsewhere it would be rounded up, and comparing
    // before rounding is the same because the slack is whole.
    const bool here = running() && size == size_index;
    const bool on_time = here ? finish <= deadline : left * time[size] <= slack;
    bits |= static_cast<unsigned>(on_time) << size;
    least_lateness = std::min(least_lateness, lateness);
    // Lateness grows by this much a microsecond: by all of it while the job waits; less by what the
    // job gets done meanwhile, seen from a slice of this size, while it runs.
    const double growth = progressing ? 1 - time[size] / time[size_index] : 1;
    if (on_time ? growth > 0 : growth < 0) stands_for = std::min(stands_for, -lateness / growth);
  }
  on_time_bits = static_cast<std::uint8_t>(bits);
  if (least_lateness > kGuardMicros) {
    on_time_until = Micros::max();
    return;
  }
  // Far beyond any run, and far from overflow.
  constexpr double kLongest = 1e17;
  const double safe = std::clamp(stands_for - kGuardMicros, 0.0, kLongest);
  const bool lasting = progressing || !running();
  on_time_until = lasting ? now + Micros{static_cast<std::int64_t>(safe)} : now;
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
  free_.push_back(handle);
}

JobHandle ActiveJobs::any() const {
  for (std::uint32_t i = 0; i < jobs_.size(); ++i) {
    if (std::find(free_.begin(), free_.end(), JobHandle{i}) == free_.end()) return {i};
  }
  return {};
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
  active.job_class = job.job_class;
  return active;
}

}  // namespace partita::decide
