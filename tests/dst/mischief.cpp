// What goes wrong in a simulated run: foreign slices, lost GPUs, hangs, faults of slices, reboots.
#include <fmt/format.h>

#include <algorithm>

#include "dst/world.h"

namespace partita::dst {

// What others do to the machine.
void World::mischief(std::vector<control::Input>& inputs) {
  const auto gpu = static_cast<std::uint32_t>(rng_.below(gpu_count_));
  if (faults_.foreign && rng_.below(60) == 0 && commands_[gpu].empty()) {
    mig::Layout layout;
    for (const DeviceSlice& slice : slices_[gpu]) layout.add(slice.placement);
    const auto profile = static_cast<mig::ProfileIndex>(rng_.below(model_->profiles.size()));
    const mig::Placement placement{profile, model_->profiles[profile].starts.back()};
    if (mig::fits(*model_, layout, placement) && !lost_[gpu]) {
      const std::uint32_t gi = next_gi_++;
      const std::string uuid = fmt::format("MIG-F{}", gi);
      slices_[gpu].push_back({placement, {GpuId{gpu}, gi, uuid}, true, false});
      foreign_uuids_.insert(uuid);
    }
  }
  break_gpu(gpu, inputs);
  if (faults_.reboots && rng_.below(400) == 0) reboot(inputs);
}

// What somebody else made in the very place, and of the profile, that was being made when we went
// down nobody can tell from ours.
void World::own_what_was_being_made() {
  const auto contents = store_.load();
  if (!contents) return wrong("load: " + contents.error().message);
  for (const store::InstanceRow& row : contents->instances) {
    if (row.state != static_cast<std::int64_t>(control::SliceStage::kCreating)) continue;
    const auto gpu = static_cast<std::uint32_t>(std::stoul(row.gpu.substr(row.gpu.find('-') + 1)));
    for (DeviceSlice& slice : slices_[gpu]) {
      const std::string& profile = model_->profiles[slice.placement.profile].name;
      if (slice.placement.start != row.start || profile != row.profile) continue;
      slice.foreign = false;
      foreign_uuids_.erase(slice.key.uuid);
    }
  }
}

void World::break_gpu(std::uint32_t gpu, std::vector<control::Input>& inputs) {
  if (faults_.slices_vanish && !slices_[gpu].empty() && rng_.below(150) == 0) {
    remove_slice(GpuId{gpu}, slices_[gpu][rng_.below(slices_[gpu].size())].key.uuid);
  }
  if (faults_.gpus_lost && !hung_[gpu] && rng_.below(200) == 0) {
    lost_[gpu] = !lost_[gpu];
    if (lost_[gpu]) {
      while (!slices_[gpu].empty()) remove_slice(GpuId{gpu}, slices_[gpu].back().key.uuid);
    }
    inputs.emplace_back(std::in_place_type<control::GpuHealth>, GpuId{gpu}, !lost_[gpu], "lost",
                        false);
  }
  if (faults_.slice_faults && rng_.below(100) == 0) {
    const auto start =
        static_cast<std::uint8_t>(rng_.below(static_cast<std::uint64_t>(model_->memory_slices)));
    inputs.emplace_back(std::in_place_type<control::SliceFault>, GpuId{gpu}, start, "Xid 94");
  }
  if (faults_.hangs && !lost_[gpu] && !drained_[gpu] && rng_.below(150) == 0) {
    hung_[gpu] = !hung_[gpu];
    told_hung_[gpu] = false;
    if (!hung_[gpu]) inputs.push_back(control::GpuHealth{GpuId{gpu}, true, "", false});
  }
  // A reset takes all slices with it, so it comes when nothing runs.
  const bool runs = std::ranges::any_of(
      processes_, [&](const auto& each) { return each.second.running && each.second.gpu == gpu; });
  if (faults_.drains && !lost_[gpu] && !hung_[gpu] && (!drained_[gpu] || !runs) &&
      rng_.below(200) == 0) {
    drained_[gpu] = !drained_[gpu];
    while (!drained_[gpu] && !slices_[gpu].empty()) {
      remove_slice(GpuId{gpu}, slices_[gpu].back().key.uuid);
    }
    inputs.push_back(control::GpuHealth{GpuId{gpu}, !drained_[gpu], "Xid 63", true});
  }
}

void World::reboot(std::vector<control::Input>& inputs) {
  for (auto& [key, process] : processes_) {
    if (!process.running) continue;
    process.running = false;
    process.exit_code = -1;
  }
  for (std::uint32_t i = 0; i < gpu_count_; ++i) {
    while (!slices_[i].empty()) remove_slice(GpuId{i}, slices_[i].back().key.uuid);
    lost_[i] = hung_[i] = drained_[i] = false;
    commands_[i].clear();
  }
  for (auto& [key, process] : processes_) {
    if (!process.claimed) process.begins_at = Micros::max();
  }
  inputs.clear();
  crash();
}

// A slice whose making was under way when the controller died, on a GPU that then did not answer,
// cannot be told from a foreign one. It is shown as such, and an operator removes it.
void World::remove_ambiguous() {
  constexpr int kStepsToSeeAll = 60;
  for (int i = 0; i < kStepsToSeeAll && !wrong_; ++i) turn(false);
  for (std::uint32_t i = 0; i < gpu_count_ && !wrong_; ++i) {
    const auto slices = slices_[i];
    for (const DeviceSlice& slice : slices) {
      const auto id = cluster::slice_id(GpuId{i}, slice.placement.start);
      const bool foreign = controller_->fleet().holder(id) == control::Fleet::Holder::kForeign;
      if (foreign) remove_slice(GpuId{i}, slice.key.uuid);
    }
  }
}

}  // namespace partita::dst
