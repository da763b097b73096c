#include "policies/schedulers/preemption_planner.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/check.h"
#include "base/round_up.h"

namespace partita::policies {
namespace {

// Far beyond any run, and far from overflow when a few are added.
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 8;
constexpr double kNoTimeMicros = 1e17;

// In costs of an interruption. Halving or doubling one of them changes the ET of the windows they
// were chosen on by about a percent.
constexpr std::int64_t kMargin = 2;       // that the tardiness projected must fall by
constexpr std::int64_t kRunMin = 3;       // for which a job has made progress before it is moved
constexpr std::int64_t kEarlierMin = 30;  // by which a job that is on time must be done earlier
// Choices whose effect on all waiting jobs is projected.
constexpr std::size_t kTrials = 8;

std::int64_t late(std::int64_t after, std::int64_t slack) {
  return std::max<std::int64_t>(0, after - slack);
}

bool fits(std::uint16_t profiles, mig::ProfileIndex profile) {
  return (profiles >> profile & 1U) != 0;
}

}  // namespace

PreemptionPlanner::Want PreemptionPlanner::want_of(const decide::View& view, JobHandle handle,
                                                   bool interrupted) {
  const decide::ActiveJob& job = view.jobs[handle];
  Want want;
  want.fits = job.fits;
  want.slack = (job.deadline - view.now).count;
  const double work = job.work_at(view.now);
  const Micros restart =
      interrupted ? std::max(view.preemption.cost, job.overhead(view.now)) : job.restart;
  for (std::size_t i = 0; i < want.needs.size(); ++i) {
    want.needs[i] =
        job.time[i] < kNoTimeMicros ? (restart + round_up(work * job.time[i])).count : kNever;
  }
  return want;
}

bool PreemptionPlanner::any_movable(const decide::View& view) {
  const std::int64_t run_min = kRunMin * view.preemption.cost.count;
  return std::ranges::any_of(view.cluster.slices, [&](const cluster::Slice& slice) {
    if (slice.state != cluster::SliceState::kBusy || slice.closing) return false;
    const decide::ActiveJob& job = view.jobs[slice.job];
    return job.resumable && (view.now - job.progress_from).count >= run_min && !job.endless();
  });
}

void PreemptionPlanner::begin(const decide::View& view) {
  const mig::GpuModel& model = *view.cluster.model;
  CHECK(model.profiles.size() <= kProfilesMax);
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    size_of_[i] =
        static_cast<std::uint8_t>(*workload::slice_size_index(model.profiles[i].compute_slices));
  }
  places_.clear();
  place_of_.resize(view.cluster.slices.size());
  for (auto& movable : movable_) movable.clear();
  idle_.fill(0);
  idle_profiles_ = movable_profiles_ = 0;
  busy_.clear();
  for (const cluster::Gpu& gpu : view.cluster.gpus) busy_.push_back(gpu.busy_compute_slices);
  for (std::uint32_t i = 0; i < view.cluster.slices.size(); ++i) {
    const cluster::Slice& slice = view.cluster.slices[i];
    if (!slice.exists() || slice.closing) continue;
    Place place;
    place.slice = SliceId{i};
    place.profile = slice.profile;
    place.size_index = slice.size_index;
    if (slice.state == cluster::SliceState::kIdle) {
      set_idle(place);
    } else {
      const decide::ActiveJob& job = view.jobs[slice.job];
      if (job.endless()) continue;
      add_running(view, job, slice.job, place);
    }
    place_of_[i] = static_cast<std::uint32_t>(places_.size());
    places_.push_back(place);
  }
  moved_.resize(places_.size());
}

void PreemptionPlanner::add_running(const decide::View& view, const decide::ActiveJob& job,
                                    JobHandle handle, Place& place) {
  place.free_after = std::max<std::int64_t>(1, (job.finish - view.now).count);
  const std::int64_t progressed = (view.now - job.progress_from).count;
  if (!job.resumable || progressed < kRunMin * view.preemption.cost.count) return;
  place.job = handle;
  place.slack = (job.deadline - view.now).count;
  movable_[place.profile].push_back(static_cast<std::uint32_t>(places_.size()));
  movable_profiles_ = static_cast<std::uint16_t>(movable_profiles_ | (1U << place.profile));
}

void PreemptionPlanner::set_idle(Place& place) {
  place.job = place.starter = JobHandle{};
  place.free_after = 0;
  place.idle = true;
  ++idle_[place.profile];
  idle_profiles_ = static_cast<std::uint16_t>(idle_profiles_ | (1U << place.profile));
}

