#include "control/devices.h"

#include <fmt/format.h>

#include "control/planted.h"

namespace partita::control {

using cluster::SliceId;
using cluster::SliceState;

void Devices::preempt_for_layouts(Micros ran_min) {
  const Fleet& fleet = state_.fleet;
  for (std::uint32_t i = 0; i < fleet.gpus().size(); ++i) {
    if (!fleet.changing(GpuId{i})) continue;
    for (const mig::Placement placement : fleet.cluster().gpus[i].layout.instances()) {
      const SliceId slice = cluster::slice_id(GpuId{i}, placement.start);
      if (fleet.cluster().slice(slice).closing) preempt_on(slice, ran_min);
    }
  }
}

void Devices::preempt_on(SliceId slice, Micros ran_min) {
  Job* job = state_.job_on(slice);
  if (job == nullptr || job->state() != JobState::kRunning || !flow_.may_be_moved(*job)) return;
  if (state_.now - Micros{job->attempt().started_us} < ran_min) return;
  if (job->length_known()) job->work_left = state_.active[job->handle].work_at(state_.now);
  state_.turn.event(
      job->id, "preempted",
      "its slice is to be repartitioned: its checkpoint command is run, then it is stopped");
  flow_.move_to(*job, JobState::kRestarting, "preempted", store::StopCause::kPreempted);
  attempts_.stop(*job, true);
}

void Devices::take(const Reading& reading) {
  for (const Reading::SliceMemory& each : reading.slices) {
    const SliceId slice = cluster::slice_id(reading.gpu, each.start);
    if (state_.fleet.instance(slice).uuid != each.uuid) continue;  // of one that was there before
    Job* job = state_.job_on(slice);
    if (job == nullptr) continue;
    if (job->state() != JobState::kRunning && job->state() != JobState::kRestarting) continue;
    attempts_.watch_memory(*job, each.used_gib);
  }
  energy.take(reading);
  energy.write_if_due();
}

void Devices::take(const Inventory& inventory) {
  const GpuId gpu = inventory.gpu;
  Fleet& fleet = state_.fleet;
  if (returning_.erase(gpu) > 0) {
    state_.turn.event(kNoJob, "gpu-back", fmt::format("GPU {} is usable", gpu.value));
    fleet.unblock(gpu);
    state_.note_event();
  }
  if (fleet.in_step(gpu) || !fleet.usable(gpu)) return;
  fleet.inventoried(gpu);
  slices_.take_back(inventory);
  slices_.settle_failed_creates(inventory);
  if (fleet.in_step(gpu)) return;
  slices_.find_vanished(inventory,
                        [this](SliceId slice) { attempts_.stop_on(slice, "its slice vanished"); });
  slices_.add_foreign(inventory);
  slices_.remove_vanished();
}

void Devices::take(const GpuHealth& health) {
  const GpuId gpu = health.gpu;
  if (health.usable) ill_.erase(gpu);
  if (!health.usable) ill_[gpu] = health.why;
  if (health.usable && drained(gpu)) {  // an operator says when it is used again
    if (!state_.fleet.usable(gpu)) state_.fleet.set_why_unusable(gpu, drained_.at(gpu));
    return;
  }
  if (!health.usable) returning_.erase(gpu);
  const bool was_usable = state_.fleet.usable(gpu);
  // One that was to be left when its jobs had ended may have to be left now.
  const bool worse =
      !was_usable && !health.usable && !health.may_finish && state_.runs_own_job(gpu);
  if (health.usable == was_usable && !worse) return;
  if (health.usable) {
    returning_.insert(gpu);  // before its slices are known nothing may be made there
    return;
  }
  state_.turn.event(kNoJob, health.may_finish ? "gpu-drains" : "gpu-out",
                    fmt::format("GPU {}: {}", gpu.value, health.why));
  state_.note_event();
  state_.fleet.condemn(gpu, health.why);
  if (health.may_finish) return slices_.settle_unusable(gpu);
  for (const mig::Placement placement : state_.fleet.cluster().gpus[gpu.value].layout.instances()) {
    attempts_.stop_on(cluster::slice_id(gpu, placement.start), "its GPU is out: " + health.why);
  }
  slices_.settle_unusable(gpu);
}

// As with a GPU that drains by itself: what runs goes on, and when the last job has left nothing is
// placed there. Its slices are left as they are.
void Devices::leave_gpu(GpuId gpu, const std::string& why) {
  returning_.erase(gpu);
  if (!state_.fleet.usable(gpu)) return state_.fleet.set_why_unusable(gpu, why);
  state_.note_event();
  state_.fleet.condemn(gpu, why);
  slices_.settle_unusable(gpu);
}

void Devices::take(const DrainGpu& drain) {
  const GpuId gpu = drain.gpu;
  state_.turn.reply(drain.ticket, Reply::Kind::kDone, {});
  if (!drain.drain && !drained(gpu)) return;
  const std::string& uuid = state_.fleet.gpus()[gpu.value].uuid;
  state_.turn.write(store::GpuRow{uuid, drain.drain ? 1 : 0, state_.now.count, drain.reason});
  if (drain.drain) {
    drained_[gpu] = drain.reason.empty() ? "drained" : "drained: " + drain.reason;
    state_.turn.event(kNoJob, "gpu-drained", fmt::format("GPU {} is {}", gpu.value, drained_[gpu]));
    if (PLANTED(forget_drain)) return;
    return leave_gpu(gpu, drained_[gpu]);
  }
  drained_.erase(gpu);
  state_.turn.event(kNoJob, "gpu-resumed", fmt::format("GPU {}", gpu.value));
  if (const auto ill = ill_.find(gpu); ill != ill_.end()) {
    return state_.fleet.set_why_unusable(gpu, ill->second);
  }
  returning_.insert(gpu);  // used again when its slices are known
}

void Devices::restore_drains(const std::vector<store::GpuRow>& rows) {
  for (const store::GpuRow& row : rows) {
    const auto gpu = state_.fleet.gpu_of_uuid(row.gpu);
    if (!gpu || row.drained == 0) continue;
    drained_[*gpu] = row.reason.empty() ? "drained" : "drained: " + row.reason;
    leave_gpu(*gpu, drained_[*gpu]);
  }
}

void Devices::take(const SliceFault& fault) {
  const SliceId slice = cluster::slice_id(fault.gpu, fault.start);
  Fleet& fleet = state_.fleet;
  if (!fleet.usable(fault.gpu) || fleet.cluster().slice(slice).state == SliceState::kAbsent) {
    return;
  }
  if (const auto kept_for = state_.claims.claimant(slice)) {
    flow_.give_up_claim(state_.jobs.at(*kept_for));
  }
  state_.turn.event(kNoJob, "slice-fault",
                    fmt::format("GPU {} at {}: {}", fault.gpu.value, fault.start, fault.why));
  attempts_.stop_on(slice, fault.why);
  fleet.condemn_slice(slice);
  state_.note_event();
}

}  // namespace partita::control
