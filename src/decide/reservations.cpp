#include "decide/reservations.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"

namespace partita::decide {
namespace {

using cluster::SliceState;

// How long a reservation whose time has come waits for jobs that outlive their estimates before it
// looks for a place that is free.
constexpr Micros kOverrunMax = Micros::seconds(1);

std::size_t size_index_of(const mig::GpuModel& model, mig::ProfileIndex profile) {
  return *workload::slice_size_index(model.profiles[profile].compute_slices);
}

// Of a job that waits, on a slice of the size.
Micros need_on(const ActiveJob& job, std::size_t size_index) {
  const double takes = std::max(1.0, std::ceil(job.work * job.time[size_index]));
  return job.restart + Micros{static_cast<std::int64_t>(takes)};
}

Micros least_need(const mig::GpuModel& model, const ActiveJob& job) {
  Micros least = Micros::max();
  for (unsigned left = job.fits; left != 0; left &= left - 1) {
    const auto profile = static_cast<mig::ProfileIndex>(std::countr_zero(left));
    least = std::min(least, need_on(job, size_index_of(model, profile)));
  }
  return least;
}

// A job that has outlived its estimate is believed to need as long again as it has run.
Micros expected_end(const ActiveJob& job, Micros now) {
  if (job.finish > now) return job.finish;
  return now + std::max(Micros{1}, now - job.progress_from);
}

// Profiles of the instances that exist, or will as things stand, and take jobs.
std::uint16_t offered_profiles(const cluster::ClusterState& cluster) {
  unsigned offered = 0;
  for (const cluster::Slice& slice : cluster.slices) {
    const bool there = slice.exists() || slice.state == SliceState::kCreating;
    if (there && !slice.closing) offered |= 1U << slice.profile;
  }
  return static_cast<std::uint16_t>(offered);
}

void close(cluster::ClusterState& cluster, SliceId slice) {
  if (cluster.slices[slice.value].exists()) cluster.slices[slice.value].closing = true;
}

bool has_move(std::span<const Move> moves, JobHandle job) {
  return std::ranges::find(moves, job, &Move::job) != moves.end();
}

}  // namespace

Reservations::Reservations(Micros after, FleetFacts facts, UsageBooks* books)
    : after_(after), facts_(std::move(facts)), books_(books) {
  CHECK(after >= Micros{} && facts_.aim != nullptr);
}

void Reservations::begin(const View& view) {
  entries_.clear();
  lanes_.clear();
  reservations_.clear();
  hidden_.clear();
  wanted_.assign(view.cluster.gpu_count(), {});
  changed_.assign(view.cluster.gpu_count(), 0);
  next_time_ = Micros::max();
  full_ = offered_version_ = kNeverFull;
}

// ---- what happens

Reservations::Entry& Reservations::entry(JobHandle job) {
  if (job.value >= entries_.size()) entries_.resize(std::size_t{job.value} * 2 + 16);
  return entries_[job.value];
}

Reservations::Lane& Reservations::lane_of(const View& view, JobHandle job) {
  const UsageBooks::Group group = books_ != nullptr ? books_->group_of(view, job) : 0;
  const std::uint16_t fits = view.jobs[job].fits;
  const auto found = std::ranges::find_if(
      lanes_, [&](const Lane& lane) { return lane.fits == fits && lane.group == group; });
  if (found != lanes_.end()) return *found;
  Lane& made = lanes_.emplace_back();
  made.group = group;
  made.fits = fits;
  return made;
}

void Reservations::waits(const View& view, JobHandle job) {
  leaves(job);
  const ActiveJob& active = view.jobs[job];
  Lane& lane = lane_of(view, job);
  Entry& its = entry(job);
  its.job = active.id;
  its.since = active.started ? view.now : active.arrival;
  its.lane = static_cast<std::uint32_t>(&lane - lanes_.data());
  list(job);
  lane.look_at = std::min(lane.look_at, due_early(view, job));
}

// Nearly always as the last.
void Reservations::list(JobHandle job) {
  Entry& its = entries_[job.value];
  Lane& lane = lanes_[its.lane];
  its.reserved = false;
  std::uint32_t after = lane.last;
  while (after != kNone && entries_[after].since > its.since) after = entries_[after].previous;
  its.previous = after;
  its.next = after == kNone ? lane.first : entries_[after].next;
  (its.previous == kNone ? lane.first : entries_[its.previous].next) = job.value;
  (its.next == kNone ? lane.last : entries_[its.next].previous) = job.value;
}

void Reservations::unlist(JobHandle job) {
  const Entry& its = entries_[job.value];
  Lane& lane = lanes_[its.lane];
  (its.previous == kNone ? lane.first : entries_[its.previous].next) = its.next;
  (its.next == kNone ? lane.last : entries_[its.next].previous) = its.previous;
}

void Reservations::leaves(JobHandle job) {
  Entry& its = entry(job);
  if (its.lane == kNone) return;
  if (its.reserved) {
    const auto found = std::ranges::find_if(
        reservations_, [&](const Reservation& each) { return each.handle == job && !each.runs; });
    CHECK(found != reservations_.end());
    changed_[found->gpu.value] = 1;
    reservations_.erase(found);
    ++version_;
  } else {
    unlist(job);
  }
  its = Entry{};
}

bool Reservations::hides(const View& view, JobHandle job) const {
  return std::ranges::any_of(hidden_, [&](const Hidden& each) {
    return each.handle == job && each.job == view.jobs[job].id;
  });
}

void Reservations::forget(JobHandle job) {
  std::erase_if(hidden_, [&](const Hidden& each) { return each.handle == job; });
}

const Reservation* Reservations::find(JobId job) const {
  const auto found = std::ranges::find(reservations_, job, &Reservation::job);
  return found == reservations_.end() ? nullptr : &*found;
}

// ---- who is due

Micros Reservations::due_early(const View& view, JobHandle job) const {
  const ActiveJob& active = view.jobs[job];
  const Micros since = entries_[job.value].since;
  const Micros spare = active.deadline - least_need(*view.cluster.model, active) - since;
  if (spare <= Micros{}) return since + after_;
  return since + std::min(after_, Micros{spare.count / 2});
}

std::size_t Reservations::limit(const View& view) const {
  const std::size_t gpus = view.cluster.gpu_count();
  return std::min(kReservationsMax, (gpus + kGpusPerReservation - 1) / kGpusPerReservation);
}

// A user above their share must not get by reservations what the order does not give them.
bool Reservations::may_reserve(const View& view, const Lane& lane) const {
  if (books_ == nullptr) return true;
  const UserIndex user = books_->owner(lane.group).user;
  if (books_->below_share(user, view.now)) return true;
  return std::ranges::none_of(lanes_, [&](const Lane& other) {
    return other.first != kNone && books_->owner(other.group).user != user;
  });
}

bool Reservations::goes_first(const View& view, JobHandle first, JobHandle second) const {
  const Entry& a = entries_[first.value];
  const Entry& b = entries_[second.value];
  if (books_ != nullptr) {
    const auto group_a = lanes_[a.lane].group;
    const auto group_b = lanes_[b.lane].group;
    if (books_->before(group_a, group_b, view.now)) return true;
    if (books_->before(group_b, group_a, view.now)) return false;
  }
  return a.since != b.since ? a.since < b.since : a.job < b.job;
}

// The job that has waited for longest, of those whose patience is over.
JobHandle Reservations::next_patient(const View& view) const {
  JobHandle best;
  for (const Lane& lane : lanes_) {
    if (lane.first == kNone || lane.no_place == version(view)) continue;
    if (entries_[lane.first].since + after_ > view.now || !may_reserve(view, lane)) continue;
    const JobHandle first{lane.first};
    if (!best.valid() || goes_first(view, first, best)) best = first;
  }
  return best;
}

// Of the jobs that no instance fits the one that has been due for longest.
JobHandle Reservations::next_early(const View& view) {
  JobHandle best;
  Micros best_due = Micros::max();
  for (Lane& lane : lanes_) {
    if (lane.first == kNone || lane.look_at > view.now) continue;
    if (offered_version_ != view.cluster.layout_version) {
      offered_version_ = view.cluster.layout_version;
      offered_ = offered_profiles(view.cluster);
    }
    if ((lane.fits & offered_) != 0) continue;
    if (lane.no_place == version(view) || !may_reserve(view, lane)) continue;
    lane.look_at = Micros::max();
    for (std::uint32_t at = lane.first; at != kNone; at = entries_[at].next) {
      const Micros due = due_early(view, JobHandle{at});
      lane.look_at = std::min(lane.look_at, due);
      if (due > view.now || due >= best_due) continue;
      best = JobHandle{at};
      best_due = due;
    }
  }
  return best;
}

void Reservations::find_next_time(const View& view) {
  next_time_ = Micros::max();
  if (reservations_.size() >= limit(view)) return;
  const auto wake = [&](Micros time) {
    if (time > view.now) next_time_ = std::min(next_time_, time);
  };
  for (const Lane& lane : lanes_) {
    if (lane.first == kNone) continue;
    wake(entries_[lane.first].since + after_);
    wake(lane.look_at);
  }
}

// ---- places

mig::Layout Reservations::awaited_on(const View& view, GpuId gpu) const {
  mig::Layout layout;
  for (const Reservation& each : reservations_) {
    const bool here = each.gpu == gpu && !each.runs;
    if (here && mig::fits(*view.cluster.model, layout, each.place)) layout.add(each.place);
  }
  return layout;
}

std::optional<Reservations::Found> Reservations::look_at(const View& view, const ActiveJob& job,
                                                         GpuId gpu, mig::Placement place,
                                                         const mig::Layout& others) const {
  const mig::GpuModel& model = *view.cluster.model;
  if (!mig::fits(model, others, place)) return {};
  mig::Layout stay = others;
  stay.add(place);
  Found found{gpu, place, view.now, {}, {}};
  double change_s = 0;
  bool there = false;
  for (const mig::Placement each : view.cluster.gpus[gpu.value].layout.instances()) {
    const cluster::Slice& slice = view.cluster.slice(cluster::slice_id(gpu, each.start));
    const bool same = each == place;
    there = there || same;
    if (!same && mig::fits(model, stay, each)) {
      stay.add(each);
      continue;
    }
    if (!same) change_s += model.change_seconds[each.profile].destroy;
    if (slice.state != SliceState::kBusy) continue;
    const ActiveJob& on = view.jobs[slice.job];
    if (on.endless()) return {};
    found.drained = std::max(found.drained, expected_end(on, view.now));
    ++found.busy;
  }
  if (!there) change_s += model.change_seconds[place.profile].create;
  found.start = found.drained + micros_from_seconds(change_s);
  found.end = found.start + need_on(job, size_index_of(model, place.profile));
  return found;
}

std::optional<Reservations::Found> Reservations::find_place(const View& view, JobHandle job,
                                                            bool beside_others) const {
  const mig::GpuModel& model = *view.cluster.model;
  const ActiveJob& active = view.jobs[job];
  std::optional<Found> best;
  for (std::uint32_t i = 0; i < view.cluster.gpu_count(); ++i) {
    const GpuId gpu{i};
    if (!usable(gpu)) continue;
    const mig::Layout others = beside_others ? awaited_on(view, gpu) : mig::Layout{};
    for (unsigned left = active.fits; left != 0; left &= left - 1) {
      const auto profile = static_cast<mig::ProfileIndex>(std::countr_zero(left));
      for (const std::uint8_t start : model.profiles[profile].starts) {
        const auto found = look_at(view, active, gpu, {profile, start}, others);
        if (!found) continue;
        const bool better = !best || found->end < best->end ||
                            (found->end == best->end && found->busy < best->busy);
        if (better) best = found;
      }
    }
  }
  return best;
}

Reservations::Starts Reservations::in_the_way(const View& view, const Reservation& each) const {
  const mig::GpuModel& model = *view.cluster.model;
  mig::Layout stay;
  stay.add(each.place);
  unsigned starts = 0;
  for (const mig::Placement other : view.cluster.gpus[each.gpu.value].layout.instances()) {
    if (other == each.place) continue;
    if (mig::fits(model, stay, other)) {
      stay.add(other);
    } else {
      starts |= 1U << other.start;
    }
  }
  return static_cast<Starts>(starts);
}

// What the repartitioner wants, as far as it leaves reserved places alone. Until a place is cut the
// instances in its way stay as they are, and none is made there.
mig::Layout Reservations::layout_for(const View& view, GpuId gpu) const {
  const mig::GpuModel& model = *view.cluster.model;
  mig::Layout layout;
  mig::Layout places;
  const auto add = [&](mig::Placement each) {
    if (mig::fits(model, layout, each)) layout.add(each);
  };
  for (const Reservation& each : reservations_) {
    if (each.gpu != gpu) continue;
    if (mig::fits(model, places, each.place)) places.add(each.place);
    if (each.cut) add(each.place);
  }
  for (const Reservation& each : reservations_) {
    if (each.gpu != gpu || each.cut) continue;
    const Starts starts = in_the_way(view, each);
    for (const mig::Placement other : view.cluster.gpus[gpu.value].layout.instances()) {
      const cluster::Slice& slice = view.cluster.slice(cluster::slice_id(gpu, other.start));
      if ((starts >> other.start & 1U) != 0 && !slice.closing) add(other);
    }
  }
  for (const mig::Placement each : wanted_[gpu.value]->instances()) {
    if (places.contains(each) || mig::fits(model, places, each)) add(each);
  }
  return layout;
}

void Reservations::adapt(const View& view, LayoutRequest& request) {
  const bool here = std::ranges::any_of(
      reservations_, [&](const Reservation& each) { return each.gpu == request.gpu; });
  if (!here) {
    // Whatever was to be restored there is out of date.
    wanted_[request.gpu.value].reset();
    changed_[request.gpu.value] = 0;
    return;
  }
  wanted_[request.gpu.value] = request.layout;
  request.layout = layout_for(view, request.gpu);
}

// ---- planning

void Reservations::reserve(const View& view, JobHandle job, const Found& found) {
  unlist(job);
  Entry& its = entries_[job.value];
  its.reserved = true;
  const bool there = view.cluster.gpus[found.gpu.value].layout.contains(found.place);
  reservations_.push_back({.handle = job,
                           .job = its.job,
                           .gpu = found.gpu,
                           .place = found.place,
                           .made = view.now,
                           .drained = found.drained,
                           .start = found.start,
                           .cut = there});
  auto& wanted = wanted_[found.gpu.value];
  if (!wanted) wanted = facts_.aim(found.gpu);
  changed_[found.gpu.value] = 1;
  ++version_;
  ++made_;
}

// Those whose patience is over go first, in the order in which they wait: else jobs with near
// deadlines could keep the oldest waiting. True when one was made.
bool Reservations::reserve_next(const View& view) {
  while (true) {
    JobHandle job = next_patient(view);
    if (!job.valid()) job = next_early(view);
    if (!job.valid()) return false;
    if (const auto found = find_place(view, job, true)) {
      reserve(view, job, *found);
      return true;
    }
    if (find_place(view, job, false)) {
      // The next place that becomes free is for this job, so nobody younger gets one meanwhile.
      full_ = version(view);
      return false;
    }
    lanes_[entries_[job.value].lane].no_place = version(view);
  }
}

bool Reservations::stands(const View& view, const Reservation& each) const {
  const bool present = view.jobs.present(each.handle) && view.jobs[each.handle].id == each.job;
  if (each.runs) return present && view.jobs[each.handle].running();
  if (!present || !usable(each.gpu)) return false;
  Starts starts = in_the_way(view, each);
  starts = static_cast<Starts>(starts | (1U << each.place.start));
  for (unsigned left = starts; left != 0; left &= left - 1) {
    const auto start = static_cast<std::uint8_t>(std::countr_zero(left));
    const cluster::Slice& slice = view.cluster.slice(cluster::slice_id(each.gpu, start));
    if (slice.state == SliceState::kBusy && view.jobs[slice.job].endless()) return false;
  }
  return true;
}

void Reservations::drop_over(const View& view) {
  std::erase_if(hidden_, [&](const Hidden& each) {
    const bool present = view.jobs.present(each.handle) && view.jobs[each.handle].id == each.job;
    return !present || !view.jobs[each.handle].running();
  });
  for (std::size_t i = 0; i < reservations_.size();) {
    const Reservation each = reservations_[i];
    if (stands(view, each)) {
      ++i;
      continue;
    }
    changed_[each.gpu.value] = 1;
    reservations_.erase(reservations_.begin() + static_cast<std::ptrdiff_t>(i));
    ++version_;
    const Entry& its = entries_[each.handle.value];
    const bool still_waits = !each.runs && its.job == each.job && its.reserved;
    if (still_waits) list(each.handle);
  }
}

void Reservations::look_elsewhere(const View& view, Reservation& late) {
  const auto found = find_place(view, late.handle, true);
  if (!found || found->busy > 0) return;
  changed_[late.gpu.value] = changed_[found->gpu.value] = 1;
  auto& wanted = wanted_[found->gpu.value];
  if (!wanted) wanted = facts_.aim(found->gpu);
  late.gpu = found->gpu;
  late.place = found->place;
  late.drained = found->drained;
  late.start = found->start;
  late.cut = true;
  ++version_;
}

void Reservations::make_way(const View& view, Reservation& each) {
  const Starts starts = in_the_way(view, each);
  bool busy = false;
  for (unsigned left = starts; left != 0; left &= left - 1) {
    const auto start = static_cast<std::uint8_t>(std::countr_zero(left));
    busy =
        busy || view.cluster.slice(cluster::slice_id(each.gpu, start)).state == SliceState::kBusy;
  }
  if (!busy && !each.cut) {
    each.cut = true;
    changed_[each.gpu.value] = 1;
  }
  const auto& own = view.cluster.slice(cluster::slice_id(each.gpu, each.place.start));
  busy = busy || own.state == SliceState::kBusy;
  if (busy && view.now > each.drained + kOverrunMax) look_elsewhere(view, each);
}

void Reservations::plan(const View& view, std::vector<LayoutRequest>& requests) {
  if (restricts()) drop_over(view);
  while (full_ != version(view) && reservations_.size() < limit(view) && reserve_next(view)) {
  }
  for (Reservation& each : reservations_) {
    if (!each.runs) make_way(view, each);
  }
  for (std::uint32_t i = 0; i < changed_.size(); ++i) {
    if (changed_[i] == 0) continue;
    changed_[i] = 0;
    if (!wanted_[i]) continue;
    requests.push_back({GpuId{i}, layout_for(view, GpuId{i})});
    const bool free = std::ranges::none_of(
        reservations_, [&](const Reservation& each) { return each.gpu.value == i; });
    if (free) wanted_[i].reset();
  }
}

// ---- one decision

void Reservations::start_ready(const View& view, std::vector<Move>& moves) {
  for (Reservation& each : reservations_) {
    const SliceId place = cluster::slice_id(each.gpu, each.place.start);
    const cluster::Slice& slice = view.cluster.slice(place);
    if (each.runs || !slice.open() || slice.profile != each.place.profile) continue;
    moves.push_back({each.handle, place});
    hidden_.push_back({each.handle, each.job});
    each.runs = true;
    entries_[each.handle.value] = Entry{};
    ++version_;
  }
}

const cluster::ClusterState& Reservations::shown(const View& view, std::span<const Move> moves) {
  shown_ = view.cluster;
  for (const Reservation& each : reservations_) {
    close(*shown_, cluster::slice_id(each.gpu, each.place.start));
    if (each.runs) continue;
    for (unsigned left = in_the_way(view, each); left != 0; left &= left - 1) {
      const auto start = static_cast<std::uint8_t>(std::countr_zero(left));
      close(*shown_, cluster::slice_id(each.gpu, start));
    }
  }
  for (const Hidden& each : hidden_) {
    const SliceId slice = view.jobs[each.handle].slice;
    if (slice.valid()) close(*shown_, slice);
  }
  for (const Move& move : moves) close(*shown_, move.to);
  return *shown_;
}

void Reservations::list_gaps(const View& view, std::span<const Move> moves) {
  gaps_.clear();
  for (const Reservation& each : reservations_) {
    if (each.cut || each.drained <= view.now) continue;
    for (unsigned left = in_the_way(view, each); left != 0; left &= left - 1) {
      const auto start = static_cast<std::uint8_t>(std::countr_zero(left));
      const SliceId slice = cluster::slice_id(each.gpu, start);
      if (!view.cluster.slice(slice).open()) continue;
      if (std::ranges::find(moves, slice, &Move::to) != moves.end()) continue;
      const auto known = std::ranges::find(gaps_, slice, &Gap::slice);
      if (known == gaps_.end()) {
        gaps_.push_back({slice, each.drained});
      } else {
        known->until = std::min(known->until, each.drained);
      }
    }
  }
}

// The smallest instance on which the job ends in time; not valid when there is none.
SliceId Reservations::fill_gap(const View& view, const ActiveJob& job) {
  auto best = gaps_.end();
  for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
    const cluster::Slice& slice = view.cluster.slice(gap->slice);
    if ((job.fits >> slice.profile & 1U) == 0) continue;
    if (view.now + need_on(job, slice.size_index) > gap->until) continue;
    const bool smaller = best == gaps_.end() ||
                         slice.compute_slices < view.cluster.slice(best->slice).compute_slices;
    if (smaller) best = gap;
  }
  if (best == gaps_.end()) return {};
  const SliceId slice = best->slice;
  gaps_.erase(best);
  return slice;
}

