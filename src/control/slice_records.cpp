#include "control/slice_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "control/planted.h"

namespace partita::control {
namespace {

using cluster::SliceId;
using cluster::SliceState;

const store::InstanceRow* row_at(const store::Contents& contents, const std::string& gpu,
                                 std::uint8_t start) {
  for (const store::InstanceRow& row : contents.instances) {
    if (row.gpu == gpu && row.start == start) return &row;
  }
  return nullptr;
}

}  // namespace

bool is_ours(const SetAside& known, const device::Instance& instance) {
  if (known.placement != instance.placement) return false;
  if (known.stage == SliceStage::kCreating || known.uuid == instance.key.uuid) return true;
  // The compute instance, and with it the UUID, is gone already or never was.
  const bool half = known.stage == SliceStage::kDestroying || known.stage == SliceStage::kDoubtful;
  return half && instance.orphan();
}

void SliceRecords::write(GpuId gpu, mig::Placement placement, SliceStage stage,
                         const std::string& uuid) {
  state_.turn.write(store::InstanceRow{state_.fleet.gpus()[gpu.value].uuid, placement.start,
                                       state_.model().profiles[placement.profile].name, uuid,
                                       static_cast<std::int64_t>(stage), state_.now.count});
}

void SliceRecords::drop(GpuId gpu, std::uint8_t start) {
  state_.turn.drop({state_.fleet.gpus()[gpu.value].uuid, start});
}

// ---- steps

void SliceRecords::begin_layout_steps() {
  if (state_.options.shadow) return;
  for (const Fleet::Step& step : state_.fleet.begin_steps(state_.now)) {
    const std::string subject = state_.subject_of(step.gpu, step.placement.start);
    if (step.kind == mig::ChangeStep::Kind::kCreate) {
      state_.turn.intend("create", subject);
      write(step.gpu, step.placement, SliceStage::kCreating, "");
      state_.turn.effect(Create{step.gpu, step.placement});
      continue;
    }
    const device::InstanceKey& key =
        state_.fleet.instance(cluster::slice_id(step.gpu, step.placement.start));
    state_.turn.intend("destroy", subject);
    write(step.gpu, step.placement, SliceStage::kDestroying, key.uuid);
    state_.turn.effect(Destroy{step.gpu, step.placement, key});
  }
}

void SliceRecords::begin_own_destroy(GpuId gpu, const device::Instance& instance) {
  state_.fleet.add_own(gpu, instance.placement, instance.key);
  state_.fleet.begin_destroy(gpu, instance.placement);
  state_.turn.intend("destroy", state_.subject_of(gpu, instance.placement.start));
  write(gpu, instance.placement, SliceStage::kDestroying, instance.key.uuid);
  if (!state_.options.shadow) {
    state_.turn.effect(Destroy{gpu, instance.placement, instance.key});
  }
  state_.turn.event(kNoJob, "half-made", state_.name_of(gpu, instance.placement) + " is destroyed");
}

void SliceRecords::take(const CreateDone& done) {
  const SliceId slice = cluster::slice_id(done.gpu, done.placement.start);
  state_.turn.met("create", state_.subject_of(done.gpu, done.placement.start));
  if (state_.fleet.cluster().slice(slice).state != SliceState::kCreating) return;  // overtaken
  state_.pass_due = true;
  const std::string place = state_.name_of(done.gpu, done.placement);
  if (done.instance) {
    state_.fleet.created(done.gpu, done.placement, done.instance->key);
    failed_creates_.erase(slice);
    write(done.gpu, done.placement, SliceStage::kPresent, done.instance->key.uuid);
    state_.turn.event(kNoJob, "created", fmt::format("{} {}", place, done.instance->key.uuid));
  } else {
    state_.fleet.not_created(done.gpu, done.placement, state_.now);
    // The row stays until the next inventory: half of the slice may be there.
    failed_creates_[slice] = done.placement;
    write(done.gpu, done.placement, SliceStage::kDoubtful, "");
    if (PLANTED(leak_failed_create)) {
      failed_creates_.erase(slice);
      drop(done.gpu, done.placement.start);
    }
    state_.turn.event(kNoJob, "not-created", fmt::format("{}: {}", place, done.error.message));
    ++state_.events;  // policies decide again
  }
  settle_unusable(done.gpu);
}

void SliceRecords::take(const DestroyDone& done) {
  const SliceId slice = cluster::slice_id(done.gpu, done.placement.start);
  state_.turn.met("destroy", state_.subject_of(done.gpu, done.placement.start));
  if (state_.fleet.cluster().slice(slice).state != SliceState::kDestroying) return;
  state_.pass_due = true;
  const std::string place = state_.name_of(done.gpu, done.placement);
  if (done.gone) {
    state_.fleet.destroyed(done.gpu, done.placement);
    drop(done.gpu, done.placement.start);
    state_.turn.event(kNoJob, "destroyed", place);
    return settle_unusable(done.gpu);
  }
  const std::string uuid = state_.fleet.instance(slice).uuid;
  const bool given_up = state_.fleet.not_destroyed(done.gpu, done.placement, state_.now);
  write(done.gpu, done.placement, SliceStage::kPresent, uuid);
  state_.turn.event(kNoJob, given_up ? "quarantined" : "not-destroyed",
                    fmt::format("{}: {}", place, done.error.message));
  ++state_.events;
  settle_unusable(done.gpu);
}

// ---- an inventory

void SliceRecords::find_vanished(const Inventory& inventory,
                                 const std::function<void(SliceId)>& ours_gone) {
  const GpuId gpu = inventory.gpu;
  const mig::Layout known = state_.fleet.cluster().gpus[gpu.value].layout;
  for (const mig::Placement placement : known.instances()) {
    const SliceId slice = cluster::slice_id(gpu, placement.start);
    const bool there =
        std::ranges::any_of(inventory.instances, [&](const device::Instance& instance) {
          return instance.key.uuid == state_.fleet.instance(slice).uuid &&
                 instance.placement == placement;
        });
    if (there || vanished(slice)) continue;
    const bool foreign = state_.fleet.holder(slice) == Fleet::Holder::kForeign;
    state_.turn.event(kNoJob, foreign ? "foreign-gone" : "vanished",
                      state_.name_of(gpu, placement));
    ++state_.events;
    if (foreign) {
      state_.fleet.remove(slice);
      state_.pass_due = true;
      continue;
    }
    if (PLANTED(ignore_vanished)) continue;
    vanished_.insert(slice);
    ours_gone(slice);
  }
}

void SliceRecords::add_foreign(const Inventory& inventory) {
  for (const device::Instance& instance : inventory.instances) {
    const SliceId slice = cluster::slice_id(inventory.gpu, instance.placement.start);
    if (state_.fleet.cluster().slice(slice).state != SliceState::kAbsent) continue;
    if (!state_.fleet.add_foreign(inventory.gpu, instance.placement, instance.key)) continue;
    state_.turn.event(kNoJob, "foreign",
                      fmt::format("{} was not made by this daemon and is left alone",
                                  state_.name_of(inventory.gpu, instance.placement)));
    ++state_.events;
  }
}

void SliceRecords::take_back(const Inventory& inventory) {
  const GpuId gpu = inventory.gpu;
  const auto aside = set_aside_.extract(gpu);
  if (aside.empty()) return;
  for (const SetAside& each : aside.mapped()) {
    const SliceId slice = cluster::slice_id(gpu, each.placement.start);
    const auto found = std::ranges::find_if(
        inventory.instances,
        [&](const device::Instance& instance) { return is_ours(each, instance); });
    const bool there =
        found != inventory.instances.end() &&
        mig::fits(state_.model(), state_.fleet.cluster().gpus[gpu.value].layout, each.placement);
    if (!there) {
      const bool free = state_.fleet.cluster().slice(slice).state == SliceState::kAbsent;
      if (free) drop(gpu, each.placement.start);  // else the row is another's by now
      continue;
    }
    state_.fleet.add_own(gpu, each.placement, found->key);
    write(gpu, each.placement, SliceStage::kPresent, found->key.uuid);
    if (found->orphan()) state_.fleet.condemn_slice(slice);
  }
  seat_stragglers();
  state_.note_event();
}

void SliceRecords::settle_failed_creates(const Inventory& inventory) {
  const GpuId gpu = inventory.gpu;
  for (auto each = failed_creates_.begin(); each != failed_creates_.end();) {
    const auto [slice, placement] = *each;
    if (cluster::gpu_of(slice) != gpu || state_.fleet.in_step(gpu)) {
      ++each;
      continue;
    }
    each = failed_creates_.erase(each);
    const cluster::ClusterState& cluster = state_.fleet.cluster();
    if (cluster.slice(slice).state != SliceState::kAbsent) continue;  // since then made
    const auto left = std::ranges::find_if(
        inventory.instances, [&placed = placement](const device::Instance& instance) {
          return instance.placement == placed && instance.orphan();
        });
    const bool there = left != inventory.instances.end() &&
                       mig::fits(state_.model(), cluster.gpus[gpu.value].layout, placement);
    if (there) {
      begin_own_destroy(gpu, *left);
    } else {
      drop(gpu, placement.start);
    }
  }
}

void SliceRecords::remove_vanished() {
  for (auto each = vanished_.begin(); each != vanished_.end();) {
    const SliceId slice = *each;
    if (state_.job_on(slice) != nullptr || state_.fleet.in_step(cluster::gpu_of(slice))) {
      ++each;
      continue;
    }
    state_.fleet.remove(slice);
    drop(cluster::gpu_of(slice), cluster::start_of(slice));
    state_.pass_due = true;
    each = vanished_.erase(each);
  }
}

void SliceRecords::settle_unusable(GpuId gpu) {
  Fleet& fleet = state_.fleet;
  if (fleet.usable(gpu) || fleet.blocked(gpu)) return;
  if (fleet.in_step(gpu) || state_.runs_own_job(gpu)) return;
  // A GPU that hangs keeps its slices, so the store keeps their rows.
  for (const mig::Placement placement : fleet.cluster().gpus[gpu.value].layout.instances()) {
    const SliceId slice = cluster::slice_id(gpu, placement.start);
    if (fleet.holder(slice) == Fleet::Holder::kForeign) continue;
    set_aside_[gpu].push_back({placement, fleet.instance(slice).uuid, SliceStage::kPresent});
  }
  std::erase_if(vanished_, [&](SliceId slice) { return cluster::gpu_of(slice) == gpu; });
  fleet.block(gpu, fleet.why_unusable(gpu));
  state_.pass_due = true;
}

// ---- a controller begins

std::optional<SetAside> SliceRecords::known_slice(const store::InstanceRow& row) const {
  const auto profile = mig::parse_profile(state_.model(), row.profile);
  if (!profile) return {};
  return SetAside{{*profile, static_cast<std::uint8_t>(row.start)},
                  row.uuid,
                  static_cast<SliceStage>(row.state)};
}

void SliceRecords::reconcile_instance(GpuId gpu, const device::Instance& instance,
                                      const store::InstanceRow* row) {
  Fleet& fleet = state_.fleet;
  const auto known = row == nullptr ? std::nullopt : known_slice(*row);
  bool ours = known && is_ours(*known, instance);
  if (PLANTED(destroy_foreign)) ours = true;
  if (!ours) {
    if (!fleet.add_foreign(gpu, instance.placement, instance.key)) return;
    return state_.turn.event(
        kNoJob, "foreign",
        state_.name_of(gpu, instance.placement) + " was not made by this daemon and is left alone");
  }
  if (!mig::fits(state_.model(), fleet.cluster().gpus[gpu.value].layout, instance.placement)) {
    return;
  }
  // Half made or half unmade when we went down: the rest goes.
  if (instance.orphan() && !fleet.in_step(gpu)) return begin_own_destroy(gpu, instance);
  fleet.add_own(gpu, instance.placement, instance.key);
  if (instance.orphan()) {  // the second of two: after the first
    return fleet.condemn_slice(cluster::slice_id(gpu, instance.placement.start));
  }
  const bool settled =
      row != nullptr && row->state == static_cast<std::int64_t>(SliceStage::kPresent);
  if (!settled) write(gpu, instance.placement, SliceStage::kPresent, instance.key.uuid);
}

void SliceRecords::reconcile(const Inventory& inventory, const store::Contents& contents) {
  const GpuId gpu = inventory.gpu;
  const std::string& uuid = state_.fleet.gpus()[gpu.value].uuid;
  for (const device::Instance& instance : inventory.instances) {
    reconcile_instance(gpu, instance, row_at(contents, uuid, instance.placement.start));
  }
  for (const store::InstanceRow& row : contents.instances) {
    if (row.gpu != uuid) continue;
    const SliceId slice = cluster::slice_id(gpu, static_cast<std::uint8_t>(row.start));
    const bool there = state_.fleet.cluster().slice(slice).state != SliceState::kAbsent &&
                       state_.fleet.holder(slice) == Fleet::Holder::kNobody;
    if (there) continue;
    drop(gpu, static_cast<std::uint8_t>(row.start));
    if (row.state == static_cast<std::int64_t>(SliceStage::kPresent)) {
      state_.turn.event(kNoJob, "vanished",
                        fmt::format("GPU {} {}:{}", gpu.value, row.profile, row.start));
    }
  }
}

void SliceRecords::set_unseen_aside(std::span<const Inventory> inventories,
                                    const store::Contents& contents) {
  for (const store::InstanceRow& row : contents.instances) {
    const auto gpu = state_.fleet.gpu_of_uuid(row.gpu);
    const auto known = known_slice(row);
    if (!gpu || !known) continue;
    const bool seen =
        std::ranges::any_of(inventories, [&](const Inventory& each) { return each.gpu == *gpu; });
    if (seen) continue;
    SetAside& aside = set_aside_[*gpu].emplace_back(*known);
    // Long may pass until it answers, and others may make slices meanwhile.
    if (aside.stage == SliceStage::kCreating) aside.stage = SliceStage::kDoubtful;
  }
}

void SliceRecords::drop_lost_gpus(const store::Contents& contents) {
  for (const store::InstanceRow& row : contents.instances) {
    if (state_.fleet.gpu_of_uuid(row.gpu)) continue;
    state_.turn.event(kNoJob, "vanished", fmt::format("{} is no longer in this machine", row.gpu));
    state_.turn.drop({row.gpu, row.start});
  }
}

void SliceRecords::seat(Job& job) {
  const store::AttemptRow& attempt = job.attempt();
  const auto gpu = state_.fleet.gpu_of_uuid(attempt.gpu);
  if (!gpu) return;
  const SliceId slice = cluster::slice_id(*gpu, static_cast<std::uint8_t>(attempt.start));
  const cluster::Slice& place = state_.fleet.cluster().slice(slice);
  if (!place.open() || state_.fleet.instance(slice).uuid != attempt.instance) return;
  cluster::start_job(state_.fleet.cluster(), slice, job.handle);
  decide::ActiveJob& active = state_.active[job.handle];
  active.slice = slice;
  active.size_index = place.size_index;
  active.started = true;
  active.first_start = active.progress_from = Micros{attempt.started_us};
  active.finish =
      active.progress_from + Micros{static_cast<std::int64_t>(active.time[place.size_index])};
}

// A daemon that was started while a GPU did not answer knows of jobs whose processes are on it, but
// not of their slices. Those are nobody else's until the processes have ended.
void SliceRecords::seat_stragglers() {
  for (auto& [id, job] : state_.jobs.all()) {
    if (holds_slice(job.state()) && !state_.active[job.handle].slice.valid()) seat(job);
  }
}

}  // namespace partita::control
