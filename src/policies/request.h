// What a job would ask for if its user had to name one profile.
#pragma once

#include <optional>

#include "decide/active_job.h"
#include "mig/gpu_model.h"

namespace partita::policies {

// The smallest profile (compute slices, then memory) on which the job would have been on time had
// it started when it came; when there is none, the one on which it is fastest. It depends on
// nothing that changes, so the job asks for the same profile all its life. REQUIRES: the job fits
// some profile.
mig::ProfileIndex requested_profile(const mig::GpuModel& model, const decide::ActiveJob& job);

}  // namespace partita::policies
