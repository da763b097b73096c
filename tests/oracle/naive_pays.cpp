#include "oracle/naive_pays.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "base/check.h"
#include "oracle/naive_round.h"

namespace partita::oracle {
namespace {

constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max() / 8;
constexpr std::size_t kProjectedMax = 40;
constexpr std::size_t kClaimantsMax = 20;
constexpr std::size_t kTrialsMax = 8;
constexpr int kDisplacementsMax = 4;

// An instance that exists and does not close, by number of GPU and of its instances.
struct Place {
  std::size_t gpu = 0;
  std::size_t instance = 0;

  auto operator<=>(const Place&) const = default;
};

struct Claimant {
  std::size_t job = 0;
  std::int64_t tardiness = 0;
  std::optional<Place> place;  // where it runs or starts; none for one that waits
};

struct Choice {
  std::size_t claimant = 0;  // its number in the list of claimants
  Place place;               // of the victim
  std::int64_t worth = 0;
};

// When one instance of a profile is free, in a projection.
struct Slot {
  mig::ProfileIndex profile = 0;
  std::int64_t free_after = 0;
};

// All times are microseconds from now on.
class Decision {
 public:
  Decision(const Setup& setup, Micros now, const std::vector<Waiting>& present,
           const std::vector<JobState>& states, const std::vector<Gpu>& gpus, Rng& rng)
      : setup_(setup),
        now_(now),
        cost_(setup.interruption_cost.count),
        present_(present),
        states_(states),
        gpus_(gpus),
        rng_(rng),
        moved_(states.size(), false),
        displaced_(states.size(), false),
        has_displaced_(states.size(), false) {}

  PaidMoves moves();

 private:
  const mig::GpuModel& model() const { return *setup_.model; }
  Instance& at(Place place) { return gpus_[place.gpu].instances[place.instance]; }
  const Instance& at(Place place) const { return gpus_[place.gpu].instances[place.instance]; }
  mig::ProfileIndex profile_at(Place place) const { return at(place).placement.profile; }
  int size_of(mig::ProfileIndex profile) const { return model().profiles[profile].compute_slices; }
  int size_at(Place place) const { return size_of(profile_at(place)); }

  const Waiting& facts_of(std::size_t job) const;
  Waiting as_it_waits(std::size_t job) const;
  bool fits(std::size_t job, Place place) const {
    return can_run(model(), facts_of(job), profile_at(place));
  }
  std::vector<Place> places() const;
  std::vector<Place> idle_places() const;
  std::vector<Waiting> waiting() const;
  std::int64_t need(std::size_t job, int size) const;
  std::int64_t least_need(std::size_t job) const;
  std::int64_t slack(std::size_t job) const { return (facts_of(job).deadline - now_).count; }
  std::int64_t tardiness(std::size_t job, std::int64_t done_after) const {
    return std::max<std::int64_t>(0, done_after - slack(job));
  }
  std::int64_t free_after(Place place) const;
  bool ran(std::size_t job) const { return states_[job].running; }
  bool movable(std::size_t job) const;

  void fill();
  bool upgrade();
  std::optional<std::int64_t> saved_by_move(Place from, Place to) const;
  bool adds_energy(Place from, Place to) const;

  std::vector<std::size_t> first_waiting() const;
  std::vector<Slot> slots() const;
  std::int64_t project_one(std::vector<Slot>& slots, std::size_t job) const;
  std::vector<std::int64_t> project(std::vector<Slot> slots,
                                    const std::vector<std::size_t>& jobs) const;
  std::vector<Claimant> claimants(const std::vector<std::size_t>& jobs,
                                  const std::vector<std::int64_t>& late) const;
  std::vector<Choice> choices(const std::vector<Claimant>& claimants, std::int64_t others) const;
  std::int64_t loss(const Claimant& claimant, Place place) const;
  std::int64_t change(const Claimant& claimant, Place place, const std::vector<std::size_t>& jobs,
                      const std::vector<std::int64_t>& late) const;
  bool displace();
  void carry_out(const Claimant& claimant, Place place);

