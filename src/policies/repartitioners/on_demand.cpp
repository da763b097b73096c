#include "policies/repartitioners/on_demand.h"

#include <algorithm>
#include <functional>

#include "mig/enumerate.h"

namespace partita::policies {
namespace {

using cluster::JobHandle;

// How often in one turn jobs are moved for another, and how many places are tried for it.
constexpr int kMovesForOthersMax = 4;
constexpr std::size_t kSpacesTriedMax = 16;

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

// How many of the full layouts have all of its instances.
int full_layouts_with(const std::vector<mig::Layout>& full, const mig::Layout& layout) {
  const auto instances = layout.instances();
  return static_cast<int>(std::ranges::count_if(full, [&](const mig::Layout& each) {
    return std::ranges::all_of(instances, [&](mig::Placement at) { return each.contains(at); });
  }));
}

// The profiles of a mask, most compute slices first, those without media engines first.
std::vector<mig::ProfileIndex> largest_first(const mig::GpuModel& model, std::uint16_t mask) {
  std::vector<mig::ProfileIndex> profiles;
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    if ((mask >> i & 1U) != 0) profiles.push_back(static_cast<mig::ProfileIndex>(i));
  }
  std::ranges::stable_sort(profiles, [&](mig::ProfileIndex a, mig::ProfileIndex b) {
    const mig::Profile& left = model.profiles[a];
    const mig::Profile& right = model.profiles[b];
    return left.compute_slices != right.compute_slices ? left.compute_slices > right.compute_slices
                                                       : left.media < right.media;
  });
  return profiles;
}

}  // namespace

std::vector<mig::Layout> OnDemand::initial_layouts(const decide::View& view) {
  if (options_.fit == FitRule::kMostReachable) {
    full_layouts_ = mig::maximal_layouts(*view.cluster.model, {.double_memory = true});
  }
  return std::vector<mig::Layout>(view.cluster.gpu_count());
}

bool OnDemand::has_space(JobId job) const {
  return std::ranges::find(spaces_, job, &KeptSpace::job) != spaces_.end();
}

// Those who left it are older, perhaps, and would be served before the job it was made for. Where
// the scheduler gave the instance to another, or it took too long, the job asks like all others.
void OnDemand::keep_spaces(const decide::View& view) {
  std::erase_if(spaces_, [&](const KeptSpace& space) {
    const bool waits = view.jobs.present(space.handle) && view.jobs[space.handle].id == space.job &&
                       !view.jobs[space.handle].running();
    const cluster::Slice& slice =
        view.cluster.slice(cluster::slice_id(space.gpu, space.place.start));
    const bool taken = slice.state == cluster::SliceState::kBusy && !slice.closing &&
                       slice.profile == space.place.profile;
    return !waits || taken || view.now >= space.until;
  });
  wanted_.assign(view.cluster.gpu_count(), {});
  for (const KeptSpace& space : spaces_) wanted_[space.gpu.value].add(space.place);
}

// Busy instances stay, and so do those being made: whoever they are for still waits. Idle ones stay
// only if a waiting job takes them. Where jobs are about to leave space for another, theirs do not.
void OnDemand::keep_what_is_used(const decide::View& view) {
  const mig::GpuModel& model = *view.cluster.model;
  idle_.clear();
  for (std::uint32_t gpu = 0; gpu < view.cluster.gpu_count(); ++gpu) {
    for (const mig::Placement placement : view.cluster.gpus[gpu].layout.instances()) {
      const cluster::Slice& slice =
          view.cluster.slice(cluster::slice_id(GpuId{gpu}, placement.start));
      if (!spaces_.empty() && !mig::fits(model, wanted_[gpu], placement)) continue;
      if (slice.state == cluster::SliceState::kBusy) wanted_[gpu].add(placement);
      const bool free = slice.state == cluster::SliceState::kIdle ||
                        slice.state == cluster::SliceState::kCreating;
      if (free) idle_.emplace_back(gpu, placement);
    }
  }
}

bool OnDemand::has_idle(const decide::View& view, std::span<const mig::ProfileIndex> profiles) {
  for (const mig::ProfileIndex profile : profiles) {
    for (auto each = idle_.begin(); each != idle_.end(); ++each) {
      if (each->second.profile != profile) continue;
      if (!mig::fits(*view.cluster.model, wanted_[each->first], each->second)) continue;
      wanted_[each->first].add(each->second);
      idle_.erase(each);
      return true;
    }
  }
  return false;
}

// More is better, the first figure that differs decides. First fit: the first place found is best.
OnDemand::Score OnDemand::score(const mig::GpuModel& model, const mig::Layout& before,
                                const mig::Layout& after) const {
  switch (options_.fit) {
    case FitRule::kFirstFit:
      break;
    case FitRule::kLeastFragmenting:
      // A GPU that is in use already before an empty one: whole GPUs stay whole.
      return {before.empty() ? 0 : 1, longest_free_run(model, after), places_left(model, after)};
    case FitRule::kMostReachable:
      return {before.empty() ? 0 : 1, full_layouts_with(full_layouts_, after), 0};
  }
  return {};
}

std::optional<OnDemand::Place> OnDemand::find_place(const mig::GpuModel& model,
                                                    mig::ProfileIndex profile) const {
  std::optional<Place> best;
  Score best_score{};
  for (std::uint32_t gpu = 0; gpu < wanted_.size(); ++gpu) {
    for (const std::uint8_t start : model.profiles[profile].starts) {
      if (!mig::fits(model, wanted_[gpu], {profile, start})) continue;
      if (options_.fit == FitRule::kFirstFit) return Place{GpuId{gpu}, start};
      mig::Layout after = wanted_[gpu];
      after.add({profile, start});
      const Score its_score = score(model, wanted_[gpu], after);
      if (best && its_score <= best_score) continue;
      best = Place{GpuId{gpu}, start};
      best_score = its_score;
    }
  }
  return best;
}

