#include "sim/memory_watch.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/rng.h"
#include "base/round_up.h"
#include "mig/profile_memory.h"

namespace partita::sim {
namespace {

// The instant at which so much of the work is done; at least a microsecond after it falls.
Micros instant_of(const decide::ActiveJob& job, double done) {
  return job.progress_from + round_up((done - (1 - job.work)) * job.time[job.size_index]);
}

// Reading i is the memory when i of n parts of the work are done, off by the curve's noise.
double reading(const workload::MemoryCurve& curve, JobId id, std::uint32_t i, std::uint32_t n) {
  const double exact = curve.at(static_cast<double>(i) / n);
  if (curve.noise_gib == 0) return exact;
  return exact + curve.noise_gib * Rng(id.value, i).uniform(-1, 1);
}

}  // namespace

bool MemoryWatch::has_room_for(const workload::Job& job, double gib) const {
  return std::ranges::any_of(model_.profiles, [&](const mig::Profile& profile) {
    const std::size_t size = *workload::slice_size_index(profile.compute_slices);
    return job.time[size] != workload::kNoTime && profile.memory_gib >= gib;
  });
}

std::uint16_t MemoryWatch::fits(const decide::ActiveJob& job, double need_gib) const {
  unsigned mask = 0;
  for (std::size_t i = 0; i < model_.profiles.size(); ++i) {
    const mig::Profile& profile = model_.profiles[i];
    const double time = job.time[*workload::slice_size_index(profile.compute_slices)];
    const bool usable = time < std::numeric_limits<double>::infinity();
    if (usable && profile.memory_gib >= need_gib) mask |= 1U << i;
  }
  return static_cast<std::uint16_t>(mask);
}

MemoryWatch::Stop MemoryWatch::next_stop(const decide::ActiveJob& job, mig::ProfileIndex profile,
                                         Micros now) const {
  const workload::MemoryCurve& curve = curves_[job.id.value];
  if (!curve.grows()) return {};
  const double capacity = model_.profiles[profile].memory_gib;
  const std::optional<double> larger = mig::next_larger_memory(model_, fits(job, 0), capacity);
  if (!larger) return {};
  Stop stop;
  if (const std::optional<double> done = curve.exceeds(capacity)) {
    // It may come from a larger slice with more than this one has.
    stop.time = std::max(instant_of(job, *done), std::max(now, job.progress_from) + Micros{1});
    stop.need_gib = *larger;
  }
  if (!rules_.early_restart) return stop;
  const std::optional<Stop> early = early_restart(job, curve, capacity, now);
  return early && early->time < stop.time ? *early : stop;
}

std::optional<MemoryWatch::Stop> MemoryWatch::early_restart(const decide::ActiveJob& job,
                                                            const workload::MemoryCurve& curve,
                                                            double capacity_gib, Micros now) const {
  const decide::EarlyRestart& rule = *rules_.early_restart;
  const double time = job.time[job.size_index];
  const auto cost = static_cast<double>(rules_.restart.count);
  std::vector<double> numbers;
  std::vector<double> readings;
  std::uint32_t confirmed = 0;
  for (std::uint32_t i = 1; i <= rule.readings; ++i) {
    const double done = static_cast<double>(i) / rule.readings;
    if ((1 - done) * time <= cost) return {};
    numbers.push_back(i);
    readings.push_back(reading(curve, job.id, i, rule.readings));
    if (i < rule.least) continue;
    const std::size_t first = i > rule.window ? i - rule.window : 0;
    const double projected =
        decide::upper_projection(std::span(numbers).subspan(first),
                                 std::span(readings).subspan(first), rule.readings, rule.z);
    confirmed = projected > capacity_gib + decide::kProjectionGuardGib ? confirmed + 1 : 0;
    if (confirmed < rule.confirmations) continue;
    const Micros at = instant_of(job, done);
    if (done <= 1 - job.work || at <= now) continue;
    const double largest = mig::largest_memory(model_, fits(job, 0));
    return Stop{at, true, std::min(projected - decide::kProjectionGuardGib, largest)};
  }
  return {};
}

}  // namespace partita::sim
