#include "control/jobs/job_lengths.h"

#include <algorithm>

namespace partita::control {

// How long it has run, in times it was said to take. REQUIRES: it runs at its first attempt, or
// waits for it.
double JobLengths::age_of(const Job& job) const {
  const decide::ActiveJob& active = state_.active[job.handle];
  if (!active.running()) return 0;
  const Micros ran = std::max(Micros{}, state_.now - active.progress_from);
  const double done = static_cast<double>(ran.count) / active.time[active.size_index];
  return std::max(0.0, job.believed - active.work + done);
}

void JobLengths::learn(const Job& job) {
  survival_.ended(age_of(job), state_.active[job.handle].fastest_time());
}

std::optional<double> JobLengths::work_left_of(cluster::JobHandle handle) const {
  const Job* job = state_.jobs.of(handle);
  if (job == nullptr || job->handle != handle) return {};  // it only keeps a slice for somebody
  const bool waits = job->state() == JobState::kQueued && job->progress.attempt == 0;
  const bool runs = job->state() == JobState::kRunning && job->progress.attempt == 1;
  if (!waits && !runs) return {};
  const double age = age_of(*job);
  double believed = job->believed;
  while (believed <= age) believed += believed;
  return survival_.expected_left(age, believed - age);
}

decide::Outlook JobLengths::outlook() const {
  if (!survival_.has_experience()) return {};
  return {.work_left = [this](cluster::JobHandle handle) { return work_left_of(handle); },
          .newcomer_length = survival_.expected_left(0, 1)};
}

}  // namespace partita::control
