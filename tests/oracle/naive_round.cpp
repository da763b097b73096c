#include "oracle/naive_round.h"

#include <algorithm>

namespace partita::oracle {

int busy_compute(const mig::GpuModel& model, const Gpu& gpu) {
  int busy = 0;
  for (const Instance& instance : gpu.instances) {
    if (instance.job != kNobody) busy += model.profiles[instance.placement.profile].compute_slices;
  }
  return busy;
}

std::vector<Free> free_slices(const Setup& setup, const std::vector<Gpu>& gpus, bool idle_only) {
  std::vector<Free> free;
  for (std::size_t index = 0; index < gpus.size(); ++index) {
    const Gpu& gpu = gpus[index];
    int compute = 0;
    for (const Instance& instance : gpu.instances) {
      compute += setup.model->profiles[instance.placement.profile].compute_slices;
    }
    for (const Instance& instance : gpu.instances) {
      if (instance.phase != Phase::kReady || instance.closing) continue;
      if (idle_only && instance.job != kNobody) continue;
      free.push_back({.gpu = index,
                      .placement = instance.placement,
                      .gpu_mean_size =
                          static_cast<double>(compute) / static_cast<double>(gpu.instances.size()),
                      .gpu_busy = idle_only ? busy_compute(*setup.model, gpu) : 0});
    }
  }
  return free;
}

std::vector<Waiting> in_order(const Setup& setup, std::vector<Waiting> jobs, const Round& round) {
  for (Waiting& job : jobs) job.key = key_of(setup, job, round);
  std::ranges::sort(jobs, [](const Waiting& a, const Waiting& b) {
    return a.key != b.key ? a.key < b.key : a.job < b.job;
  });
  return jobs;
}

Seat take(const mig::GpuModel& model, std::vector<Free>& free, std::size_t index, std::size_t job) {
  const Free taken = free[index];
  free.erase(free.begin() + static_cast<std::ptrdiff_t>(index));
  for (Free& other : free) {
    if (other.gpu == taken.gpu) {
      other.gpu_busy += model.profiles[taken.placement.profile].compute_slices;
    }
  }
  return {job, taken.gpu, taken.placement};
}

std::vector<Seat> fill_idle(const Setup& setup, const std::vector<Gpu>& gpus,
                            std::vector<Waiting> waiting, Micros now, Rng& rng) {
  std::vector<Seat> seats;
  std::vector<Free> free = free_slices(setup, gpus, true);
  const double mean = mean_remaining(waiting);
  while (!waiting.empty() && !free.empty()) {
    waiting = in_order(setup, waiting, {now, mean, free});
    const Waiting first = waiting.front();
    waiting.erase(waiting.begin());
    // A job that gets nothing now gets nothing later in the pass: fewer slices will be free.
    const auto choice = pick(setup, first, now, free, rng);
    if (choice) seats.push_back(take(*setup.model, free, *choice, first.job));
  }
  return seats;
}

}  // namespace partita::oracle
