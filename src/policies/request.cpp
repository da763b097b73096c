#include "policies/request.h"

#include <algorithm>

#include "base/check.h"

namespace partita::policies {

mig::ProfileIndex requested_profile(const mig::GpuModel& model, const decide::ActiveJob& job) {
  CHECK(job.fits != 0);
  const auto patience = static_cast<double>((job.deadline - job.arrival).count);
  std::optional<mig::ProfileIndex> fastest;
  double fastest_time = 0;
  // The catalogue lists profiles by compute slices, then memory, plain before media.
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    if ((job.fits >> i & 1U) == 0) continue;
    const auto size = workload::slice_size_index(model.profiles[i].compute_slices);
    const double time = job.time[*size];
    const auto profile = static_cast<mig::ProfileIndex>(i);
    if (time <= patience) return profile;
    if (fastest && time >= fastest_time) continue;
    fastest = profile;
    fastest_time = time;
  }
  return *fastest;
}

std::uint16_t only_requested_profile(const mig::GpuModel& model, const decide::ActiveJob& job) {
  return static_cast<std::uint16_t>(1U << requested_profile(model, job));
}

int tightest_memory_slices(const mig::GpuModel& model, const decide::ActiveJob& job) {
  CHECK(job.fits != 0);
  int fewest = model.memory_slices;
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    if ((job.fits >> i & 1U) != 0) fewest = std::min(fewest, model.profiles[i].memory_slices);
  }
  return fewest;
}

std::uint16_t tightest_profiles(const mig::GpuModel& model, const decide::ActiveJob& job) {
  const int fewest = tightest_memory_slices(model, job);
  unsigned mask = 0;
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    if (model.profiles[i].memory_slices == fewest) mask |= job.fits & (1U << i);
  }
  return static_cast<std::uint16_t>(mask);
}

}  // namespace partita::policies