void PreemptionPlanner::started(const decide::View& view, JobHandle job, SliceId slice) {
  Place& place = places_[place_of_[slice.value]];
  const bool interrupted = view.jobs[job].running();
  if (place.idle) {
    busy_[cluster::gpu_of(slice).value] += view.cluster.slice(slice).compute_slices;
    --idle_[place.profile];
  }
  const Want want = want_of(view, job, interrupted);
  place.job = JobHandle{};
  place.starter = interrupted ? JobHandle{} : job;
  place.free_after = want.needs[place.size_index];
  place.slack = want.slack;
  place.idle = false;
  if (idle_[place.profile] != 0) return;
  idle_profiles_ = static_cast<std::uint16_t>(idle_profiles_ & ~(1U << place.profile));
}

void PreemptionPlanner::left(const decide::View& view, SliceId slice) {
  set_idle(places_[place_of_[slice.value]]);
  busy_[cluster::gpu_of(slice).value] -= view.cluster.slice(slice).compute_slices;
}

void PreemptionPlanner::displaced(const decide::View& view, const Displacement& displacement) {
  if (displacement.left.valid()) left(view, displacement.left);
  started(view, displacement.job, displacement.slice);
  places_[place_of_[displacement.slice.value]].starter = JobHandle{};
}

void PreemptionPlanner::upgraded(const decide::View& view, const Upgrade& upgrade) {
  left(view, view.jobs[upgrade.job].slice);
  started(view, upgrade.job, upgrade.to);
}

// Over what the job still needs: beside its neighbours, as this decision has placed them so far, or
// alone, as it will be when they have left.
bool PreemptionPlanner::adds_energy(const decide::View& view, const Place& from, const Place& to,
                                    std::int64_t need) const {
  const std::vector<double>& watts = view.power.watts;
  const std::size_t size_from = view.cluster.slice(from.slice).compute_slices;
  const std::size_t size_to = view.cluster.slice(to.slice).compute_slices;
  const GpuId gpu_from = cluster::gpu_of(from.slice);
  const GpuId gpu_to = cluster::gpu_of(to.slice);
  const std::size_t busy_from = busy_[gpu_from.value];
  std::size_t busy_to = busy_[gpu_to.value];
  if (gpu_to == gpu_from) busy_to -= size_from;
  const auto time_here = static_cast<double>(from.free_after);
  const auto time_there = static_cast<double>(need);
  const bool beside = (watts[busy_to + size_to] - watts[busy_to]) * time_there >
                      (watts[busy_from] - watts[busy_from - size_from]) * time_here;
  const bool alone =
      (watts[size_to] - watts[0]) * time_there > (watts[size_from] - watts[0]) * time_here;
  return beside || alone;
}

const PreemptionPlanner::Want& PreemptionPlanner::want_when_moved(const decide::View& view,
                                                                  std::size_t at) {
  Place& place = places_[at];
  if (!place.want_known) moved_[at] = want_of(view, place.job, true);
  place.want_known = true;
  return moved_[at];
}

std::optional<PreemptionPlanner::Upgrade> PreemptionPlanner::best_upgrade(
    const decide::View& view) {
  if (idle_profiles_ == 0) return {};
  const std::int64_t least_tardiness = kMargin * view.preemption.cost.count;
  const std::int64_t least_time = kEarlierMin * view.preemption.cost.count;
  Upgrade best;
  std::int64_t most = 0;
  for (std::size_t at = 0; at < places_.size(); ++at) {
    const Place& from = places_[at];
    if (!from.job.valid()) continue;
    if (from.tardiness() <= least_tardiness && from.free_after <= least_time) continue;
    const Want& want = want_when_moved(view, at);
    // What is saved is the same on all slices of a profile, so mostly none needs to be looked at.
    for (unsigned left = idle_profiles_ & want.fits; left != 0; left &= left - 1) {
      const auto profile = static_cast<mig::ProfileIndex>(std::countr_zero(left));
      const std::int64_t need = want.needs[size_of_[profile]];
      std::int64_t saved = from.tardiness() - late(need, want.slack);
      const bool for_time = saved <= least_tardiness;
      if (for_time) saved = from.free_after - need;
      if (saved < most || saved == 0 || (for_time && saved <= least_time)) continue;
      const auto to = std::ranges::find_if(places_, [&](const Place& place) {
        return place.idle && place.profile == profile &&
               !(for_time && adds_energy(view, from, place, need));
      });
      if (to == places_.end()) continue;
      if (saved == most && (best.job != from.job || best.to.value < to->slice.value)) continue;
      most = saved;
      best = Upgrade{from.job, to->slice};
    }
  }
  if (!best.job.valid()) return {};
  return best;
}

