#include "control/energy_books.h"

namespace partita::control {

using cluster::SliceId;

void EnergyBooks::take(const Reading& reading) {
  GpuReading& last = readings_[reading.gpu.value];
  last.read = true;
  if (reading.power_w) last.power_w = *reading.power_w;
  if (reading.energy_j) share(reading);
}

void EnergyBooks::write_if_due() {
  if (state_.now - last_written_ < kBookInterval) return;
  last_written_ = state_.now;
  state_.quotas.note_books_due();
  for (std::uint32_t i = 0; i < state_.fleet.cluster().slices.size(); ++i) {
    if (const Job* job = state_.job_on(SliceId{i})) state_.turn.touch_attempt(*job);
  }
}

void EnergyBooks::share(const Reading& reading) {
  GpuReading& books = readings_[reading.gpu.value];
  books.energy_j = *reading.energy_j;
  const auto used = meters_[reading.gpu.value].read(*reading.energy_j, state_.now);
  if (!used) return;
  const cluster::ClusterState& cluster = state_.fleet.cluster();
  std::vector<int> compute;
  std::vector<Job*> jobs;
  for (const mig::Placement placement : cluster.gpus[reading.gpu.value].layout.instances()) {
    const SliceId slice = cluster::slice_id(reading.gpu, placement.start);
    Job* job = state_.job_on(slice);
    if (job == nullptr) continue;
    compute.push_back(cluster.slice(slice).compute_slices);
    jobs.push_back(job);
  }
  const double idle_w = state_.model().power_curves.front().watts.front();
  const EnergyShares shares = split_energy(used->joules, idle_w, used->span, compute);
  books.idle_j += shares.idle_j;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i]->attempt().energy_j += shares.busy_j[i];
    state_.quotas.add_joules(jobs[i]->owner, shares.busy_j[i]);
    books.attributed_j += shares.busy_j[i];
  }
}

}  // namespace partita::control
