#include "cluster/cluster_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace partita::cluster {
namespace {

using Kind = Action::Kind;

std::string place_name(SliceId slice) {
  return fmt::format("GPU {} memory slice {}", gpu_of(slice).value, start_of(slice));
}

bool state_allows(const Slice& slice, Kind kind) {
  switch (kind) {
    case Kind::kStartJob:
      return slice.open();
    case Kind::kStopJob:
      return slice.state == SliceState::kBusy;
    case Kind::kBeginCreate:
      return slice.state == SliceState::kAbsent;
    case Kind::kFinishCreate:
      return slice.state == SliceState::kCreating;
    case Kind::kBeginDestroy:
      return slice.state == SliceState::kIdle;
    case Kind::kFinishDestroy:
      return slice.state == SliceState::kDestroying;
    case Kind::kClose:
    case Kind::kReopen:
      return slice.state != SliceState::kAbsent;
  }
  return false;
}

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::kStartJob:
      return "start a job";
    case Kind::kStopJob:
      return "stop a job";
    case Kind::kBeginCreate:
      return "create an instance";
    case Kind::kFinishCreate:
      return "finish a creation";
    case Kind::kBeginDestroy:
      return "destroy an instance";
    case Kind::kFinishDestroy:
      return "finish a destruction";
    case Kind::kClose:
      return "close an instance";
    case Kind::kReopen:
      return "reopen an instance";
  }
  return "";
}

const char* state_name(const Slice& slice) {
  switch (slice.state) {
    case SliceState::kAbsent:
      return "has no instance";
    case SliceState::kIdle:
      return slice.closing ? "is closing" : "is idle";
    case SliceState::kBusy:
      return "is busy";
    case SliceState::kCreating:
      return "is being created";
    case SliceState::kDestroying:
      return "is being destroyed";
  }
  return "";
}

void begin_create(ClusterState& state, SliceId id, mig::ProfileIndex profile) {
  const mig::Profile& facts = state.model->profiles[profile];
  const auto size_index = workload::slice_size_index(facts.compute_slices);
  CHECK(size_index.has_value());
  state.gpus[gpu_of(id).value].layout.add({profile, start_of(id)});
  state.slices[id.value] = {.state = SliceState::kCreating,
                            .closing = false,
                            .profile = profile,
                            .size_index = static_cast<std::uint8_t>(*size_index),
                            .compute_slices = static_cast<std::uint8_t>(facts.compute_slices),
                            .memory_slices = static_cast<std::uint8_t>(facts.memory_slices),
                            .job = {}};
}

void change_instance(ClusterState& state, const Action& action) {
  Slice& slice = state.slices[action.slice.value];
  ++state.layout_version;
  switch (action.kind) {
    case Kind::kBeginCreate:
      return begin_create(state, action.slice, action.profile);
    case Kind::kFinishCreate:
      slice.state = SliceState::kIdle;
      return;
    case Kind::kBeginDestroy:
      slice.state = SliceState::kDestroying;
      return;
    case Kind::kFinishDestroy:
      state.gpus[gpu_of(action.slice).value].layout.remove({slice.profile, start_of(action.slice)});
      slice = Slice{};
      return;
    case Kind::kClose:
      slice.closing = true;
      return;
    case Kind::kReopen:
      slice.closing = false;
      return;
    case Kind::kStartJob:
    case Kind::kStopJob:
      CHECK(false);
  }
}

}  // namespace

ClusterState::ClusterState(const mig::GpuModel& gpu_model, std::uint32_t gpu_count)
    : model(&gpu_model), gpus(gpu_count), slices(std::size_t{gpu_count} * kSlotsPerGpu) {}

std::optional<std::string> why_not(const ClusterState& state, const Action& action) {
  if (action.slice.value >= state.slices.size()) {
    return fmt::format("there is no GPU {}", gpu_of(action.slice).value);
  }
  const Slice& slice = state.slice(action.slice);
  if (!state_allows(slice, action.kind)) {
    return fmt::format("cannot {}: {} {}", kind_name(action.kind), place_name(action.slice),
                       state_name(slice));
  }
  if (action.kind != Kind::kBeginCreate) return {};
  return mig::why_not(*state.model, state.gpus[gpu_of(action.slice).value].layout,
                      {action.profile, start_of(action.slice)});
}

void apply(ClusterState& state, const Action& action) {
  CHECK(action.slice.value < state.slices.size());
  CHECK(state_allows(state.slices[action.slice.value], action.kind));
  if (action.kind == Kind::kStartJob) return start_job(state, action.slice, action.job);
  if (action.kind == Kind::kStopJob) return stop_job(state, action.slice);
  if (action.kind == Kind::kBeginCreate) {
    const Gpu& gpu = state.gpus[gpu_of(action.slice).value];
    CHECK(mig::fits(*state.model, gpu.layout, {action.profile, start_of(action.slice)}));
  }
  change_instance(state, action);
}

mig::Layout usable_layout(const ClusterState& state, GpuId gpu) {
  mig::Layout usable;
  for (const mig::Placement placement : state.gpus[gpu.value].layout.instances()) {
    if (state.slice(slice_id(gpu, placement.start)).exists()) usable.add(placement);
  }
  return usable;
}

void place_layout(ClusterState& state, GpuId gpu, const mig::Layout& layout) {
  CHECK(state.gpus[gpu.value].layout.empty());
  for (const mig::Placement placement : layout.instances()) {
    const SliceId slice = slice_id(gpu, placement.start);
    apply(state,
          {.kind = Kind::kBeginCreate, .slice = slice, .job = {}, .profile = placement.profile});
    apply(state, {.kind = Kind::kFinishCreate, .slice = slice, .job = {}, .profile = 0});
  }
}

ProfileFits::ProfileFits(const mig::GpuModel& model)
    : memory_gib_min_(std::numeric_limits<double>::infinity()) {
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    const mig::Profile& profile = model.profiles[i];
    const auto size = workload::slice_size_index(profile.compute_slices);
    CHECK(size.has_value());
    rows_.push_back({static_cast<std::uint16_t>(1U << i), static_cast<std::uint8_t>(*size),
                     profile.memory_gib});
    all_ = static_cast<std::uint16_t>(all_ | rows_.back().bit);
    memory_gib_min_ = std::min(memory_gib_min_, profile.memory_gib);
  }
}

std::uint16_t ProfileFits::one_by_one(const workload::Job& job) const {
  const auto memory = static_cast<double>(job.memory_gib);
  unsigned mask = 0;
  for (const Row& row : rows_) {
    const bool fits = job.time[row.size_index] != workload::kNoTime && memory <= row.memory_gib;
    mask |= fits ? row.bit : 0U;
  }
  return static_cast<std::uint16_t>(mask);
}

}  // namespace partita::cluster