  const Setup& setup_;
  Micros now_;
  std::int64_t cost_;
  const std::vector<Waiting>& present_;
  const std::vector<JobState>& states_;
  std::vector<Gpu> gpus_;  // with what this decision has done so far
  Rng& rng_;
  std::vector<bool> moved_;          // ran, and was upgraded or displaced or displaced another
  std::vector<bool> displaced_;      // ran, and lost its instance to another
  std::vector<bool> has_displaced_;  // took the instance of another
};

const Waiting& Decision::facts_of(std::size_t job) const {
  return *std::ranges::find(present_, job, &Waiting::job);
}

// The job as it will be once it has been stopped, if it ran.
Waiting Decision::as_it_waits(std::size_t job) const {
  Waiting waiting = facts_of(job);
  if (!ran(job)) return waiting;
  waiting.restart = std::max(waiting.restart, setup_.interruption_cost);
  waiting.finish.reset();
  return waiting;
}

std::vector<Place> Decision::places() const {
  std::vector<Place> all;
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    for (std::size_t i = 0; i < gpus_[gpu].instances.size(); ++i) {
      const Instance& instance = gpus_[gpu].instances[i];
      if (instance.phase == Phase::kReady && !instance.closing) all.push_back({gpu, i});
    }
  }
  return all;
}

std::vector<Place> Decision::idle_places() const {
  std::vector<Place> idle = places();
  std::erase_if(idle, [&](Place place) { return at(place).job != kNobody; });
  return idle;
}

std::vector<Waiting> Decision::waiting() const {
  std::vector<Waiting> jobs;
  for (const Waiting& job : present_) {
    const bool holds_one = std::ranges::any_of(gpus_, [&](const Gpu& gpu) {
      return std::ranges::find(gpu.instances, job.job, &Instance::job) != gpu.instances.end();
    });
    if (!holds_one) jobs.push_back(as_it_waits(job.job));
  }
  return jobs;
}

std::int64_t Decision::need(std::size_t job, int size) const {
  const Waiting waits = as_it_waits(job);
  const double time = whole_time(*waits.facts, size);
  if (!std::isfinite(time)) return kEndless;
  return waits.restart.count +
         static_cast<std::int64_t>(std::max(1.0, std::ceil(waits.work * time)));
}

std::int64_t Decision::least_need(std::size_t job) const {
  std::int64_t least = kEndless;
  for (const int size : workload::kSliceSizes) least = std::min(least, need(job, size));
  return least;
}

std::int64_t Decision::free_after(Place place) const {
  const std::size_t job = at(place).job;
  if (job == kNobody) return 0;
  if (!ran(job) || moved_[job]) return need(job, size_at(place));
  return std::max<std::int64_t>(1, (states_[job].finish - now_).count);
}

bool Decision::movable(std::size_t job) const {
  return job != kNobody && ran(job) && !moved_[job] && facts_of(job).facts->resumable &&
         (now_ - states_[job].progress_from).count >= 3 * cost_;
}

// As without preemption.
void Decision::fill() {
  for (const Seat& seat : fill_idle(setup_, gpus_, waiting(), now_, rng_)) {
    for (Instance& instance : gpus_[seat.gpu].instances) {
      if (instance.placement == seat.placement) instance.job = seat.job;
    }
  }
}

bool Decision::adds_energy(Place from, Place to) const {
  const std::vector<double>& watts = setup_.watts;
  const auto size1 = static_cast<std::size_t>(size_at(from));
  const auto size2 = static_cast<std::size_t>(size_at(to));
  const auto busy1 = static_cast<std::size_t>(busy_compute(model(), gpus_[from.gpu]));
  auto busy2 = static_cast<std::size_t>(busy_compute(model(), gpus_[to.gpu]));
  if (from.gpu == to.gpu) busy2 -= size1;
  const auto here = static_cast<double>(free_after(from));
  const auto there = static_cast<double>(need(at(from).job, size_at(to)));
  const bool as_it_is =
      (watts[busy2 + size2] - watts[busy2]) * there > (watts[busy1] - watts[busy1 - size1]) * here;
  const bool alone = (watts[size2] - watts[0]) * there > (watts[size1] - watts[0]) * here;
  return as_it_is || alone;
}

std::optional<std::int64_t> Decision::saved_by_move(Place from, Place to) const {
  const std::size_t job = at(from).job;
  if (!fits(job, to)) return {};
  const std::int64_t here = free_after(from);
  const std::int64_t there = need(job, size_at(to));
  const std::int64_t falls_by = tardiness(job, here) - tardiness(job, there);
  if (falls_by > 2 * cost_) return falls_by;
  if (here - there > 30 * cost_ && !adds_energy(from, to)) return here - there;
  return {};
}

// The move to an idle instance that saves most.
bool Decision::upgrade() {
  std::optional<std::pair<Place, Place>> best;
  std::int64_t most = 0;
  for (const Place from : places()) {
    if (!movable(at(from).job)) continue;
    for (const Place to : idle_places()) {
      const auto saved = saved_by_move(from, to);
      if (!saved || (best && *saved <= most)) continue;
      most = *saved;
      best = {from, to};
    }
  }
  if (!best) return false;
  const std::size_t job = at(best->first).job;
  at(best->first).job = kNobody;
  at(best->second).job = job;
  moved_[job] = true;
  return true;
}

// Of the waiting jobs that fit an instance, in order as if every instance could be had.
std::vector<std::size_t> Decision::first_waiting() const {
  const std::vector<Waiting> all = waiting();
  const Round round{now_, mean_remaining(all), free_slices(setup_, gpus_, false)};
  std::vector<std::size_t> first;
  const std::vector<Place> usable = places();
  for (const Waiting& job : in_order(setup_, all, round)) {
    const bool somewhere =
        std::ranges::any_of(usable, [&](Place place) { return fits(job.job, place); });
    if (somewhere && first.size() < kProjectedMax) first.push_back(job.job);
  }
  return first;
}

std::vector<Slot> Decision::slots() const {
  std::vector<Slot> slots;
  for (const Place place : places()) slots.push_back({profile_at(place), free_after(place)});
  return slots;
}

// Puts the job where it is done first and gives its tardiness there.
std::int64_t Decision::project_one(std::vector<Slot>& slots, std::size_t job) const {
  Slot* best = nullptr;
  std::int64_t first_done = kEndless;
  for (Slot& slot : slots) {
    if (!can_run(model(), facts_of(job), slot.profile)) continue;
    const std::int64_t done = slot.free_after + need(job, size_of(slot.profile));
    if (best != nullptr && std::tie(done, slot.profile) >= std::tie(first_done, best->profile)) {
      continue;
    }
    best = &slot;
    first_done = done;
  }
  CHECK(best != nullptr);
  best->free_after = first_done;
  return tardiness(job, first_done);
}

std::vector<std::int64_t> Decision::project(std::vector<Slot> slots,
                                            const std::vector<std::size_t>& jobs) const {
  std::vector<std::int64_t> late;
  for (const std::size_t job : jobs) late.push_back(project_one(slots, job));
  return late;
}

std::vector<Claimant> Decision::claimants(const std::vector<std::size_t>& jobs,
                                          const std::vector<std::int64_t>& late) const {
  std::vector<Claimant> all;
  for (std::size_t i = 0; i < jobs.size() && i < kClaimantsMax; ++i) {
    if (late[i] > 0 && !displaced_[jobs[i]]) all.push_back({jobs[i], late[i], {}});
  }
  std::vector<Claimant> placed;
  for (const Place place : places()) {
    const std::size_t job = at(place).job;
    if (job == kNobody) continue;
    const bool starts = !ran(job) && !has_displaced_[job];
    if (!starts && !movable(job)) continue;
    const std::int64_t here = tardiness(job, free_after(place));
    if (here > 2 * cost_) placed.push_back({job, here, place});
  }
  std::ranges::stable_sort(placed, std::ranges::greater(), &Claimant::tardiness);
  if (placed.size() > kClaimantsMax) placed.resize(kClaimantsMax);
  std::ranges::sort(placed, {}, [](const Claimant& each) { return *each.place; });
  all.insert(all.end(), placed.begin(), placed.end());
  return all;
}

// What the victim there would be later by.
std::int64_t Decision::loss(const Claimant& claimant, Place place) const {
  const std::size_t victim = at(place).job;
  const int size = size_at(place);
  std::int64_t done = need(claimant.job, size) + need(victim, size);
  std::vector<Place> others = idle_places();
  if (claimant.place) others.push_back(*claimant.place);
  for (const Place other : others) {
    if (fits(victim, other)) done = std::min(done, need(victim, size_at(other)));
  }
  return tardiness(victim, done) - tardiness(victim, free_after(place));
}

std::vector<Choice> Decision::choices(const std::vector<Claimant>& claimants,
                                      std::int64_t others) const {
  std::vector<Choice> all;
  for (std::size_t i = 0; i < claimants.size(); ++i) {
    const Claimant& claimant = claimants[i];
    for (const Place place : places()) {
      const std::size_t victim = at(place).job;
      if (victim == claimant.job || !movable(victim) || !fits(claimant.job, place)) continue;
      const std::int64_t here = need(claimant.job, size_at(place));
      std::int64_t otherwise = claimant.tardiness;
      if (!claimant.place) {
        otherwise = std::min(otherwise, tardiness(claimant.job, free_after(place) + here));
      }
      const std::int64_t gain = otherwise - tardiness(claimant.job, here) - others;
      const std::int64_t worth = gain - loss(claimant, place);
      if (gain > 0 && worth > 0) all.push_back({i, place, worth});
    }
  }
  // Claimants and places stand in their order.
  std::ranges::stable_sort(all, std::ranges::greater(), &Choice::worth);
  if (all.size() > kTrialsMax) all.resize(kTrialsMax);
  return all;
}

// Of the tardiness of all who are concerned, if the choice is made.
std::int64_t Decision::change(const Claimant& claimant, Place place,
                              const std::vector<std::size_t>& jobs,
                              const std::vector<std::int64_t>& late) const {
  const std::size_t victim = at(place).job;
  std::int64_t before = tardiness(victim, free_after(place));
  if (claimant.place) before += claimant.tardiness;
  for (const std::int64_t each : late) before += each;

  std::vector<Slot> slots;
  for (const Place other : places()) {
    std::int64_t free = free_after(other);
    if (other == place) free = need(claimant.job, size_at(place));
    if (other == claimant.place) free = 0;
    slots.push_back({profile_at(other), free});
  }
  std::vector<std::size_t> queue = jobs;
  std::erase(queue, claimant.job);
  const auto urgency = [&](std::size_t job) { return std::max(slack(job), least_need(job)); };
  const auto behind =
      std::ranges::find_if(queue, [&](std::size_t job) { return urgency(job) > urgency(victim); });
  queue.insert(behind, victim);
  std::int64_t after = tardiness(claimant.job, need(claimant.job, size_at(place)));
  for (const std::int64_t each : project(slots, queue)) after += each;
  return after - before;
}

// The claimant takes the instance; the victim goes to an idle one or waits.
void Decision::carry_out(const Claimant& claimant, Place place) {
  const std::size_t victim = at(place).job;
  if (claimant.place) at(*claimant.place).job = kNobody;
  at(place).job = claimant.job;
  moved_[claimant.job] = true;
  has_displaced_[claimant.job] = true;
  moved_[victim] = true;
  displaced_[victim] = true;
  const std::vector<Free> idle = free_slices(setup_, gpus_, true);
  const auto seat = pick(setup_, as_it_waits(victim), now_, idle, rng_);
  if (seat) {
    for (Instance& instance : gpus_[idle[*seat].gpu].instances) {
      if (instance.placement == idle[*seat].placement) instance.job = victim;
    }
  }
  fill();
}

bool Decision::displace() {
  const std::vector<std::size_t> jobs = first_waiting();
  const std::vector<std::int64_t> late = project(slots(), jobs);
  const auto count = std::ranges::count_if(late, [](std::int64_t each) { return each > 0; });
  const auto instances = static_cast<std::int64_t>(places().size());
  if (instances == 0) return false;
  const std::vector<Claimant> all = claimants(jobs, late);
  std::optional<Choice> best;
  std::int64_t least = -2 * cost_;
  for (const Choice& choice : choices(all, cost_ * count / instances)) {
    const std::int64_t by = change(all[choice.claimant], choice.place, jobs, late);
    if (by >= least) continue;
    least = by;
    best = choice;
  }
  if (best) carry_out(all[best->claimant], best->place);
  return best.has_value();
}

PaidMoves Decision::moves() {
  fill();
  bool any = false;
  while (upgrade()) any = true;
  if (any) fill();
  for (int i = 0; i < kDisplacementsMax && displace(); ++i) continue;

  PaidMoves moves;
  for (const Waiting& job : present_) {
    if (moved_[job.job] && ran(job.job)) moves.stops.push_back(job.job);
  }
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    for (const Instance& instance : gpus_[gpu].instances) {
      if (instance.job == kNobody || (ran(instance.job) && !moved_[instance.job])) continue;
      moves.starts.push_back({instance.job, gpu, instance.placement});
    }
  }
  return moves;
}

}  // namespace

PaidMoves paying_moves(const Setup& setup, Micros now, const std::vector<Waiting>& present,
                       const std::vector<JobState>& states, const std::vector<Gpu>& gpus,
                       Rng& rng) {
  return Decision(setup, now, present, states, gpus, rng).moves();
}

}  // namespace partita::oracle
