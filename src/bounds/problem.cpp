#include "bounds/problem.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "bounds/makespan.h"
#include "cluster/cluster_state.h"
#include "mig/enumerate.h"
#include "mig/layout.h"

namespace partita::bounds {
namespace {

std::size_t mode_of(const std::vector<Mode>& modes, const mig::Profile& profile) {
  for (std::size_t i = 0; i < modes.size(); ++i) {
    if (modes[i].compute == profile.compute_slices && modes[i].memory == profile.memory_slices) {
      return i;
    }
  }
  return modes.size();
}

// Profiles of the same shape are one mode, with the most memory that any of them has: a bound may
// allow more than the GPU does, never less.
std::vector<Mode> modes_of(const mig::GpuModel& model) {
  std::vector<Mode> modes;
  for (const mig::Profile& profile : model.profiles) {
    const std::size_t index = mode_of(modes, profile);
    if (index < modes.size()) {
      modes[index].memory_gib = std::max(modes[index].memory_gib, profile.memory_gib);
      continue;
    }
    const auto size = workload::slice_size_index(profile.compute_slices);
    CHECK(size.has_value() && modes.size() < kModesMax);
    modes.push_back({profile.compute_slices, profile.memory_slices, *size, profile.memory_gib});
  }
  return modes;
}

// Everything the one does, the other does as well for no more watts.
bool covers(const Load& better, const Load& worse) {
  for (std::size_t i = 0; i < kModesMax; ++i) {
    if (better.count[i] < worse.count[i]) return false;
  }
  return better.watts <= worse.watts;
}

// A subset of a legal layout is a legal layout, so idle instances need no loads of their own.
std::vector<Load> loads_of(const mig::GpuModel& model, const std::vector<Mode>& modes,
                           const std::vector<double>& busy_watts, double idle_watts) {
  std::vector<Load> loads(1);
  for (const mig::Layout& layout :
       mig::legal_layouts(model, {.double_memory = true, .media = true})) {
    Load load;
    for (const mig::Placement placement : layout.instances()) {
      const mig::Profile& profile = model.profiles[placement.profile];
      ++load.count[mode_of(modes, profile)];
      load.compute += profile.compute_slices;
    }
    load.watts = busy_watts[static_cast<std::size_t>(load.compute)];
    load.watts_after = load.watts + idle_watts;
    const auto beaten = [&](const Load& other) { return covers(other, load); };
    if (std::ranges::any_of(loads, beaten)) continue;
    std::erase_if(loads, [&](const Load& other) { return covers(load, other); });
    loads.push_back(load);
  }
  return loads;
}

Result<BoundJob> job_of(const workload::Job& job, const std::vector<Mode>& modes) {
  BoundJob made;
  made.release = static_cast<double>(job.arrival.count);
  made.due = static_cast<double>(job.deadline.count);
  bool fits = false;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const Micros time = job.time[modes[i].size_index];
    if (time == workload::kNoTime) continue;
    if (static_cast<double>(job.memory_gib) > modes[i].memory_gib) continue;
    made.time[i] = static_cast<double>(time.count);
    fits = true;
  }
  if (!fits) return Error{"fits nowhere"};
  return made;
}

}  // namespace

double BoundJob::fastest() const {
  double least = std::numeric_limits<double>::infinity();
  for (const double each : time) {
    if (each > 0) least = std::min(least, each);
  }
  return least;
}

double BoundJob::least_work(const std::vector<Mode>& modes) const {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < modes.size(); ++i) {
    if (time[i] > 0) least = std::min(least, time[i] * modes[i].compute);
  }
  return least;
}

Result<Problem> make_problem(const workload::Trace& trace, const Fleet& fleet) {
  CHECK(fleet.model != nullptr && fleet.power != nullptr);
  if (fleet.gpus == 0) return Error{"a bound needs at least 1 GPU, there are 0"};
  if (trace.jobs.empty()) return Error{"a bound needs at least 1 job, there are none"};
  Problem problem;
  problem.modes = modes_of(*fleet.model);
  // Should a busy GPU draw less than an idle one, the least it can draw stands for idle.
  problem.idle_watts = *std::ranges::min_element(fleet.power->watts);
  for (const double watts : fleet.power->watts) {
    problem.busy_watts.push_back(watts - problem.idle_watts);
  }
  problem.loads = loads_of(*fleet.model, problem.modes, problem.busy_watts, problem.idle_watts);
  problem.compute_slices = fleet.model->compute_slices;
  problem.gpus = fleet.gpus;
  problem.horizon = static_cast<double>(fleet.horizon.count);
  problem.jobs.reserve(trace.jobs.size());
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const Result<BoundJob> job = job_of(trace.jobs[i], problem.modes);
    if (!job) {
      return Error{fmt::format(
          "job '{}' needs {:g} GiB; no profile of {} has that much and a size the job has a time "
          "for",
          trace.id(JobId{static_cast<std::uint32_t>(i)}), trace.jobs[i].memory_gib,
          fleet.model->key)};
    }
    problem.jobs.push_back(*job);
  }
  set_on_until(problem);
  return problem;
}

void set_on_until(Problem& problem) {
  problem.on_until = std::max(problem.horizon, least_makespan(problem));
}

}  // namespace partita::bounds
