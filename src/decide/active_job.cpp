#include "decide/active_job.h"

#include <cmath>
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
  const auto slack = static_cast<double>((deadline - now - overhead(now)).count);
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
  // Once a restart is over it need not be paid elsewhere, so until then lateness may still shrink.
  const bool may_shrink = running() && overhead(now) > Micros{};
  on_time_until = least_lateness > kGuardMicros && !may_shrink
                      ? Micros::max()
                      : now + Micros{static_cast<std::int64_t>(std::min(lasts, kForeverMicros))};
}

JobHandle ActiveJobs::free_handle() {
  if (free_.empty()) {
    jobs_.emplace_back();
    return {static_cast<std::uint32_t>(jobs_.size() - 1)};
  }
  const JobHandle handle = free_.back();
  free_.pop_back();
  return handle;
}

void ActiveJobs::remove(JobHandle handle) {
  jobs_[handle.value].id = JobId{};
  free_.push_back(handle);
}

void fill_active(ActiveJob& active, const workload::Job& job, JobId id, std::uint16_t fits) {
  bool faster = true;
  double smaller = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < active.time.size(); ++i) {
    const double time = job.time[i] == workload::kNoTime ? std::numeric_limits<double>::infinity()
                                                         : static_cast<double>(job.time[i].count);
    active.time[i] = time;
    faster = faster && time < smaller;
    smaller = time;
  }
  active.work = 1;
  active.deadline = job.deadline;
  active.slice = SliceId{};
  active.id = id;
  active.arrival = job.arrival;
  active.restart = Micros{};
  active.on_time_until = Micros{-1};
  active.preemptions = 0;
  active.memory_gib = job.memory_gib;
  active.fits = fits;
  active.job_class = job.job_class;
  active.on_time_bits = 0;
  active.started = false;
  active.larger_is_faster = faster;
  active.resumable = job.resumable;
}

}  // namespace partita::decide
