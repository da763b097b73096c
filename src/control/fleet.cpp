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
    : HeldSlices(model, static_cast<std::uint32_t>(gpus.size()), jobs),
      stepper_(cluster()),
      gpus_(std::move(gpus)),
      changes_(gpus_.size()),
      wanted_(gpus_.size()) {}

std::optional<GpuId> Fleet::gpu_of_uuid(const std::string& uuid) const {
  for (std::uint32_t i = 0; i < gpus_.size(); ++i) {
    if (gpus_[i].uuid == uuid) return GpuId{i};
  }
  return {};
}

void Fleet::condemn_slice(SliceId slice) {
  Slot& held = slot(slice);
  const cluster::Slice& state = cluster().slice(slice);
  const bool ready = state.state == SliceState::kIdle || state.state == SliceState::kBusy;
  if (!ready || held.holder != Holder::kNobody) return;
  held.condemned = true;
  changes_[cluster::gpu_of(slice).value].has_condemned = true;
  if (!state.closing) act(Kind::kClose, slice);
}

void Fleet::begin_destroy(GpuId gpu, mig::Placement placement) {
  // Should it be refused, nobody is to use it meanwhile.
  condemn_slice(cluster::slice_id(gpu, placement.start));
  stepper_.begin(gpu, {mig::ChangeStep::Kind::kDestroy, placement, {}});
  note_change();
  changes_[gpu.value].step_began = Micros{};
}

void Fleet::request(GpuId gpu, const mig::Layout& layout) {
  wanted_[gpu.value] = layout;
  if (!usable(gpu) || stepper_.aim(gpu) == layout) return;
  const auto wanted = [&](SliceId slice, bool in_target) {
    const Slot& held = slot(slice);
    const bool ours = held.holder == Holder::kNobody || held.holder == Holder::kClaimed;
    return (in_target && !held.condemned) || !ours;
  };
  const bool marked = stepper_.turn_to(gpu, layout, wanted, [](SliceId) {});
  if (marked) note_change();
}

void Fleet::renew_requests() {
  for (std::uint32_t i = 0; i < gpus_.size(); ++i) {
    if (wanted_[i] && !changing(GpuId{i})) request(GpuId{i}, mig::Layout(*wanted_[i]));
  }
}

std::optional<mig::ChangeStep> Fleet::condemned_step(GpuId gpu) {
  bool left = false;
  for (const mig::Placement placement : cluster().gpus[gpu.value].layout.instances()) {
    const SliceId slice = cluster::slice_id(gpu, placement.start);
    const bool condemned = slot(slice).condemned && slot(slice).holder == Holder::kNobody;
    left = left || condemned;
    if (condemned && cluster().slice(slice).state == SliceState::kIdle) {
      return mig::ChangeStep{mig::ChangeStep::Kind::kDestroy, placement, {}};
    }
  }
  changes_[gpu.value].has_condemned = left;
  return {};
}

template <typename Visit>
void Fleet::each_quarantined(GpuId gpu, Visit visit) const {
  if (!changes_[gpu.value].has_quarantined) return;
  const mig::Layout layout = cluster().gpus[gpu.value].layout;
  for (const mig::Placement placement : layout.instances()) {
    const SliceId slice = cluster::slice_id(gpu, placement.start);
    if (slot(slice).holder == Holder::kQuarantined) visit(slice);
  }
}

// Condemned slices are destroyed; one that is refused again is quarantined again.
void Fleet::try_quarantined_again(GpuId gpu, Micros now) {
  bool left = false;
  each_quarantined(gpu, [&](SliceId slice) {
    const bool due = now >= slot(slice).retry_at;
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
    note_change();
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
    each_quarantined(GpuId{i}, [&](SliceId slice) { sooner(slot(slice).retry_at); });
  }
  return next;
}

void Fleet::created(GpuId gpu, mig::Placement placement, device::InstanceKey instance) {
  stepper_.finish(gpu);
  note_change();
  slot(cluster::slice_id(gpu, placement.start)).instance = std::move(instance);
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
  note_change();
  slot(cluster::slice_id(gpu, placement.start)) = Slot{};
  changes_[gpu.value].unsure = true;
  back_off(changes_[gpu.value], now);
}

void Fleet::destroyed(GpuId gpu, mig::Placement placement) {
  stepper_.finish(gpu);
  note_change();
  slot(cluster::slice_id(gpu, placement.start)) = Slot{};
  changes_[gpu.value].retry_at = changes_[gpu.value].retry_wait = Micros{};
}

bool Fleet::not_destroyed(GpuId gpu, mig::Placement placement, Micros now) {
  const SliceId slice = cluster::slice_id(gpu, placement.start);
  stepper_.revert(gpu);
  note_change();
  back_off(changes_[gpu.value], now);
  if (++slot(slice).destroy_tries < kDestroyTriesMax) {
    act(Kind::kClose, slice);
    return false;
  }
  occupy(slice, Holder::kQuarantined);
  slot(slice).retry_at = now + kQuarantineRetry;
  changes_[gpu.value].has_quarantined = true;
  return true;
}

void Fleet::condemn(GpuId gpu, const std::string& why) {
  stepper_.forget_target(gpu);
  changes_[gpu.value].why_unusable = why;
  for (const mig::Placement placement : cluster().gpus[gpu.value].layout.instances()) {
    const SliceId slice = cluster::slice_id(gpu, placement.start);
    if (!cluster().slice(slice).closing) act(Kind::kClose, slice);
  }
}

void Fleet::block(GpuId gpu, const std::string& why) {
  const std::string reason = why;  // may stand in what is overwritten
  GpuChange& change = changes_[gpu.value];
  change = GpuChange{};
  stepper_.resume(gpu, {}, {});
  const mig::Layout present = cluster().gpus[gpu.value].layout;
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
    for (const mig::Placement placement : cluster().gpus[gpu.value].layout.instances()) {
      const SliceId slice = cluster::slice_id(gpu, placement.start);
      const bool reopen = cluster().slice(slice).closing && !slot(slice).condemned;
      if (reopen) act(Kind::kReopen, slice);
    }
    return;
  }
  const mig::Layout present = cluster().gpus[gpu.value].layout;
  for (const mig::Placement placement : present.instances()) {
    remove(cluster::slice_id(gpu, placement.start));
  }
  change = GpuChange{};
  stepper_.resume(gpu, {}, {});
}

}  // namespace partita::control
