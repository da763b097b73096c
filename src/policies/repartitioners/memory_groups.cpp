#include "policies/repartitioners/memory_groups.h"

#include <algorithm>
#include <tuple>

#include "mig/enumerate.h"
#include "policies/request.h"

namespace partita::policies {
namespace {

using cluster::JobHandle;

// The memory slices that every instance of the layout takes; 0 when they differ.
int common_size(const mig::GpuModel& model, const mig::Layout& layout) {
  int size = 0;
  for (const mig::Placement placement : layout.instances()) {
    const int its_size = model.profiles[placement.profile].memory_slices;
    if (size != 0 && its_size != size) return 0;
    size = its_size;
  }
  return size;
}

std::tuple<std::size_t, int> worth(const mig::GpuModel& model, const mig::Layout& layout) {
  return {layout.instances().size(), mig::compute_slices_used(model, layout)};
}

std::map<int, std::size_t> waiting_by_group(const decide::View& view) {
  std::map<int, std::size_t> waiting;
  for (std::uint32_t i = 0; i < view.jobs.handles_end(); ++i) {
    if (!view.jobs.present(JobHandle{i})) continue;
    const decide::ActiveJob& job = view.jobs[JobHandle{i}];
    if (!job.running()) ++waiting[tightest_memory_slices(*view.cluster.model, job)];
  }
  return waiting;
}

}  // namespace

std::vector<mig::Layout> MemoryGroups::initial_layouts(const decide::View& view) {
  const mig::GpuModel& model = *view.cluster.model;
  layouts_.clear();
  for (const mig::Layout& layout : mig::legal_layouts(model, {.double_memory = true})) {
    const int size = common_size(model, layout);
    if (size == 0) continue;
    mig::Layout& best = layouts_[size];
    if (worth(model, layout) > worth(model, best)) best = layout;
  }
  groups_.assign(view.cluster.gpu_count(), 0);
  return std::vector<mig::Layout>(view.cluster.gpu_count());
}

// Instances of the GPUs cut for the group, there or to come, that hold no job.
std::size_t MemoryGroups::free_places(const decide::View& view, int group) const {
  std::size_t places = 0;
  for (std::uint32_t gpu = 0; gpu < groups_.size(); ++gpu) {
    if (groups_[gpu] != group) continue;
    for (const mig::Placement placement : layouts_.at(group).instances()) {
      const auto& slice = view.cluster.slice(cluster::slice_id(GpuId{gpu}, placement.start));
      places += slice.state == cluster::SliceState::kBusy ? 0U : 1U;
    }
  }
  return places;
}

int MemoryGroups::next_group(const decide::View& view,
                             const std::map<int, std::size_t>& waiting) const {
  int best = 0;
  std::ptrdiff_t fewest = 0;
  for (const auto& [group, jobs] : waiting) {
    const std::ptrdiff_t gpus = std::ranges::count(groups_, group);
    // GPUs that are cut for the group already will serve these jobs.
    if (free_places(view, group) >= jobs || (best != 0 && gpus >= fewest)) continue;
    best = group;
    fewest = gpus;
  }
  return best;
}

void MemoryGroups::decide(const decide::View& view, std::vector<decide::LayoutRequest>& requests) {
  const std::map<int, std::size_t> waiting = waiting_by_group(view);
  for (std::uint32_t gpu = 0; gpu < groups_.size(); ++gpu) {
    if (groups_[gpu] != 0 && waiting.contains(groups_[gpu])) continue;
    const int group = next_group(view, waiting);
    if (group == 0) continue;
    groups_[gpu] = group;
    requests.push_back({GpuId{gpu}, layouts_.at(group)});
  }
}

}  // namespace partita::policies
