#include "policies/repartitioners/on_demand.h"

#include <algorithm>
#include <tuple>

#include "policies/request.h"

namespace partita::policies {
namespace {

using cluster::JobHandle;

int longest_free_run(const mig::GpuModel& model, const mig::Layout& layout) {
  const unsigned used = mig::memory_mask(model, layout);
  int longest = 0;
  int run = 0;
  for (int slice = 0; slice < model.memory_slices; ++slice) {
    run = (used >> slice & 1U) != 0 ? 0 : run + 1;
    longest = std::max(longest, run);
  }
  return longest;
}

int places_left(const mig::GpuModel& model, const mig::Layout& layout) {
  int places = 0;
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    for (const std::uint8_t start : model.profiles[i].starts) {
      places += mig::fits(model, layout, {static_cast<mig::ProfileIndex>(i), start}) ? 1 : 0;
    }
  }
  return places;
}

std::vector<JobHandle> waiting_by_arrival(const decide::ActiveJobs& jobs) {
  std::vector<JobHandle> waiting;
  for (std::uint32_t i = 0; i < jobs.handles_end(); ++i) {
    if (jobs.present(JobHandle{i}) && !jobs[JobHandle{i}].running()) waiting.push_back({i});
  }
  std::sort(waiting.begin(), waiting.end(),
            [&](JobHandle a, JobHandle b) { return jobs[a].id < jobs[b].id; });
  return waiting;
}

}  // namespace

std::vector<mig::Layout> OnDemand::initial_layouts(const decide::View& view) {
  return std::vector<mig::Layout>(view.cluster.gpu_count());
}

// Busy instances stay, and so do those being made: whoever they are for still waits. Idle ones stay
// only if a waiting job takes them.
void OnDemand::keep_what_is_used(const decide::View& view) {
  wanted_.assign(view.cluster.gpu_count(), {});
  idle_.clear();
  for (std::uint32_t gpu = 0; gpu < view.cluster.gpu_count(); ++gpu) {
    for (const mig::Placement placement : view.cluster.gpus[gpu].layout.instances()) {
      const cluster::Slice& slice =
          view.cluster.slice(cluster::slice_id(GpuId{gpu}, placement.start));
      if (slice.state == cluster::SliceState::kBusy) wanted_[gpu].add(placement);
      const bool free = slice.state == cluster::SliceState::kIdle ||
                        slice.state == cluster::SliceState::kCreating;
      if (free) idle_.emplace_back(gpu, placement);
    }
  }
}

bool OnDemand::has_idle(const decide::View& view, mig::ProfileIndex profile) {
  for (auto each = idle_.begin(); each != idle_.end(); ++each) {
    if (each->second.profile != profile) continue;
    if (!mig::fits(*view.cluster.model, wanted_[each->first], each->second)) continue;
    wanted_[each->first].add(each->second);
    idle_.erase(each);
    return true;
  }
  return false;
}

std::optional<OnDemand::Place> OnDemand::find_place(const mig::GpuModel& model,
                                                    mig::ProfileIndex profile) const {
  if (placement_ == Placement::kLeastFragmenting) return least_fragmenting(model, profile);
  for (std::uint32_t gpu = 0; gpu < wanted_.size(); ++gpu) {
    for (const std::uint8_t start : model.profiles[profile].starts) {
      if (mig::fits(model, wanted_[gpu], {profile, start})) return Place{GpuId{gpu}, start};
    }
  }
  return {};
}

std::optional<OnDemand::Place> OnDemand::least_fragmenting(const mig::GpuModel& model,
                                                           mig::ProfileIndex profile) const {
  std::optional<Place> best;
  std::tuple<bool, int, int> best_score;
  for (std::uint32_t gpu = 0; gpu < wanted_.size(); ++gpu) {
    for (const std::uint8_t start : model.profiles[profile].starts) {
      if (!mig::fits(model, wanted_[gpu], {profile, start})) continue;
      mig::Layout after = wanted_[gpu];
      after.add({profile, start});
      // A GPU that is in use already before an empty one: whole GPUs stay whole.
      const std::tuple<bool, int, int> score{!wanted_[gpu].empty(), longest_free_run(model, after),
                                             places_left(model, after)};
      if (best && score <= best_score) continue;
      best = Place{GpuId{gpu}, start};
      best_score = score;
    }
  }
  return best;
}

void OnDemand::decide(const decide::View& view, std::vector<decide::LayoutRequest>& requests) {
  const mig::GpuModel& model = *view.cluster.model;
  keep_what_is_used(view);
  for (const JobHandle job : waiting_by_arrival(view.jobs)) {
    const mig::ProfileIndex profile = requested_profile(model, view.jobs[job]);
    if (has_idle(view, profile)) continue;
    const std::optional<Place> place = find_place(model, profile);
    if (place) wanted_[place->gpu.value].add({profile, place->start});
  }
  for (std::uint32_t gpu = 0; gpu < wanted_.size(); ++gpu) {
    requests.push_back({GpuId{gpu}, wanted_[gpu]});
  }
}

}  // namespace partita::policies