// Puts the job where it is done first, and gives its tardiness there.
std::int64_t PreemptionPlanner::place_in(SliceCalendar& calendar, const Want& want) const {
  std::int64_t first = kNever;
  std::size_t profile_of_first = kProfilesMax;
  for (unsigned left = calendar.profiles() & want.fits; left != 0; left &= left - 1) {
    const auto profile = static_cast<mig::ProfileIndex>(std::countr_zero(left));
    const std::int64_t done = calendar.first(profile) + want.needs[size_of_[profile]];
    if (done >= first) continue;
    first = done;
    profile_of_first = profile;
  }
  if (profile_of_first == kProfilesMax) return 0;  // no slice for it, whatever is done
  calendar.take_first(static_cast<mig::ProfileIndex>(profile_of_first), first);
  return late(first, want.slack);
}

// Places of the profile whose job may still be moved.
template <typename Visit>
void PreemptionPlanner::each_movable(mig::ProfileIndex profile, const Visit& visit) const {
  for (const std::uint32_t at : movable_[profile]) {
    if (places_[at].job.valid()) visit(at);
  }
}

// A waiting job gains by displacing another only if it would be late when it waited for that one;
// most of the time none would, and the projection can be left out.
bool PreemptionPlanner::may_have_claimants(const decide::View& view) const {
  const std::int64_t least = kMargin * view.preemption.cost.count;
  const std::size_t claimants = std::min(wants_.size(), kClaimants);
  for (const Place& place : places_) {
    if ((place.job.valid() || place.starter.valid()) && place.tardiness() > least) return true;
    if (!place.job.valid()) continue;
    for (std::size_t i = 0; i < claimants; ++i) {
      const Want& want = wants_[i];
      if (!fits(want.fits, place.profile)) continue;
      if (place.free_after + want.needs[place.size_index] > want.slack) return true;
    }
  }
  return false;
}

// The waiting jobs, in order, each where it is done first.
void PreemptionPlanner::project(const decide::View& view) {
  static_assert(kProjected + 2 <= SliceCalendar::kLimitMax);
  calendar_.clear(wants_.size() + 2);  // a trial places the victim as well, and replaces two
  for (const Place& place : places_) calendar_.add(place.profile, place.free_after);
  trial_.copy_from(calendar_);
  tardiness_.clear();
  std::int64_t late_jobs = 0;
  for (const Want& want : wants_) {
    tardiness_.push_back(place_in(trial_, want));
    late_jobs += tardiness_.back() > 0 ? 1 : 0;
  }
  delay_of_others_ =
      view.preemption.cost.count * late_jobs / std::max<std::int64_t>(1, std::ssize(places_));
}

void PreemptionPlanner::collect_claimants(const decide::View& view,
                                          std::span<const JobHandle> waiting) {
  claimants_.clear();
  for (std::size_t i = 0; i < std::min(waiting.size(), kClaimants); ++i) {
    // One that still runs was displaced in this decision.
    if (tardiness_[i] == 0 || view.jobs[waiting[i]].running()) continue;
    claimants_.push_back({waiting[i], wants_[i], tardiness_[i], i, kNone});
  }
  const std::size_t waiting_claimants = claimants_.size();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    const JobHandle job = place.starter.valid() ? place.starter : place.job;
    if (!job.valid() || place.tardiness() <= kMargin * view.preemption.cost.count) continue;
    claimants_.push_back({job, {}, place.tardiness(), kNone, i});
  }
  const auto placed = claimants_.begin() + static_cast<std::ptrdiff_t>(waiting_claimants);
  if (claimants_.size() - waiting_claimants > kClaimants) {
    std::partial_sort(
        placed, placed + kClaimants, claimants_.end(), [](const Claimant& a, const Claimant& b) {
          return a.tardiness != b.tardiness ? a.tardiness > b.tardiness : a.place < b.place;
        });
    claimants_.resize(waiting_claimants + kClaimants);
    std::sort(placed, claimants_.end(),
              [](const Claimant& a, const Claimant& b) { return a.place < b.place; });
  }
  for (std::size_t i = waiting_claimants; i < claimants_.size(); ++i) {
    Claimant& claimant = claimants_[i];
    const bool starts = places_[claimant.place].starter.valid();
    claimant.want =
        starts ? want_of(view, claimant.job, false) : want_when_moved(view, claimant.place);
  }
}

