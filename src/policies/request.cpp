#include "policies/request.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace partita::policies {
namespace {

double time_on(const mig::GpuModel& model, const decide::ActiveJob& job, std::size_t profile) {
  return job.time[*workload::slice_size_index(model.profiles[profile].compute_slices)];
}

}  // namespace

mig::ProfileIndex requested_profile(const mig::GpuModel& model, const decide::ActiveJob& job) {
  CHECK(job.fits != 0);
  const auto patience = static_cast<double>((job.deadline - job.arrival).count);
  std::optional<mig::ProfileIndex> fastest;
  double fastest_time = 0;
  // The catalogue lists profiles by compute slices, then memory, plain before media.
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    if ((job.fits >> i & 1U) == 0) continue;
    const double time = time_on(model, job, i);
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

std::uint16_t half_speed_profile(const mig::GpuModel& model, const decide::ActiveJob& job) {
  CHECK(job.fits != 0);
  constexpr double kSlower = 2;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    if ((job.fits >> i & 1U) != 0) least = std::min(least, time_on(model, job, i));
  }
  std::size_t smallest = 0;
  while ((job.fits >> smallest & 1U) == 0 || time_on(model, job, smallest) > kSlower * least) {
    ++smallest;
  }
  return static_cast<std::uint16_t>(1U << smallest);
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
