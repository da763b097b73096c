#include "oracle/naive_memory.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "oracle/naive_rules.h"

namespace partita::oracle {
namespace {

struct Line {
  double intercept = 0;
  double slope = 0;
};

// Memory held with so much of the work done.
double memory_at(const workload::MemoryCurve& curve, double done) {
  if (done >= curve.peak_at) return curve.peak_gib;
  return curve.start_gib + (curve.peak_gib - curve.start_gib) * (done / curve.peak_at);
}

// The textbook sums over readings first .. last, which are numbered from 1.
double projection(const std::vector<double>& readings, std::size_t first, std::size_t last,
                  const EarlyRule& rule) {
  const auto n = static_cast<double>(last - first + 1);
  double x = 0;
  double y = 0;
  double xx = 0;
  double xy = 0;
  for (std::size_t i = first; i <= last; ++i) {
    const auto at = static_cast<double>(i);
    x += at;
    y += readings[i - 1];
    xx += at * at;
    xy += at * readings[i - 1];
  }
  Line line;
  line.slope = (n * xy - x * y) / (n * xx - x * x);
  line.intercept = (y - line.slope * x) / n;
  double squares = 0;
  for (std::size_t i = first; i <= last; ++i) {
    const double fitted = line.intercept + line.slope * static_cast<double>(i);
    squares += (readings[i - 1] - fitted) * (readings[i - 1] - fitted);
  }
  const auto end = static_cast<double>(rule.readings);
  const double leverage = 1 + 1 / n + (end - x / n) * (end - x / n) / (xx - x * x / n);
  return line.intercept + line.slope * end + rule.z * std::sqrt(squares / (n - 2) * leverage);
}

std::vector<double> all_readings(const workload::MemoryCurve& curve, std::size_t job,
                                 std::uint32_t count) {
  std::vector<double> readings;
  for (std::uint32_t i = 1; i <= count; ++i) {
    const double error = curve.noise_gib * (2 * Rng(job, i).uniform() - 1);
    readings.push_back(memory_at(curve, static_cast<double>(i) / count) + error);
  }
  return readings;
}

// Memory of the profiles whose size the job has a time for.
std::vector<double> usable_memories(const mig::GpuModel& model, const workload::Job& job) {
  std::vector<double> memories;
  for (const mig::Profile& profile : model.profiles) {
    if (std::isfinite(whole_time(job, profile.compute_slices))) {
      memories.push_back(profile.memory_gib);
    }
  }
  std::ranges::sort(memories);
  return memories;
}

// The first reading from now on at which the last projections all say that it will not fit.
std::optional<MemoryLoss> early_loss(const Setup& setup, const workload::MemoryCurve& curve,
                                     const JobState& state, std::size_t index, double time,
                                     double capacity, Micros now) {
  const EarlyRule& rule = *setup.early;
  const std::vector<double> readings = all_readings(curve, index, rule.readings);
  const auto says_no_fit = [&](std::size_t i) {
    if (i < rule.least) return false;
    const std::size_t first = i > rule.window ? i - rule.window + 1 : 1;
    return projection(readings, first, i, rule) > capacity + 1e-6;
  };
  for (std::size_t i = rule.least; i <= rule.readings; ++i) {
    const double done = static_cast<double>(i) / rule.readings;
    const double before = 1 - state.work;
    if (done <= before) continue;
    const double wait = std::max(1.0, std::ceil((done - before) * time));
    const Micros at = state.progress_from + Micros{static_cast<std::int64_t>(wait)};
    if (at <= now) continue;
    if ((1 - done) * time <= static_cast<double>(setup.restart.count)) return {};
    bool all = i + 1 >= rule.least + rule.confirmations;
    for (std::size_t back = 0; all && back < rule.confirmations; ++back) {
      all = says_no_fit(i - back);
    }
    if (!all) continue;
    const std::size_t first = i > rule.window ? i - rule.window + 1 : 1;
    return MemoryLoss{at, true, projection(readings, first, i, rule) - 1e-6};
  }
  return {};
}

}  // namespace

std::optional<MemoryLoss> memory_loss(const Setup& setup, const workload::Job& job,
                                      const JobState& state, std::size_t index, Micros now) {
  if (setup.memory_curves.empty() || !setup.memory_curves[index].grows()) return {};
  const workload::MemoryCurve& curve = setup.memory_curves[index];
  const mig::Profile& profile = setup.model->profiles[state.placement.profile];
  const double capacity = profile.memory_gib;
  const std::vector<double> memories = usable_memories(*setup.model, job);
  const auto larger = std::ranges::upper_bound(memories, capacity);
  if (larger == memories.end()) return {};
  const double time = whole_time(job, profile.compute_slices);
  std::optional<MemoryLoss> loss;
  if (curve.peak_gib > capacity) {
    double done = 0;
    if (curve.start_gib <= capacity) {
      done = curve.peak_at * ((capacity - curve.start_gib) / (curve.peak_gib - curve.start_gib));
    }
    const double wait = std::max(1.0, std::ceil((done - (1 - state.work)) * time));
    Micros at = state.progress_from + Micros{static_cast<std::int64_t>(wait)};
    at = std::max({at, now + Micros{1}, state.progress_from + Micros{1}});
    loss = MemoryLoss{at, false, *larger};
  }
  if (!setup.early) return loss;
  std::optional<MemoryLoss> early = early_loss(setup, curve, state, index, time, capacity, now);
  if (!early || (loss && loss->time <= early->time)) return loss;
  early->need_gib = std::min(early->need_gib, memories.back());
  return early;
}

}  // namespace partita::oracle
