#include "decide/fragmentation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace partita::decide {
namespace {

// On the fastest of the sizes that the job's profiles have.
double work_us(const mig::GpuModel& model, const ActiveJob& job) {
  double fastest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    if ((job.fits >> i & 1U) == 0) continue;
    const auto size = workload::slice_size_index(model.profiles[i].compute_slices);
    fastest = std::min(fastest, job.time[*size]);
  }
  CHECK(std::isfinite(fastest));
  return std::round(job.work * fastest);
}

}  // namespace

std::size_t QueuedWork::group_of(std::uint16_t fits) {
  const auto found = std::ranges::find(groups_, fits, &Group::fits);
  if (found != groups_.end()) return static_cast<std::size_t>(found - groups_.begin());
  int slices = model_.compute_slices;
  for (std::size_t i = 0; i < model_.profiles.size(); ++i) {
    if ((fits >> i & 1U) != 0) slices = std::min(slices, model_.profiles[i].compute_slices);
  }
  groups_.push_back({fits, slices, 0, 0});
  return groups_.size() - 1;
}

void QueuedWork::enter(JobHandle handle, const ActiveJob& job) {
  CHECK(job.fits != 0);
  if (handle.value >= entries_.size()) entries_.resize(std::size_t{handle.value} * 2 + 16);
  const Entry entry{group_of(job.fits), work_us(model_, job)};
  entries_[handle.value] = entry;
  Group& group = groups_[entry.group];
  group.work_us += entry.work_us;
  ++group.jobs;
  ++jobs_;
}

void QueuedWork::leave(JobHandle handle) {
  const Entry entry = entries_[handle.value];
  Group& group = groups_[entry.group];
  CHECK(group.jobs > 0);
  group.work_us -= entry.work_us;
  --group.jobs;
  --jobs_;
}

Fragmentation QueuedWork::measure(const cluster::ClusterState& cluster) const {
  Fragmentation found;
  if (jobs_ == 0) return found;
  unsigned open = 0;
  for (const cluster::Slice& slice : cluster.slices) {
    if (slice.open()) open |= 1U << slice.profile;
  }
  int idle = 0;
  for (const cluster::Gpu& gpu : cluster.gpus) {
    idle += model_.compute_slices - gpu.busy_compute_slices;
  }
  for (const Group& group : groups_) {
    if (group.jobs == 0) continue;
    found.queued_us += group.work_us;
    if ((group.fits & open) == 0 && group.slices <= idle) found.blocked_us += group.work_us;
  }
  return found;
}

Fragmentation fragmentation(const View& view) {
  QueuedWork queued(*view.cluster.model);
  for (std::uint32_t i = 0; i < view.jobs.handles_end(); ++i) {
    const JobHandle handle{i};
    if (!view.jobs.present(handle)) continue;
    const ActiveJob& job = view.jobs[handle];
    // One that no profile fits is not kept waiting by how the slices are cut.
    if (!job.running() && job.fits != 0) queued.enter(handle, job);
  }
  return queued.measure(view.cluster);
}

}  // namespace partita::decide
