// The part of the controller that cuts GPUs, and says what follows from what they report.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "control/controller.h"
#include "control/planted.h"

namespace partita::control {
namespace {

using cluster::SliceId;
using cluster::SliceState;

}  // namespace

void Controller::write_instance(GpuId gpu, mig::Placement placement, SliceStage stage,
                                const std::string& uuid) {
  turn_.batch.instances.push_back({fleet_.gpus()[gpu.value].uuid, placement.start,
                                   fleet_.model().profiles[placement.profile].name, uuid,
                                   static_cast<std::int64_t>(stage), now_.count});
}

// A store takes rows away before it writes any, so what was written earlier in the turn goes too.
void Controller::drop_instance(GpuId gpu, std::uint8_t start) {
  const std::string& uuid = fleet_.gpus()[gpu.value].uuid;
  std::erase_if(turn_.batch.instances, [&](const store::InstanceRow& row) {
    return row.gpu == uuid && row.start == start;
  });
  turn_.batch.gone_instances.push_back({fleet_.gpus()[gpu.value].uuid, start});
}

void Controller::begin_layout_steps() {
  if (options_.shadow) return;
  for (const Fleet::Step& step : fleet_.begin_steps(now_)) {
    const std::string place = gpu_place(step.gpu, step.placement.start);
    if (step.kind == mig::ChangeStep::Kind::kCreate) {
      intend("create", place);
      write_instance(step.gpu, step.placement, SliceStage::kCreating, "");
      effect(Create{step.gpu, step.placement});
      continue;
    }
    const device::InstanceKey& key =
        fleet_.instance(cluster::slice_id(step.gpu, step.placement.start));
    intend("destroy", place);
    write_instance(step.gpu, step.placement, SliceStage::kDestroying, key.uuid);
    effect(Destroy{step.gpu, step.placement, key});
  }
}

// Slices that are to go and whose jobs can save their work need not be waited for.
void Controller::preempt_for_layouts() {
  for (std::uint32_t i = 0; i < fleet_.gpus().size(); ++i) {
    if (!fleet_.changing(GpuId{i})) continue;
    for (const mig::Placement placement : fleet_.cluster().gpus[i].layout.instances()) {
      const SliceId slice = cluster::slice_id(GpuId{i}, placement.start);
      if (fleet_.cluster().slice(slice).closing) preempt_on(slice);
    }
  }
}

void Controller::preempt_on(SliceId slice) {
  const Job* on = job_on(slice);
  if (on == nullptr || on->state() != JobState::kRunning || on->spec.checkpoint.empty()) return;
  Job& job = jobs_.at(on->id);
  const Micros ran = now_ - Micros{attempt_of(job).started_us};
  // Half of its attempts are left for what it cannot help.
  const bool often = job.progress.attempt > options_.limits.attempts_max / 2;
  if (ran < *preempt_after() || often) return;
  const bool length_known = std::ranges::any_of(job.spec.times, [](const auto& t) { return !!t; });
  if (length_known) job.work_left = active_[job.handle].work_at(now_);
  event(job.id, "preempted",
        "its slice is to be cut anew: its checkpoint command is run, then it is stopped");
  move_to(job, JobState::kRestarting, std::string(kPreempted));
  stop(job, true);
}

void Controller::take(const CreateDone& done) {
  const SliceId slice = cluster::slice_id(done.gpu, done.placement.start);
  met("create", gpu_place(done.gpu, done.placement.start));
  if (fleet_.cluster().slice(slice).state != SliceState::kCreating) return;  // overtaken
  pass_due_ = true;
  const std::string place = place_name(done.gpu, done.placement);
  if (done.instance) {
    fleet_.created(done.gpu, done.placement, done.instance->key);
    failed_creates_.erase(slice.value);
    write_instance(done.gpu, done.placement, SliceStage::kPresent, done.instance->key.uuid);
    event(0, "created", fmt::format("{} {}", place, done.instance->key.uuid));
  } else {
    fleet_.not_created(done.gpu, done.placement, now_);
    // The row stays until the next inventory: half of the slice may be there.
    if (PLANTED(leak_failed_create)) {
      drop_instance(done.gpu, done.placement.start);
    } else {
      failed_creates_[slice.value] = done.placement;
      write_instance(done.gpu, done.placement, SliceStage::kDoubtful, "");
    }
    event(0, "not-created", fmt::format("{}: {}", place, done.error.message));
    ++events_;  // policies decide again
  }
  settle_unusable(done.gpu);
}

void Controller::take(const DestroyDone& done) {
  const SliceId slice = cluster::slice_id(done.gpu, done.placement.start);
  met("destroy", gpu_place(done.gpu, done.placement.start));
  if (fleet_.cluster().slice(slice).state != SliceState::kDestroying) return;
  pass_due_ = true;
  const std::string place = place_name(done.gpu, done.placement);
  if (done.gone) {
    fleet_.destroyed(done.gpu, done.placement);
    drop_instance(done.gpu, done.placement.start);
    event(0, "destroyed", place);
    return settle_unusable(done.gpu);
  }
  const std::string uuid = fleet_.instance(slice).uuid;
  const bool given_up = fleet_.not_destroyed(done.gpu, done.placement, now_);
  write_instance(done.gpu, done.placement, SliceStage::kPresent, uuid);
  event(0, given_up ? "quarantined" : "not-destroyed",
        fmt::format("{}: {}", place, done.error.message));
  ++events_;
  settle_unusable(done.gpu);
}

// ---- readings

void Controller::take(const Reading& reading) {
  GpuReading& last = readings_[reading.gpu.value];
  last.read = true;
  if (reading.power_w) last.power_w = *reading.power_w;
  for (const Reading::Slice& each : reading.slices) {
    const SliceId slice = cluster::slice_id(reading.gpu, each.start);
    if (fleet_.instance(slice).uuid != each.uuid) continue;  // of one that was there before
    const Job* job = job_on(slice);
    if (job == nullptr) continue;
    if (job->state() != JobState::kRunning && job->state() != JobState::kRestarting) continue;
    watch_memory(jobs_.at(job->id), each.used_gib);
  }
  if (reading.energy_j) share_energy(reading);
  if (now_ - last_booked_ < kBookInterval) return;
  last_booked_ = now_;
  for (std::uint32_t i = 0; i < fleet_.cluster().slices.size(); ++i) {
    if (const Job* job = job_on(SliceId{i})) touch_attempt(*job);
  }
}

void Controller::share_energy(const Reading& reading) {
  GpuReading& books = readings_[reading.gpu.value];
  books.energy_j = *reading.energy_j;
  const auto used = meters_[reading.gpu.value].read(*reading.energy_j, now_);
  if (!used) return;
  std::vector<int> compute;
  std::vector<std::int64_t> jobs;
  for (const mig::Placement placement :
       fleet_.cluster().gpus[reading.gpu.value].layout.instances()) {
    const SliceId slice = cluster::slice_id(reading.gpu, placement.start);
    const Job* job = job_on(slice);
    if (job == nullptr) continue;
    compute.push_back(fleet_.cluster().slice(slice).compute_slices);
    jobs.push_back(job->id);
  }
  const double idle_w = fleet_.model().power_curves.front().watts.front();
  const EnergyShares shares = split_energy(used->joules, idle_w, used->span, compute);
  books.idle_j += shares.idle_j;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    attempt_of(jobs_.at(jobs[i])).energy_j += shares.busy_j[i];
    books.attributed_j += shares.busy_j[i];
  }
}