// Tardiness added to the job of the place when another holds it: it goes on there afterwards, or at
// once on an idle slice or on the one that the other leaves.
std::int64_t PreemptionPlanner::loss_at(const decide::View& view, std::size_t at,
                                        const Claimant& by) {
  const Place& place = places_[at];
  const Want& victim = want_when_moved(view, at);
  std::int64_t done = by.want.needs[place.size_index] + victim.needs[place.size_index];
  unsigned at_once = idle_profiles_;
  if (by.place != kNone) at_once |= 1U << places_[by.place].profile;
  for (unsigned left = at_once & victim.fits; left != 0; left &= left - 1) {
    done = std::min(done, victim.needs[size_of_[static_cast<std::size_t>(std::countr_zero(left))]]);
  }
  return late(done, victim.slack) - late(place.free_after, victim.slack);
}

void PreemptionPlanner::collect_choices(const decide::View& view) {
  choices_.clear();
  for (std::size_t i = 0; i < claimants_.size(); ++i) {
    const Claimant& claimant = claimants_[i];
    const Want& want = claimant.want;
    for (unsigned left = movable_profiles_ & want.fits; left != 0; left &= left - 1) {
      const auto profile = static_cast<mig::ProfileIndex>(std::countr_zero(left));
      const std::int64_t need = want.needs[size_of_[profile]];
      const std::int64_t remains = late(need, want.slack) + delay_of_others_;
      if (claimant.tardiness <= remains) continue;
      each_movable(profile, [&](std::size_t at) {
        if (at == claimant.place) return;
        std::int64_t otherwise = claimant.tardiness;
        if (claimant.place == kNone) {
          otherwise = std::min(otherwise, late(places_[at].free_after + need, want.slack));
        }
        if (otherwise <= remains) return;
        const std::int64_t worth = otherwise - remains - loss_at(view, at, claimant);
        if (worth > 0) choices_.push_back({worth, i, at});
      });
    }
  }
  const auto tried =
      choices_.begin() + static_cast<std::ptrdiff_t>(std::min(choices_.size(), kTrials));
  std::partial_sort(choices_.begin(), tried, choices_.end(), [](const Choice& a, const Choice& b) {
    if (a.worth != b.worth) return a.worth > b.worth;
    return a.claimant != b.claimant ? a.claimant < b.claimant : a.place < b.place;
  });
  choices_.erase(tried, choices_.end());
}

// What the choice adds to the tardiness of the waiting jobs, the claimant and the victim, which
// waits behind those that are more urgent than it.
std::int64_t PreemptionPlanner::change_by(const decide::View& view, const Choice& choice) {
  const Place& place = places_[choice.place];
  const Claimant& claimant = claimants_[choice.claimant];
  trial_.copy_from(calendar_);
  const std::int64_t need = claimant.want.needs[place.size_index];
  trial_.replace(place.profile, place.free_after, need);
  std::int64_t sum = late(need, claimant.want.slack) - claimant.tardiness;
  if (claimant.place != kNone) {
    const Place& leaves = places_[claimant.place];
    trial_.replace(leaves.profile, leaves.free_after, 0);
  }
  const Want& victim = want_when_moved(view, choice.place);
  const auto due = [](const Want& want) {
    return std::max(want.slack, *std::ranges::min_element(want.needs));
  };
  bool victim_placed = false;
  for (std::size_t i = 0; i <= wants_.size(); ++i) {
    if (i == claimant.waiting) continue;
    if (!victim_placed && (i == wants_.size() || due(victim) < due(wants_[i]))) {
      sum += place_in(trial_, victim) - late(place.free_after, victim.slack);
      victim_placed = true;
    }
    if (i < wants_.size()) sum += place_in(trial_, wants_[i]) - tardiness_[i];
  }
  return sum;
}

std::optional<PreemptionPlanner::Displacement> PreemptionPlanner::best_displacement(
    const decide::View& view, std::span<const JobHandle> waiting) {
  wants_.clear();
  for (const JobHandle job : waiting) {
    wants_.push_back(want_of(view, job, view.jobs[job].running()));
  }
  if (!may_have_claimants(view)) return {};
  project(view);
  collect_claimants(view, waiting);
  if (claimants_.empty()) return {};
  collect_choices(view);
  std::optional<Displacement> best;
  std::int64_t least = -kMargin * view.preemption.cost.count;
  for (const Choice& choice : choices_) {
    const std::int64_t change = change_by(view, choice);
    if (change >= least) continue;
    least = change;
    const Claimant& claimant = claimants_[choice.claimant];
    best = Displacement{claimant.job, places_[choice.place].job, places_[choice.place].slice,
                        claimant.place == kNone ? SliceId{} : places_[claimant.place].slice};
  }
  return best;
}

}  // namespace partita::policies
