#include "policies/repartitioners/compaction.h"

#include <algorithm>
#include <optional>

namespace partita::policies {
namespace {

using cluster::JobHandle;
using cluster::SliceId;

// In costs of an interruption: what is saved beyond the cost of the moves. As for displacements.
constexpr std::int64_t kMargin = 2;
// In costs of its move: for how long a job has made progress before it is moved. So moves take no
// more than a tenth of the time in which a job gets on, and every job ends.
constexpr std::int64_t kRunMin = 10;

// Whether moving the job on this slice is allowed and can be worth it for the job itself: one that
// ends sooner than it could move is waited for.
bool movable(const decide::View& view, SliceId slice) {
  const decide::ActiveJob& job = view.jobs[view.cluster.slice(slice).job];
  if (job.endless() || !view.preemption.allows(job)) return false;
  const std::int64_t cost = cost_of_move(view, slice).count;
  return (view.now - job.progress_from).count >= kRunMin * cost &&
         (job.finish - view.now).count > cost;
}

// What stands in the way of one instance.
struct Obstacles {
  std::vector<JobHandle> jobs;
  Micros free_at;  // when the last of them is believed to end
  Micros cost;     // of moving them all
  bool movable = true;
};

// Nothing when it is not known when they go: an instance that is yet to get its job, or one that is
// kept from use; or when the place would not do without them either.
std::optional<Obstacles> obstacles_to(const decide::View& view, GpuId gpu,
                                      const mig::Layout& wanted, mig::Placement place) {
  const mig::GpuModel& model = *view.cluster.model;
  const unsigned mask = mig::memory_mask(model, place);
  Obstacles found;
  mig::Layout rest;
  for (const mig::Placement each : wanted.instances()) {
    if ((mig::memory_mask(model, each) & mask) == 0) {
      rest.add(each);
      continue;
    }
    const SliceId id = cluster::slice_id(gpu, each.start);
    const cluster::Slice& slice = view.cluster.slice(id);
    if (slice.state != cluster::SliceState::kBusy || slice.profile != each.profile) return {};
    if (view.jobs[slice.job].endless()) return {};
    found.jobs.push_back(slice.job);
    found.free_at = std::max(found.free_at, view.jobs[slice.job].finish);
    found.cost += cost_of_move(view, id);
    // Where the instance stands already, taking it from its job would make no space.
    found.movable = found.movable && each != place && movable(view, id);
  }
  if (found.jobs.empty() || !mig::fits(model, rest, place)) return {};
  return found;
}

int free_memory_slices(const decide::View& view, std::span<const mig::Layout> wanted) {
  const mig::GpuModel& model = *view.cluster.model;
  int free = 0;
  for (const mig::Layout& layout : wanted) {
    free += model.memory_slices;
    for (const mig::Placement each : layout.instances()) {
      free -= model.profiles[each.profile].memory_slices;
    }
  }
  return free;
}

}  // namespace

Micros cost_of_move(const decide::View& view, SliceId slice) {
  const mig::GpuModel& model = *view.cluster.model;
  const mig::ProfileIndex profile = view.cluster.slice(slice).profile;
  return view.preemption.cost + micros_from_seconds(model.change_seconds[profile].create);
}

SpaceSearch spaces_for(const decide::View& view, std::span<const mig::Layout> wanted,
                       std::span<const mig::ProfileIndex> profiles) {
  const mig::GpuModel& model = *view.cluster.model;
  SpaceSearch search;
  const int free = free_memory_slices(view, wanted);
  for (const mig::ProfileIndex profile : profiles) {
    if (model.profiles[profile].memory_slices > free) continue;
    for (std::uint32_t gpu = 0; gpu < wanted.size(); ++gpu) {
      for (const std::uint8_t start : model.profiles[profile].starts) {
        const mig::Placement place{profile, start};
        auto found = obstacles_to(view, GpuId{gpu}, wanted[gpu], place);
        if (!found) continue;
        search.wait = std::min(search.wait, found->free_at - view.now);
        if (!found->movable) continue;
        search.spaces.push_back({GpuId{gpu}, place, std::move(found->jobs), found->cost});
      }
    }
  }
  const Micros margin{kMargin * view.preemption.cost.count};
  std::erase_if(search.spaces,
                [&](const SpaceToMake& space) { return space.cost + margin >= search.wait; });
  std::ranges::stable_sort(search.spaces, {}, &SpaceToMake::cost);
  return search;
}

}  // namespace partita::policies
