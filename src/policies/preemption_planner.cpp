#include "policies/preemption_planner.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "base/check.h"

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

std::int64_t round_up(double value) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(value)));
}

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
        job.time[i] < kNoTimeMicros ? restart.count + round_up(work * job.time[i]) : kNever;
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
  idle_profiles_ = 0;
  busy_.clear();
  for (const cluster::Gpu& gpu : view.cluster.gpus) busy_.push_back(gpu.busy_compute_slices);
  const std::int64_t run_min = kRunMin * view.preemption.cost.count;
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
      place.free_after = std::max<std::int64_t>(1, (job.finish - view.now).count);
      const std::int64_t progressed = (view.now - job.progress_from).count;
      if (job.resumable && progressed >= run_min) place.job = slice.job;
    }
    place_of_[i] = static_cast<std::uint32_t>(places_.size());
    places_.push_back(place);
  }
}

void PreemptionPlanner::set_idle(Place& place) {
  place.job = place.starter = JobHandle{};
  place.free_after = 0;
  place.idle = true;
  idle_profiles_ = static_cast<std::uint16_t>(idle_profiles_ | (1U << place.profile));
}

void PreemptionPlanner::started(const decide::View& view, JobHandle job, SliceId slice) {
  Place& place = places_[place_of_[slice.value]];
  const bool interrupted = view.jobs[job].running();
  if (place.idle) busy_[cluster::gpu_of(slice).value] += view.cluster.slice(slice).compute_slices;
  place.job = JobHandle{};
  place.starter = interrupted ? JobHandle{} : job;
  place.free_after = want_of(view, job, interrupted).needs[place.size_index];
  place.idle = false;
  const bool more = std::ranges::any_of(
      places_, [&](const Place& other) { return other.idle && other.profile == place.profile; });
  if (!more) idle_profiles_ = static_cast<std::uint16_t>(idle_profiles_ & ~(1U << place.profile));
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

std::optional<PreemptionPlanner::Upgrade> PreemptionPlanner::best_upgrade(
    const decide::View& view) const {
  std::optional<Upgrade> best;
  if (idle_profiles_ == 0) return best;
  const std::int64_t least_tardiness = kMargin * view.preemption.cost.count;
  const std::int64_t least_time = kEarlierMin * view.preemption.cost.count;
  std::int64_t most = 0;
  for (const Place& from : places_) {
    if (!from.job.valid()) continue;
    const std::int64_t slack = (view.jobs[from.job].deadline - view.now).count;
    const std::int64_t tardiness = late(from.free_after, slack);
    if (tardiness <= least_tardiness && from.free_after <= least_time) continue;
    const Want want = want_of(view, from.job, true);
    for (const Place& to : places_) {
      if (!to.idle || !fits(want.fits, to.profile)) continue;
      const std::int64_t need = want.needs[to.size_index];
      std::int64_t saved = tardiness - late(need, slack);
      if (saved <= least_tardiness) {
        saved = from.free_after - need;
        if (saved <= least_time || adds_energy(view, from, to, need)) continue;
      }
      if (saved <= most) continue;
      most = saved;
      best = Upgrade{from.job, to.slice};
    }
  }
  return best;
}

// Puts the job where it is done first, and gives its tardiness there.
std::int64_t PreemptionPlanner::place_in(Calendar& calendar, const Want& want) const {
  std::int64_t first = kNever;
  std::size_t profile_of_first = kProfilesMax;
  for (unsigned left = calendar.profiles & want.fits; left != 0; left &= left - 1) {
    const auto profile = static_cast<std::size_t>(std::countr_zero(left));
    const std::int64_t done = calendar.free[profile].front() + want.needs[size_of_[profile]];
    if (done >= first) continue;
    first = done;
    profile_of_first = profile;
  }
  if (profile_of_first == kProfilesMax) return 0;  // no slice for it, whatever is done
  std::vector<std::int64_t>& heap = calendar.free[profile_of_first];
  std::pop_heap(heap.begin(), heap.end(), std::greater<>());
  heap.back() = first;
  std::push_heap(heap.begin(), heap.end(), std::greater<>());
  return late(first, want.slack);
}

// A waiting job gains by displacing another only if it would be late when it waited for that one;
// most of the time none would, and the projection can be left out.
bool PreemptionPlanner::may_have_claimants(const decide::View& view) const {
  const std::int64_t least = kMargin * view.preemption.cost.count;
  const std::size_t claimants = std::min(wants_.size(), kClaimants);
  for (const Place& place : places_) {
    const bool starts = place.starter.valid();
    if (starts || place.job.valid()) {
      const JobHandle job = starts ? place.starter : place.job;
      if (late(place.free_after, (view.jobs[job].deadline - view.now).count) > least) return true;
    }
    if (!place.job.valid()) continue;
    for (std::size_t i = 0; i < claimants; ++i) {
      const Want& want = wants_[i];
      if (!fits(want.fits, place.profile)) continue;
      if (place.free_after + want.needs[place.size_index] > want.slack) return true;
    }
  }
  return false;
}

// The waiting jobs, in order, each where it is done first. Of many slices of a profile those that
// are free latest play no part.
void PreemptionPlanner::project(const decide::View& view) {
  constexpr std::size_t kSlicesMax = kProjected + 2;
  for (auto& heap : calendar_.free) heap.clear();
  calendar_.profiles = 0;
  for (const Place& place : places_) {
    calendar_.free[place.profile].push_back(place.free_after);
    calendar_.profiles = static_cast<std::uint16_t>(calendar_.profiles | (1U << place.profile));
  }
  for (auto& heap : calendar_.free) {
    if (heap.size() > kSlicesMax) {
      std::ranges::nth_element(heap, heap.begin() + kSlicesMax);
      heap.resize(kSlicesMax);
    }
    std::make_heap(heap.begin(), heap.end(), std::greater<>());
  }
  trial_ = calendar_;
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
    const bool starts = place.starter.valid();
    if (!starts && !place.job.valid()) continue;
    const JobHandle job = starts ? place.starter : place.job;
    const std::int64_t slack = (view.jobs[job].deadline - view.now).count;
    const std::int64_t tardiness = late(place.free_after, slack);
    if (tardiness <= kMargin * view.preemption.cost.count) continue;
    claimants_.push_back({job, {}, tardiness, kNone, i});
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
    claimant.want = want_of(view, claimant.job, !places_[claimant.place].starter.valid());
  }
}

