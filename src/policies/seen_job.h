// What a policy saw of a job when it came, as a job that could come again.
#pragma once

#include <cmath>

#include "decide/active_job.h"
#include "workload/job.h"

namespace partita::policies {

inline workload::Job seen_job(const decide::ActiveJob& job) {
  workload::Job seen;
  seen.arrival = job.arrival;
  seen.deadline = job.deadline;
  for (std::size_t i = 0; i < seen.time.size(); ++i) {
    seen.time[i] =
        std::isfinite(job.time[i]) ? Micros{std::llround(job.time[i])} : workload::kNoTime;
  }
  seen.memory_gib = job.memory_gib;
  seen.job_class = job.job_class;
  return seen;
}

}  // namespace partita::policies