// ---- what is there

// Compares what the driver says with what we know. Nothing of somebody else is ever touched.
void Controller::take(const Inventory& inventory) {
  const GpuId gpu = inventory.gpu;
  if (returning_.erase(gpu.value) > 0) {
    event(0, "gpu-back", fmt::format("GPU {} is usable", gpu.value));
    fleet_.unblock(gpu);
    ++events_;
    pass_due_ = true;
  }
  if (fleet_.in_step(gpu) || !fleet_.usable(gpu)) return;
  fleet_.inventoried(gpu);
  take_back(inventory);
  settle_failed_creates(inventory);
  if (fleet_.in_step(gpu)) return;
  const mig::Layout known = fleet_.cluster().gpus[gpu.value].layout;
  for (const mig::Placement placement : known.instances()) {
    const SliceId slice = cluster::slice_id(gpu, placement.start);
    const bool there =
        std::ranges::any_of(inventory.instances, [&](const device::Instance& instance) {
          return instance.key.uuid == fleet_.instance(slice).uuid &&
                 instance.placement == placement;
        });
    if (there || vanished_.contains(slice.value)) continue;
    const bool foreign = fleet_.holder(slice) == Fleet::Holder::kForeign;
    event(0, foreign ? "foreign-gone" : "vanished", place_name(gpu, placement));
    if (foreign) {
      fleet_.remove(slice);
      pass_due_ = true;
    } else if (!PLANTED(ignore_vanished)) {
      vanished_.insert(slice.value);
      if (job_on(slice) != nullptr) stop_job_on(slice, "its slice vanished");
    }
    ++events_;
  }
  for (const device::Instance& instance : inventory.instances) {
    const SliceId slice = cluster::slice_id(gpu, instance.placement.start);
    if (fleet_.cluster().slice(slice).state != SliceState::kAbsent) continue;
    if (fleet_.add_foreign(gpu, instance.placement, instance.key)) {
      event(0, "foreign",
            fmt::format("{} was not made by this daemon and is left alone",
                        place_name(gpu, instance.placement)));
      ++events_;
    }
  }
  remove_vanished();
}

