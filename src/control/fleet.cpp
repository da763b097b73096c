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

const mig::Layout* Fleet::target(GpuId gpu) const {
  const auto& target = changes_[gpu.value].target;
  return target ? &*target : nullptr;
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
  CHECK(!changes_[gpu.value].in_step);
  const SliceId slice = cluster::slice_id(gpu, placement.start);
  condemn_slice(slice);  // should it be refused, nobody is to use it meanwhile
  act(Kind::kBeginDestroy, slice);
  changes_[gpu.value].in_step = true;
  changes_[gpu.value].step_began = Micros{};
}

void Fleet::request(GpuId gpu, const mig::Layout& layout) {
  GpuChange& change = changes_[gpu.value];
  wanted_[gpu.value] = layout;
  if (!change.why_unusable.empty()) return;
  const mig::Layout present = cluster_.gpus[gpu.value].layout;
  if (!change.target && present == layout) return;
  if (change.target == layout) return;
  change.target = layout;
  for (const mig::Placement placement : present.instances()) {
    const SliceId slice = cluster::slice_id(gpu, placement.start);
    const Slot& slot = slots_[slice.value];
    const bool ours = slot.holder == Holder::kNobody || slot.holder == Holder::kClaimed;
    const bool wanted = (layout.contains(placement) && !slot.condemned) || !ours;
    if (cluster_.slice(slice).closing == wanted) {
      act(wanted ? Kind::kReopen : Kind::kClose, slice);
    }
  }
}

void Fleet::renew_requests() {
  for (std::uint32_t i = 0; i < gpus_.size(); ++i) {
    if (wanted_[i] && !changes_[i].target) request(GpuId{i}, mig::Layout(*wanted_[i]));
  }
}

// The first step of the smallest change that can begin now: an idle instance of ours to destroy, or
// one to create whose memory slices are free.
std::optional<mig::ChangeStep> Fleet::startable_step(GpuId gpu) const {
  const mig::Layout& present = cluster_.gpus[gpu.value].layout;
  const mig::Layout& target = *changes_[gpu.value].target;
  for (const mig::ChangeStep& step : mig::smallest_change(model(), present, target).steps) {
    if (step.kind == mig::ChangeStep::Kind::kCreate) {
      if (mig::fits(model(), present, step.placement)) return step;
      continue;
    }
    const SliceId slice = cluster::slice_id(gpu, step.placement.start);
    const bool ours = slots_[slice.value].holder == Holder::kNobody;
    if (ours && cluster_.slice(slice).state == SliceState::kIdle) return step;
  }
  return {};
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
  for (std::uint32_t i = 0; i < gpus_.size(); ++i) {
    GpuChange& change = changes_[i];
    if (change.in_step || change.unsure || now < change.retry_at) continue;
    try_quarantined_again(GpuId{i}, now);
    auto step = change.has_condemned ? condemned_step(GpuId{i}) : std::nullopt;
    if (!step && change.target && cluster_.gpus[i].layout == *change.target) change.target.reset();
    if (!step && change.target) step = startable_step(GpuId{i});
    if (!step) continue;
    const bool create = step->kind == mig::ChangeStep::Kind::kCreate;
    act(create ? Kind::kBeginCreate : Kind::kBeginDestroy,
        cluster::slice_id(GpuId{i}, step->placement.start), step->placement.profile);
    change.in_step = true;
    change.step_began = now;
    steps.push_back({GpuId{i}, step->kind, step->placement});
  }
  return steps;
}

void Fleet::list_courses(std::vector<decide::LayoutCourse>& courses) const {
  courses.clear();
  for (const GpuChange& change : changes_) {
    courses.push_back({change.target, change.step_began, !change.why_unusable.empty()});
  }
}

std::optional<Micros> Fleet::next_retry(Micros now) const {
  std::optional<Micros> next;
  const auto sooner = [&](Micros time) {
    if (time > now) next = std::min(next.value_or(time), time);
  };
  for (std::uint32_t i = 0; i < changes_.size(); ++i) {
    const GpuChange& change = changes_[i];
    if (change.in_step || change.unsure) continue;
    if (change.target || change.has_condemned) sooner(change.retry_at);
    each_quarantined(GpuId{i}, [&](SliceId slice) { sooner(slots_[slice.value].retry_at); });
  }
  return next;
}

void Fleet::created(GpuId gpu, mig::Placement placement, device::InstanceKey instance) {
  GpuChange& change = changes_[gpu.value];
  const SliceId slice = cluster::slice_id(gpu, placement.start);
  act(Kind::kFinishCreate, slice);
  slots_[slice.value].instance = std::move(instance);
  change.in_step = false;
  change.retry_at = change.retry_wait = Micros{};
  // The target may have moved on while the instance was being made.
  if (change.target && !change.target->contains(placement)) act(Kind::kClose, slice);
}

void Fleet::back_off(GpuChange& change, Micros now) {
  change.retry_wait = change.retry_wait == Micros{}
                          ? kDeviceRetryFirst
                          : std::min(kDeviceRetryMost, change.retry_wait + change.retry_wait);
  change.retry_at = now + change.retry_wait;
}

void Fleet::not_created(GpuId gpu, mig::Placement placement, Micros now) {
  const SliceId slice = cluster::slice_id(gpu, placement.start);
  act(Kind::kFinishCreate, slice);
  act(Kind::kBeginDestroy, slice);
  act(Kind::kFinishDestroy, slice);
  slots_[slice.value] = Slot{};
  changes_[gpu.value].in_step = false;
  changes_[gpu.value].unsure = true;
  back_off(changes_[gpu.value], now);
}

void Fleet::destroyed(GpuId gpu, mig::Placement placement) {
  const SliceId slice = cluster::slice_id(gpu, placement.start);
  act(Kind::kFinishDestroy, slice);
  slots_[slice.value] = Slot{};
  GpuChange& change = changes_[gpu.value];
  change.in_step = false;
  change.retry_at = change.retry_wait = Micros{};
}

bool Fleet::not_destroyed(GpuId gpu, mig::Placement placement, Micros now) {
  const SliceId slice = cluster::slice_id(gpu, placement.start);
  Slot slot = slots_[slice.value];
  act(Kind::kFinishDestroy, slice);
  act(Kind::kBeginCreate, slice, placement.profile);
  act(Kind::kFinishCreate, slice);
  changes_[gpu.value].in_step = false;
  back_off(changes_[gpu.value], now);
  ++slot.destroy_tries;
  slots_[slice.value] = slot;
  if (slot.destroy_tries < kDestroyTriesMax) {
    act(Kind::kClose, slice);
    return false;
  }
  occupy(slice, Holder::kQuarantined);
  slots_[slice.value].retry_at = now + kQuarantineRetry;
  changes_[gpu.value].has_quarantined = true;
  return true;
}

void Fleet::condemn(GpuId gpu, const std::string& why) {
  GpuChange& change = changes_[gpu.value];
  change.target.reset();
  change.why_unusable = why;
  for (const mig::Placement placement : cluster_.gpus[gpu.value].layout.instances()) {
    const SliceId slice = cluster::slice_id(gpu, placement.start);
    if (!cluster_.slice(slice).closing) act(Kind::kClose, slice);
  }
}

void Fleet::block(GpuId gpu, const std::string& why) {
  const std::string reason = why;  // may stand in what is overwritten
  GpuChange& change = changes_[gpu.value];
  change = GpuChange{};
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
}

}  // namespace partita::control
