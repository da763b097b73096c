#include "control/fleet.h"

#include <algorithm>
#include <limits>

namespace partita::control {
namespace {

using Kind = cluster::Action::Kind;
using cluster::SliceId;
using cluster::SliceState;

}  // namespace

Fleet::Fleet(const mig::GpuModel& model, std::vector<GpuFact> gpus, decide::ActiveJobs& jobs)
    : cluster_(model, static_cast<std::uint32_t>(gpus.size())),
      stepper_(cluster_),
      gpus_(std::move(gpus)),
      jobs_(jobs),
      slots_(cluster_.slices.size()),
      changes_(gpus_.size()),
      wanted_(gpus_.size()) {}

std::optional<GpuId> Fleet::gpu_of_uuid(const std::string& uuid) const {
  for (std::uint32_t i = 0; i < gpus_.size(); ++i) {
    if (gpus_[i].uuid == uuid) return GpuId{i};
  }
  return {};
}

bool Fleet::take_changed() {
  return std::exchange(changed_, false);
}

void Fleet::act(Kind kind, SliceId slice, mig::ProfileIndex profile) {
  cluster::apply(cluster_, {.kind = kind, .slice = slice, .job = {}, .profile = profile});
  changed_ = true;
}

// A job that never ends and that no scheduler was told of.
decide::ActiveJob& Fleet::occupy(SliceId slice, Holder holder) {
  Slot& slot = slots_[slice.value];
  CHECK(slot.holder == Holder::kNobody);
  decide::ActiveJob phantom;
  phantom.id = JobId{std::numeric_limits<std::uint32_t>::max() - 1 - phantoms_++};
  phantom.slice = slice;
  phantom.finish = Micros::max();
  phantom.resumable = false;
  phantom.deadline = Micros::max();
  phantom.time.fill(1e18);
  phantom.fits = static_cast<std::uint16_t>((1U << model().profiles.size()) - 1);
  phantom.size_index = cluster_.slice(slice).size_index;
  phantom.started = true;
  slot.holder = holder;
  slot.phantom = jobs_.add(phantom);
  cluster::start_job(cluster_, slice, slot.phantom);
  changed_ = true;
  return jobs_[slot.phantom];
}

void Fleet::vacate(SliceId slice) {
  Slot& slot = slots_[slice.value];
  if (slot.holder == Holder::kNobody) return;
  cluster::stop_job(cluster_, slice);
  jobs_.remove(slot.phantom);
  slot.holder = Holder::kNobody;
  slot.phantom = {};
  changed_ = true;
}

void Fleet::add_own(GpuId gpu, mig::Placement placement, device::InstanceKey instance) {
  const SliceId slice = cluster::slice_id(gpu, placement.start);
  act(Kind::kBeginCreate, slice, placement.profile);
  act(Kind::kFinishCreate, slice);
  slots_[slice.value].instance = std::move(instance);
}

bool Fleet::add_foreign(GpuId gpu, mig::Placement placement, device::InstanceKey instance) {
  if (!mig::fits(model(), cluster_.gpus[gpu.value].layout, placement)) return false;
  add_own(gpu, placement, std::move(instance));
  occupy(cluster::slice_id(gpu, placement.start), Holder::kForeign);
  return true;
}

void Fleet::remove(SliceId slice) {
  vacate(slice);
  const SliceState state = cluster_.slice(slice).state;
  if (state == SliceState::kAbsent) return;
  if (state == SliceState::kCreating) act(Kind::kFinishCreate, slice);
  if (state != SliceState::kDestroying) act(Kind::kBeginDestroy, slice);
  act(Kind::kFinishDestroy, slice);
  slots_[slice.value] = Slot{};
}

void Fleet::keep(SliceId slice, JobId job, Micros finish) {
  CHECK(cluster_.slice(slice).open());
  decide::ActiveJob& phantom = occupy(slice, Holder::kClaimed);
  phantom.id = job;
  phantom.finish = phantom.progress_from = finish;
}

void Fleet::release(SliceId slice) {
  CHECK(slots_[slice.value].holder == Holder::kClaimed);
  vacate(slice);
}

void Fleet::condemn_slice(SliceId slice) {
  Slot& slot = slots_[slice.value];
  const cluster::Slice& state = cluster_.slice(slice);
  const bool ready = state.state == SliceState::kIdle || state.state == SliceState::kBusy;
  if (!ready || slot.holder != Holder::kNobody) return;
  slot.condemned = true;
  changes_[cluster::gpu_of(slice).value].has_condemned = true;
  if (!state.closing) act(Kind::kClose, slice);
}

void Fleet::begin_destroy(GpuId gpu, mig::Placement placement) {
  // Should it be refused, nobody is to use it meanwhile.
  condemn_slice(cluster::slice_id(gpu, placement.start));
  stepper_.begin(gpu, {mig::ChangeStep::Kind::kDestroy, placement, {}});
  changed_ = true;
  changes_[gpu.value].step_began = Micros{};
}

void Fleet::request(GpuId gpu, const mig::Layout& layout) {
  wanted_[gpu.value] = layout;
  if (!usable(gpu) || stepper_.aim(gpu) == layout) return;
  const auto wanted = [&](SliceId slice, bool in_target) {
    const Slot& slot = slots_[slice.value];
    const bool ours = slot.holder == Holder::kNobody || slot.holder == Holder::kClaimed;
    return (in_target && !slot.condemned) || !ours;
  };
  const bool marked = stepper_.turn_to(gpu, layout, wanted, [](SliceId) {});
  changed_ = changed_ || marked;
}

void Fleet::renew_requests() {
  for (std::uint32_t i = 0; i < gpus_.size(); ++i) {
    if (wanted_[i] && !changing(GpuId{i})) request(GpuId{i}, mig::Layout(*wanted_[i]));
  }
}

std::optional<mig::ChangeStep> Fleet::condemned_step(GpuId gpu) {
  bool left = false;
  for (const mig::Placement placement : cluster_.gpus[gpu.value].layout.instances()) {
    const SliceId slice = cluster::slice_id(gpu, placement.start);
    const bool condemned =
        slots_[slice.value].condemned && slots_[slice.value].holder == Holder::kNobody;
    left = left || condemned;
    if (condemned && cluster_.slice(slice).state == SliceState::kIdle) {
      return mig::ChangeStep{mig::ChangeStep::Kind::kDestroy, placement, {}};
    }
  }
  changes_[gpu.value].has_condemned = left;
  return {};
}

template <typename Visit>
void Fleet::each_quarantined(GpuId gpu, Visit visit) const {
  if (!changes_[gpu.value].has_quarantined) return;
  const mig::Layout layout = cluster_.gpus[gpu.value].layout;
  for (const mig::Placement placement : layout.instances()) {
    const SliceId slice = cluster::slice_id(gpu, placement.start);
    if (slots_[slice.value].holder == Holder::kQuarantined) visit(slice);
  }
}

// Condemned slices are destroyed; one that is refused again is quarantined again.
void Fleet::try_quarantined_again(GpuId gpu, Micros now) {
  bool left = false;
  each_quarantined(gpu, [&](SliceId slice) {
    const bool due = now >= slots_[slice.value].retry_at;
    left = left || !due;
    if (!due) return;
    vacate(slice);
    condemn_slice(slice);
  });
  changes_[gpu.value].has_quarantined = left;
}

std::vector<Fleet::Step> Fleet::begin_steps(Micros now) {
  std::vector<Step> steps;
  const auto ours = [this](SliceId slice) { return holder(slice) == Holder::kNobody; };
  for (std::uint32_t i = 0; i < gpus_.size(); ++i) {
    const GpuId gpu{i};
    GpuChange& change = changes_[i];
    if (in_step(gpu) || change.unsure || now < change.retry_at) continue;
    try_quarantined_again(gpu, now);
    auto step = change.has_condemned ? condemned_step(gpu) : std::nullopt;
    if (!step) step = stepper_.next_step(gpu, ours);
    if (!step) continue;
    stepper_.begin(gpu, *step);
    changed_ = true;
    change.step_began = now;
    steps.push_back({gpu, step->kind, step->placement});
  }
  return steps;
}

void Fleet::list_courses(std::vector<decide::LayoutCourse>& courses) const {
  courses.clear();
  for (std::uint32_t i = 0; i < changes_.size(); ++i) {
    courses.push_back(
        {stepper_.target(GpuId{i}), changes_[i].step_began, !changes_[i].why_unusable.empty()});
  }
}

std::optional<Micros> Fleet::next_retry(Micros now) const {
  std::optional<Micros> next;
  const auto sooner = [&](Micros time) {
    if (time > now) next = std::min(next.value_or(time), time);
  };
  for (std::uint32_t i = 0; i < changes_.size(); ++i) {
    const GpuChange& change = changes_[i];
    if (in_step(GpuId{i}) || change.unsure) continue;
    if (changing(GpuId{i}) || change.has_condemned) sooner(change.retry_at);
    each_quarantined(GpuId{i}, [&](SliceId slice) { sooner(slots_[slice.value].retry_at); });
  }
  return next;
}

void Fleet::created(GpuId gpu, mig::Placement placement, device::InstanceKey instance) {
  stepper_.finish(gpu);
  changed_ = true;
  slots_[cluster::slice_id(gpu, placement.start).value].instance = std::move(instance);
  changes_[gpu.value].retry_at = changes_[gpu.value].retry_wait = Micros{};
}

void Fleet::back_off(GpuChange& change, Micros now) {
  change.retry_wait = change.retry_wait == Micros{}
                          ? kDeviceRetryFirst
                          : std::min(kDeviceRetryMost, change.retry_wait + change.retry_wait);
  change.retry_at = now + change.retry_wait;
}

void Fleet::not_created(GpuId gpu, mig::Placement placement, Micros now) {
  stepper_.revert(gpu);
  changed_ = true;
  slots_[cluster::slice_id(gpu, placement.start).value] = Slot{};
  changes_[gpu.value].unsure = true;
  back_off(changes_[gpu.value], now);
}

void Fleet::destroyed(GpuId gpu, mig::Placement placement) {
  stepper_.finish(gpu);
  changed_ = true;
  slots_[cluster::slice_id(gpu, placement.start).value] = Slot{};
  changes_[gpu.value].retry_at = changes_[gpu.value].retry_wait = Micros{};
}

bool Fleet::not_destroyed(GpuId gpu, mig::Placement placement, Micros now) {
  const SliceId slice = cluster::slice_id(gpu, placement.start);
  stepper_.revert(gpu);
  changed_ = true;
  back_off(changes_[gpu.value], now);
  if (++slots_[slice.value].destroy_tries < kDestroyTriesMax) {
    act(Kind::kClose, slice);
    return false;
  }
  occupy(slice, Holder::kQuarantined);
  slots_[slice.value].retry_at = now + kQuarantineRetry;
  changes_[gpu.value].has_quarantined = true;
  return true;
}

void Fleet::condemn(GpuId gpu, const std::string& why) {
  stepper_.forget_target(gpu);
  changes_[gpu.value].why_unusable = why;
  for (const mig::Placement placement : cluster_.gpus[gpu.value].layout.instances()) {
    const SliceId slice = cluster::slice_id(gpu, placement.start);
    if (!cluster_.slice(slice).closing) act(Kind::kClose, slice);
  }
}

void Fleet::block(GpuId gpu, const std::string& why) {
  const std::string reason = why;  // may stand in what is overwritten
  GpuChange& change = changes_[gpu.value];
  change = GpuChange{};
  stepper_.resume(gpu, {}, {});
  const mig::Layout present = cluster_.gpus[gpu.value].layout;
  for (const mig::Placement placement : present.instances()) {
    remove(cluster::slice_id(gpu, placement.start));
  }
  // The profile that takes the most memory slices stands for the whole GPU.
  mig::ProfileIndex whole = 0;
  for (std::size_t i = 0; i < model().profiles.size(); ++i) {
    if (model().profiles[i].memory_slices > model().profiles[whole].memory_slices) {
      whole = static_cast<mig::ProfileIndex>(i);
    }
  }
  const mig::Placement placement{whole, model().profiles[whole].starts.front()};
  add_own(gpu, placement, {});
  occupy(cluster::slice_id(gpu, placement.start), Holder::kBlocked);
  change.why_unusable = reason;
  change.blocked = true;
}

void Fleet::unblock(GpuId gpu) {
  GpuChange& change = changes_[gpu.value];
  if (change.why_unusable.empty()) return;
  if (!change.blocked) {  // its jobs had not left yet, and stay
    change.why_unusable.clear();
    for (const mig::Placement placement : cluster_.gpus[gpu.value].layout.instances()) {
      const SliceId slice = cluster::slice_id(gpu, placement.start);
      const bool reopen = cluster_.slice(slice).closing && !slots_[slice.value].condemned;
      if (reopen) act(Kind::kReopen, slice);
    }
    return;
  }
  const mig::Layout present = cluster_.gpus[gpu.value].layout;
  for (const mig::Placement placement : present.instances()) {
    remove(cluster::slice_id(gpu, placement.start));
  }
  change = GpuChange{};
  stepper_.resume(gpu, {}, {});
}

}  // namespace partita::control