// What was ours before the GPU was out of use is ours again, or gone.
void Controller::take_back(const Inventory& inventory) {
  const GpuId gpu = inventory.gpu;
  const auto aside = set_aside_.extract(gpu.value);
  if (aside.empty()) return;
  for (const SetAside& each : aside.mapped()) {
    const auto found = std::ranges::find_if(
        inventory.instances,
        [&](const device::Instance& instance) { return is_ours(each, instance); });
    const bool there =
        found != inventory.instances.end() &&
        mig::fits(fleet_.model(), fleet_.cluster().gpus[gpu.value].layout, each.placement);
    if (!there) {
      const SliceId slice = cluster::slice_id(gpu, each.placement.start);
      const bool free = fleet_.cluster().slice(slice).state == SliceState::kAbsent;
      if (free) drop_instance(gpu, each.placement.start);  // else the row is another's by now
      continue;
    }
    fleet_.add_own(gpu, each.placement, found->key);
    write_instance(gpu, each.placement, SliceStage::kPresent, found->key.uuid);
    if (found->orphan()) {
      fleet_.condemn_slice(cluster::slice_id(gpu, each.placement.start));
    }
  }
  seat_stragglers();
  ++events_;
  pass_due_ = true;
}

// What could not be made is not there, or it is half there and goes.
void Controller::settle_failed_creates(const Inventory& inventory) {
  const GpuId gpu = inventory.gpu;
  for (auto each = failed_creates_.begin(); each != failed_creates_.end();) {
    const SliceId slice{each->first};
    const mig::Placement placement = each->second;
    if (cluster::gpu_of(slice) != gpu || fleet_.in_step(gpu)) {
      ++each;
      continue;
    }
    each = failed_creates_.erase(each);
    if (fleet_.cluster().slice(slice).state != SliceState::kAbsent) continue;  // since then made
    const auto left =
        std::ranges::find_if(inventory.instances, [&](const device::Instance& instance) {
          return instance.placement == placement && instance.orphan();
        });
    const mig::Layout& layout = fleet_.cluster().gpus[gpu.value].layout;
    const bool there =
        left != inventory.instances.end() && mig::fits(fleet_.model(), layout, placement);
    if (there) {
      begin_own_destroy(gpu, *left);
    } else {
      drop_instance(gpu, placement.start);
    }
  }
}

// A half-made slice of ours that policies know nothing of. REQUIRES: its place is free, and no step
// of the GPU is under way.
void Controller::begin_own_destroy(GpuId gpu, const device::Instance& instance) {
  fleet_.add_own(gpu, instance.placement, instance.key);
  fleet_.begin_destroy(gpu, instance.placement);
  intend("destroy", gpu_place(gpu, instance.placement.start));
  write_instance(gpu, instance.placement, SliceStage::kDestroying, instance.key.uuid);
  if (!options_.shadow) effect(Destroy{gpu, instance.placement, instance.key});
  event(0, "half-made", place_name(gpu, instance.placement) + " is destroyed");
}

