// What a job asks for: one profile its user would name, or the tightest that hold it.
#pragma once

#include <cstdint>
#include <optional>

#include "decide/active_job.h"
#include "mig/gpu_model.h"

namespace partita::policies {

// The smallest profile (compute slices, then memory) on which the job would have been on time had
// it started when it came; when there is none, the one on which it is fastest. It depends on
// nothing that changes, so the job asks for the same profile all its life, unless it turns out to
// need more memory. REQUIRES: the job fits some profile.
mig::ProfileIndex requested_profile(const mig::GpuModel& model, const decide::ActiveJob& job);

// Profiles a job may be given, bit i for profile i.
using AskedProfiles = std::uint16_t (*)(const mig::GpuModel& model, const decide::ActiveJob& job);

std::uint16_t only_requested_profile(const mig::GpuModel& model, const decide::ActiveJob& job);

// The smallest profile on which the job takes at most twice its least time: what a user asks for
// who gives way to others without waiting much longer.
std::uint16_t half_speed_profile(const mig::GpuModel& model, const decide::ActiveJob& job);

// The profiles that fit the job and take the fewest memory slices: of what one of them takes
// nothing would be gained by a smaller compute share, so the job may have any.
std::uint16_t tightest_profiles(const mig::GpuModel& model, const decide::ActiveJob& job);

// The memory slices each of them takes.
int tightest_memory_slices(const mig::GpuModel& model, const decide::ActiveJob& job);

}  // namespace partita::policies
