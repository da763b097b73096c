#include "decide/reservations.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"

namespace partita::decide {
namespace {

// How soon a user above their share is looked at again although nothing happened.
constexpr Micros kShareLookInterval = Micros::seconds(60);

using cluster::SliceState;

// How long a reservation whose time has come waits for jobs that outlive their estimates before it
// looks for a place that is free.
constexpr Micros kOverrunMax = Micros::seconds(1);
// And for an instance to be made, which takes a second or two where nothing fails.
constexpr Micros kMakingMax = Micros::seconds(60);

// Profiles of the instances that exist, or will as things stand, and take jobs.
std::uint16_t offered_profiles(const cluster::ClusterState& cluster) {
  unsigned offered = 0;
  for (const cluster::Slice& slice : cluster.slices) {
    const bool there = slice.exists() || slice.state == SliceState::kCreating;
    if (there && !slice.closing) offered |= 1U << slice.profile;
  }
  return static_cast<std::uint16_t>(offered);
}

std::size_t limit_of(const View& view) {
  constexpr std::size_t kGpus = Reservations::kGpusPerReservation;
  return std::min(Reservations::kReservationsMax, (view.cluster.gpu_count() + kGpus - 1) / kGpus);
}

void close(cluster::ClusterState& cluster, SliceId slice) {
  if (cluster.slices[slice.value].exists()) cluster.slices[slice.value].closing = true;
}

bool pays(const View& view) {
  return view.preemption.mode == Preemption::Mode::kPays;
}

bool has_move(std::span<const Move> moves, JobHandle job) {
  return std::ranges::find(moves, job, &Move::job) != moves.end();
}

}  // namespace

Reservations::Reservations(Micros after, FleetFacts facts, UsageBooks* books)
    : after_(after), facts_(std::move(facts)), waiting_(books) {
  CHECK(after >= Micros{} && facts_.aim != nullptr);
}

void Reservations::begin(const View& view) {
  waiting_.clear();
  reservations_.clear();
  hidden_.clear();
  wanted_.assign(view.cluster.gpu_count(), {});
  changed_.assign(view.cluster.gpu_count(), 0);
  next_time_ = Micros::max();
  full_ = offered_version_ = WaitingLanes::kNever;
}

// ---- what happens

void Reservations::waits(const View& view, JobHandle job) {
  leaves(job);
  WaitingLanes::Lane& lane = waiting_.add(view, job);
  lane.look_at = std::min(lane.look_at, due_early(view, job));
}

void Reservations::leaves(JobHandle job) {
  if (waiting_.is_aside(job)) {
    const auto found = std::ranges::find_if(
        reservations_, [&](const Reservation& each) { return each.handle == job && !each.runs; });
    CHECK(found != reservations_.end());
    changed_[found->gpu.value] = 1;
    reservations_.erase(found);
    ++version_;
  }
  waiting_.remove(job);
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
  const Micros since = waiting_.since(job);
  const Micros left = active.deadline - since;
  const Micros spare = left - least_need(*view.cluster.model, active);
  if (left <= Micros{}) return since + after_;
  // Too late by its estimate, which may be wrong, or nobody's: live jobs need not say how long they
  // take.
  const Micros over = spare > Micros{} ? spare : left;
  return since + std::min(after_, Micros{over.count / 2});
}

// The job that has waited for longest, of those whose patience is over.
JobHandle Reservations::next_patient(const View& view) const {
  JobHandle best;
  for (const WaitingLanes::Lane& lane : waiting_.lanes()) {
    if (lane.first == WaitingLanes::kNone || lane.no_place == version(view)) continue;
    const JobHandle first{lane.first};
    if (waiting_.since(first) + after_ > view.now || !waiting_.may_go(lane, view.now)) continue;
    if (!best.valid() || waiting_.goes_first(first, best, view.now)) best = first;
  }
  return best;
}

// Of the jobs that no instance fits the one that has been due for longest.
JobHandle Reservations::next_early(const View& view) {
  JobHandle best;
  Micros best_due = Micros::max();
  for (WaitingLanes::Lane& lane : waiting_.lanes()) {
    if (lane.first == WaitingLanes::kNone || lane.look_at > view.now) continue;
    if (offered_version_ != view.cluster.layout_version) {
      offered_version_ = view.cluster.layout_version;
      offered_ = offered_profiles(view.cluster);
    }
    if ((lane.fits & offered_) != 0) continue;
    if (lane.no_place == version(view) || !waiting_.may_go(lane, view.now)) continue;
    lane.look_at = Micros::max();
    for (std::uint32_t at = lane.first; at != WaitingLanes::kNone;
         at = waiting_.next(JobHandle{at})) {
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
  if (reservations_.size() >= limit_of(view)) return;
  const auto wake = [&](Micros time) {
    if (time > view.now) next_time_ = std::min(next_time_, time);
  };
  for (const WaitingLanes::Lane& lane : waiting_.lanes()) {
    if (lane.first == WaitingLanes::kNone) continue;
    const Micros due = waiting_.since(JobHandle{lane.first}) + after_;
    wake(due);
    wake(lane.look_at);
    // Its user is above their share. What they used is forgotten with time, so it is asked again.
    const bool held_back = due <= view.now && lane.no_place != version(view);
    if (held_back && !waiting_.may_go(lane, view.now)) wake(view.now + kShareLookInterval);
  }
}

// ---- places

// Beside the places that jobs wait for. One that a job runs on is free again when that has ended.
PlaceSearch Reservations::beside_others(const View& view) const {
  const auto awaited = [this, &view](GpuId gpu) {
    mig::Layout layout;
    for (const Reservation& each : reservations_) {
      const bool here = each.gpu == gpu && !each.runs;
      if (here && mig::fits(*view.cluster.model, layout, each.place)) layout.add(each.place);
    }
    return layout;
  };
  return {.usable = [this](GpuId gpu) { return usable(gpu); }, .beside = awaited};
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
    const InstanceStarts starts = in_the_way(view, each.gpu, each.place);
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

void Reservations::take_place(const View& view, Reservation& reservation, const FoundPlace& found) {
  reservation.gpu = found.gpu;
  reservation.place = found.place;
  reservation.drained = found.drained;
  reservation.start = found.start;
  reservation.cut = view.cluster.gpus[found.gpu.value].layout.contains(found.place);
  auto& wanted = wanted_[found.gpu.value];
  if (!wanted) wanted = facts_.aim(found.gpu);
  changed_[found.gpu.value] = 1;
  ++version_;
}

void Reservations::reserve(const View& view, JobHandle job, const FoundPlace& found) {
  waiting_.set_aside(job);
  Reservation made;
  made.handle = job;
  made.job = waiting_.id(job);
  made.made = view.now;
  take_place(view, made, found);
  reservations_.push_back(made);
  ++made_;
}

// Those whose patience is over go first, in the order in which they wait: else jobs with near
// deadlines could keep the oldest waiting. True when one was made.
bool Reservations::reserve_next(const View& view) {
  while (true) {
    JobHandle job = next_patient(view);
    if (!job.valid()) job = next_early(view);
    if (!job.valid()) return false;
    PlaceSearch search = beside_others(view);
    if (const auto found = find_place(view, view.jobs[job], search)) {
      reserve(view, job, *found);
      return true;
    }
    search.beside = [](GpuId) { return mig::Layout{}; };
    if (find_place(view, view.jobs[job], search)) {
      // The next place that becomes free is for this job, so nobody younger gets one meanwhile.
      full_ = version(view);
      return false;
    }
    waiting_.lane_of(job).no_place = version(view);
  }
}

bool Reservations::stands(const View& view, const Reservation& each) const {
  const bool present = view.jobs.present(each.handle) && view.jobs[each.handle].id == each.job;
  const SliceId place = cluster::slice_id(each.gpu, each.place.start);
  if (each.runs) return present && view.jobs[each.handle].slice == place;
  if (!present || !usable(each.gpu)) return false;
  const unsigned starts = in_the_way(view, each.gpu, each.place) | 1U << each.place.start;
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
    const bool still_waits =
        !each.runs && waiting_.is_aside(each.handle) && waiting_.id(each.handle) == each.job;
    if (still_waits) waiting_.put_back(each.handle);
  }
}

void Reservations::make_way(const View& view, Reservation& each) {
  const InstanceStarts starts = in_the_way(view, each.gpu, each.place);
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
  if (busy || each.cut_at == Micros{}) each.cut_at = view.now;
  const bool overrun = busy && view.now > each.drained + kOverrunMax;
  const bool not_made = !busy && view.now > each.cut_at + kMakingMax;
  if (overrun || not_made) move_elsewhere(view, each, busy);
}

// From behind jobs that do not end, to where nothing is in the way; or to another GPU if this one
// does not make the instance.
void Reservations::move_elsewhere(const View& view, Reservation& each, bool busy) {
  PlaceSearch search = beside_others(view);
  if (!busy) {
    each.cut_at = view.now;
    search.usable = [this, here = each.gpu](GpuId gpu) { return gpu != here && usable(gpu); };
  }
  const auto found = find_place(view, view.jobs[each.handle], search);
  if (!found || (busy && found->busy > 0)) return;
  changed_[each.gpu.value] = 1;
  take_place(view, each, *found);
}

void Reservations::plan(const View& view, std::vector<LayoutRequest>& requests) {
  if (restricts()) drop_over(view);
  while (full_ != version(view) && reservations_.size() < limit_of(view) && reserve_next(view)) {
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
    // Where jobs are interrupted only if that pays, that is true of this one as well: a long job
    // that nobody may move would cost more than it waited.
    if (!pays(view)) hidden_.push_back({each.handle, each.job});
    each.runs = true;
    waiting_.remove(each.handle);
    ++version_;
  }
}

const cluster::ClusterState& Reservations::shown(const View& view, std::span<const Move> moves) {
  shown_ = view.cluster;
  for (const Reservation& each : reservations_) {
    const bool left_to_policy = each.runs && pays(view);
    if (!left_to_policy) close(*shown_, cluster::slice_id(each.gpu, each.place.start));
    if (each.runs) continue;
    for (unsigned left = in_the_way(view, each.gpu, each.place); left != 0; left &= left - 1) {
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
    for (unsigned left = in_the_way(view, each.gpu, each.place); left != 0; left &= left - 1) {
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
  constexpr std::uint32_t kEnd = WaitingLanes::kNone;
  std::vector<std::uint32_t> at;  // by lane
  for (const WaitingLanes::Lane& lane : waiting_.lanes()) at.push_back(lane.first);
  for (std::size_t looks = 0; looks < kBackfillLooksMax && !gaps_.empty(); ++looks) {
    auto first = at.end();
    for (auto each = at.begin(); each != at.end(); ++each) {
      if (*each == kEnd) continue;
      const bool better =
          first == at.end() || waiting_.goes_first(JobHandle{*each}, JobHandle{*first}, view.now);
      if (better) first = each;
    }
    if (first == at.end()) return;
    const JobHandle job{*first};
    *first = waiting_.next(job);
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
