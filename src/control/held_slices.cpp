#include "control/held_slices.h"

#include <limits>
#include <utility>

#include "base/check.h"

namespace partita::control {

using Kind = cluster::Action::Kind;
using cluster::SliceId;
using cluster::SliceState;

HeldSlices::HeldSlices(const mig::GpuModel& model, std::uint32_t gpus, decide::ActiveJobs& jobs)
    : cluster_(model, gpus), jobs_(jobs), slots_(cluster_.slices.size()) {}

bool HeldSlices::take_changed() {
  return std::exchange(changed_, false);
}

void HeldSlices::act(Kind kind, SliceId slice, mig::ProfileIndex profile) {
  cluster::apply(cluster_, {.kind = kind, .slice = slice, .job = {}, .profile = profile});
  changed_ = true;
}

// A job that never ends and that no scheduler was told of.
decide::ActiveJob& HeldSlices::occupy(SliceId slice, Holder holder) {
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

void HeldSlices::vacate(SliceId slice) {
  Slot& slot = slots_[slice.value];
  if (slot.holder == Holder::kNobody) return;
  cluster::stop_job(cluster_, slice);
  jobs_.remove(slot.phantom);
  slot.holder = Holder::kNobody;
  slot.phantom = {};
  changed_ = true;
}

void HeldSlices::add_own(GpuId gpu, mig::Placement placement, device::InstanceKey instance) {
  const SliceId slice = cluster::slice_id(gpu, placement.start);
  act(Kind::kBeginCreate, slice, placement.profile);
  act(Kind::kFinishCreate, slice);
  slots_[slice.value].instance = std::move(instance);
}

bool HeldSlices::add_foreign(GpuId gpu, mig::Placement placement, device::InstanceKey instance) {
  if (!mig::fits(model(), cluster_.gpus[gpu.value].layout, placement)) return false;
  add_own(gpu, placement, std::move(instance));
  occupy(cluster::slice_id(gpu, placement.start), Holder::kForeign);
  return true;
}

void HeldSlices::remove(SliceId slice) {
  vacate(slice);
  const SliceState state = cluster_.slice(slice).state;
  if (state == SliceState::kAbsent) return;
  if (state == SliceState::kCreating) act(Kind::kFinishCreate, slice);
  if (state != SliceState::kDestroying) act(Kind::kBeginDestroy, slice);
  act(Kind::kFinishDestroy, slice);
  slots_[slice.value] = Slot{};
}

void HeldSlices::keep(SliceId slice, JobId job, Micros finish) {
  CHECK(cluster_.slice(slice).open());
  decide::ActiveJob& phantom = occupy(slice, Holder::kClaimed);
  phantom.id = job;
  phantom.finish = phantom.progress_from = finish;
}

void HeldSlices::release(SliceId slice) {
  CHECK(slots_[slice.value].holder == Holder::kClaimed);
  vacate(slice);
}

}  // namespace partita::control