void Controller::stop_job_on(SliceId slice, const std::string& why) {
  const Job* on = job_on(slice);
  if (on == nullptr) return;
  Job& job = jobs_.at(on->id);
  event(job.id, "stopping", why);
  if (may_move(job.state(), JobState::kRestarting)) move_to(job, JobState::kRestarting, why);
  stop(job, false);
}

// Slices that are gone from the GPU, once the jobs that were on them have been taken off.
void Controller::remove_vanished() {
  for (auto each = vanished_.begin(); each != vanished_.end();) {
    const SliceId slice{*each};
    if (job_on(slice) != nullptr || fleet_.in_step(cluster::gpu_of(slice))) {
      ++each;
      continue;
    }
    fleet_.remove(slice);
    drop_instance(cluster::gpu_of(slice), cluster::start_of(slice));
    pass_due_ = true;
    each = vanished_.erase(each);
  }
}

// ---- health

bool Controller::runs_own_job(GpuId gpu) const {
  for (const mig::Placement placement : fleet_.cluster().gpus[gpu.value].layout.instances()) {
    if (job_on(cluster::slice_id(gpu, placement.start)) != nullptr) return true;
  }
  return false;
}

void Controller::take(const GpuHealth& health) {
  if (!health.usable) returning_.erase(health.gpu.value);
  const bool was_usable = fleet_.usable(health.gpu);
  // One that was to be left when its jobs had ended may have to be left now.
  const bool worse =
      !was_usable && !health.usable && !health.may_finish && runs_own_job(health.gpu);
  if (health.usable == was_usable && !worse) return;
  if (health.usable) {
    returning_.insert(health.gpu.value);  // before its slices are known nothing may be made there
    return;
  }
  event(0, health.may_finish ? "gpu-drains" : "gpu-out",
        fmt::format("GPU {}: {}", health.gpu.value, health.why));
  ++events_;
  pass_due_ = true;
  fleet_.condemn(health.gpu, health.why);
  if (health.may_finish) return settle_unusable(health.gpu);
  for (const mig::Placement placement :
       fleet_.cluster().gpus[health.gpu.value].layout.instances()) {
    stop_job_on(cluster::slice_id(health.gpu, placement.start), "its GPU is out: " + health.why);
  }
  settle_unusable(health.gpu);
}

// A GPU that is out of use is emptied once nothing of ours is under way on it.
void Controller::settle_unusable(GpuId gpu) {
  if (fleet_.usable(gpu) || fleet_.blocked(gpu)) return;
  if (fleet_.in_step(gpu) || runs_own_job(gpu)) return;
  // A GPU that hangs keeps its slices, so the store keeps their rows.
  for (const mig::Placement placement : fleet_.cluster().gpus[gpu.value].layout.instances()) {
    const SliceId slice = cluster::slice_id(gpu, placement.start);
    if (fleet_.holder(slice) == Fleet::Holder::kForeign) continue;
    set_aside_[gpu.value].push_back({placement, fleet_.instance(slice).uuid, SliceStage::kPresent});
  }
  std::erase_if(vanished_,
                [&](std::uint32_t slice) { return cluster::gpu_of(SliceId{slice}) == gpu; });
  fleet_.block(gpu, fleet_.why_unusable(gpu));
  pass_due_ = true;
}

void Controller::take(const SliceFault& fault) {
  const SliceId slice = cluster::slice_id(fault.gpu, fault.start);
  if (!fleet_.usable(fault.gpu) || fleet_.cluster().slice(slice).state == SliceState::kAbsent) {
    return;
  }
  const Job* kept_for = claimant_of(slice);
  if (kept_for != nullptr) give_up_claim(jobs_.at(kept_for->id));
  event(0, "slice-fault", fmt::format("GPU {} at {}: {}", fault.gpu.value, fault.start, fault.why));
  stop_job_on(slice, fault.why);
  fleet_.condemn_slice(slice);
  ++events_;
  pass_due_ = true;
}

void Controller::take(const Remark& remark) {
  event(0, remark.kind, remark.text);
}

}  // namespace partita::control