const PreemptionPlanner::Want& PreemptionPlanner::victim_at(const decide::View& view,
                                                            std::size_t place) {
  std::optional<Want>& victim = victims_[place];
  if (!victim) victim = want_of(view, places_[place].job, true);
  return *victim;
}

// Tardiness added to the job of the place when another holds it: it goes on there afterwards, or at
// once on an idle slice or on the one that the other leaves.
std::int64_t PreemptionPlanner::loss_at(const decide::View& view, std::size_t at,
                                        const Claimant& by) {
  const Place& place = places_[at];
  const Want& victim = victim_at(view, at);
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
  victims_.assign(places_.size(), std::nullopt);
  for (std::size_t i = 0; i < claimants_.size(); ++i) {
    const Claimant& claimant = claimants_[i];
    const Want& want = claimant.want;
    for (std::size_t at = 0; at < places_.size(); ++at) {
      const Place& place = places_[at];
      if (!place.job.valid() || at == claimant.place || !fits(want.fits, place.profile)) continue;
      const std::int64_t need = want.needs[place.size_index];
      std::int64_t otherwise = claimant.tardiness;
      if (claimant.place == kNone) {
        otherwise = std::min(otherwise, late(place.free_after + need, want.slack));
      }
      const std::int64_t gain = otherwise - late(need, want.slack) - delay_of_others_;
      if (gain <= 0) continue;
      const std::int64_t worth = gain - loss_at(view, at, claimant);
      if (worth > 0) choices_.push_back({worth, i, at});
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
  trial_ = calendar_;
  const auto set = [&](const Place& of, std::int64_t free_after) {
    std::vector<std::int64_t>& heap = trial_.free[of.profile];
    const auto known = std::ranges::find(heap, of.free_after);
    if (known != heap.end()) {
      *known = free_after;
    } else {
      heap.push_back(free_after);
    }
    std::make_heap(heap.begin(), heap.end(), std::greater<>());
  };
  const std::int64_t need = claimant.want.needs[place.size_index];
  set(place, need);
  std::int64_t sum = late(need, claimant.want.slack) - claimant.tardiness;
  if (claimant.place != kNone) set(places_[claimant.place], 0);
  const Want& victim = victim_at(view, choice.place);
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