bool OnDemand::make_space(const mig::GpuModel& model, std::span<const mig::ProfileIndex> profiles) {
  for (const mig::ProfileIndex profile : profiles) {
    const std::optional<Place> place = find_place(model, profile);
    if (!place) continue;
    wanted_[place->gpu.value].add({profile, place->start});
    return true;
  }
  return false;
}

// By what they ask for, the first to come at the head of each heap: a long queue costs one pass.
void OnDemand::collect_waiting(const decide::View& view) {
  for (WaitingJobs& waiting : waiting_) waiting.jobs.clear();
  for (std::uint32_t i = 0; i < view.jobs.handles_end(); ++i) {
    const JobHandle handle{i};
    if (!view.jobs.present(handle) || view.jobs[handle].running()) continue;
    if (!spaces_.empty() && has_space(view.jobs[handle].id)) continue;
    const std::uint16_t asked = asked_by(view, handle);
    auto same = std::ranges::find(waiting_, asked, &WaitingJobs::asked);
    if (same == waiting_.end()) same = waiting_.insert(waiting_.end(), {asked, {}});
    same->jobs.push_back({view.jobs[handle].id, handle});
  }
  for (WaitingJobs& waiting : waiting_) {
    std::make_heap(waiting.jobs.begin(), waiting.jobs.end(), std::greater{});
  }
}

// A job asks for the same as long as the same profiles fit it.
std::uint16_t OnDemand::asked_by(const decide::View& view, JobHandle handle) {
  const decide::ActiveJob& job = view.jobs[handle];
  if (known_.size() <= handle.value) known_.resize(handle.value + 1);
  Known& known = known_[handle.value];
  if (known.id != job.id || known.fits != job.fits) {
    known = {job.id, job.fits, options_.asked(*view.cluster.model, job)};
  }
  return known.asked;
}

OnDemand::WaitingJobs* OnDemand::first_waiting() {
  WaitingJobs* first = nullptr;
  for (WaitingJobs& waiting : waiting_) {
    if (waiting.jobs.empty()) continue;
    if (first == nullptr || waiting.jobs.front().id < first->jobs.front().id) first = &waiting;
  }
  return first;
}

// Those who leave are given places as if they waited, in order of their memory slices; if one finds
// none, nothing has happened.
bool OnDemand::move_away(const decide::View& view, const SpaceToMake& space) {
  const mig::GpuModel& model = *view.cluster.model;
  auto wanted = wanted_;
  auto idle = idle_;
  mig::Layout rest;
  for (const mig::Placement each : wanted_[space.gpu.value].instances()) {
    if ((mig::memory_mask(model, each) & mig::memory_mask(model, space.place)) == 0) rest.add(each);
  }
  rest.add(space.place);
  wanted_[space.gpu.value] = rest;
  const bool all = std::ranges::all_of(space.movers, [&](JobHandle mover) {
    const auto profiles = largest_first(model, asked_by(view, mover));
    return has_idle(view, profiles) || make_space(model, profiles);
  });
  if (all) return true;
  wanted_ = std::move(wanted);
  idle_ = std::move(idle);
  return false;
}

bool OnDemand::make_space_by_moving(const decide::View& view, const Waiting& job,
                                    std::span<const mig::ProfileIndex> profiles) {
  SpaceSearch search = spaces_for(view, wanted_, profiles);
  if (search.spaces.size() > kSpacesTriedMax) search.spaces.resize(kSpacesTriedMax);
  for (const SpaceToMake& space : search.spaces) {
    if (!move_away(view, space)) continue;
    spaces_.push_back({job.id, job.handle, space.gpu, space.place, view.now + search.wait});
    return true;
  }
  return false;
}

void OnDemand::decide(const decide::View& view, std::vector<decide::LayoutRequest>& requests) {
  const mig::GpuModel& model = *view.cluster.model;
  keep_spaces(view);
  keep_what_is_used(view);
  collect_waiting(view);
  const bool pays = view.preemption.mode == decide::Preemption::Mode::kPays;
  int moves_left = options_.moves && pays ? kMovesForOthersMax : 0;
  while (WaitingJobs* first = first_waiting()) {
    // What is wanted only grows and what is idle only shrinks: where the first of those who ask
    // for the same found nothing, the others need not look. (Moves may leave a rest that would do;
    // the steps they take are events, and at those everybody asks again.)
    const auto profiles = largest_first(model, first->asked);
    bool served = has_idle(view, profiles) || make_space(model, profiles);
    if (!served && moves_left > 0) {
      served = make_space_by_moving(view, first->jobs.front(), profiles);
      if (served) --moves_left;
    }
    if (!served) {
      first->jobs.clear();
      continue;
    }
    std::pop_heap(first->jobs.begin(), first->jobs.end(), std::greater{});
    first->jobs.pop_back();
  }
  if (options_.keep_idle) {
    for (const auto& [gpu, placement] : idle_) {
      if (mig::fits(model, wanted_[gpu], placement)) wanted_[gpu].add(placement);
    }
  }
  for (std::uint32_t gpu = 0; gpu < wanted_.size(); ++gpu) {
    requests.push_back({GpuId{gpu}, wanted_[gpu]});
  }
}

}  // namespace partita::policies