void Reservations::backfill(const View& view, std::vector<Move>& moves) {
  list_gaps(view, moves);
  if (gaps_.empty()) return;
  std::vector<std::uint32_t> at(lanes_.size());
  for (std::size_t i = 0; i < lanes_.size(); ++i) at[i] = lanes_[i].first;
  for (std::size_t looks = 0; looks < kBackfillLooksMax && !gaps_.empty(); ++looks) {
    std::size_t first = lanes_.size();
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (at[i] == kNone) continue;
      const bool better =
          first == lanes_.size() || goes_first(view, JobHandle{at[i]}, JobHandle{at[first]});
      if (better) first = i;
    }
    if (first == lanes_.size()) return;
    const JobHandle job{at[first]};
    at[first] = entries_[job.value].next;
    if (has_move(moves, job)) continue;
    const SliceId slice = fill_gap(view, view.jobs[job]);
    if (!slice.valid()) continue;
    moves.push_back({job, slice});
    hidden_.push_back({job, view.jobs[job].id});
    ++backfilled_;
  }
}

void Reservations::decided(const View& view, std::span<const Move> moves) {
  for (const Move& move : moves) {
    if (move.to.valid()) {
      leaves(move.job);
    } else {
      waits(view, move.job);
    }
  }
  find_next_time(view);
}

}  // namespace partita::decide
