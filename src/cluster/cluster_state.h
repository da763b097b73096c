// ClusterState: what every GPU of the fleet holds at one instant, and the one way to change it.
//
// Time does not pass here: a referee looking at one position needs nothing else. The simulator, the
// live controller and the learning masks all move a ClusterState through apply().
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/units.h"
#include "mig/layout.h"
#include "workload/job.h"

namespace partita::cluster {

// A job as the owner of the state names it; the cluster only compares handles.
using JobHandle = Id<struct JobHandleTag>;

// A place where an instance can begin: GPU and first memory slice.
using SliceId = Id<struct SliceTag>;

inline constexpr std::uint32_t kSlotsPerGpu = mig::kMemorySlicesMax;

constexpr SliceId slice_id(GpuId gpu, std::uint8_t start) {
  return {gpu.value * kSlotsPerGpu + start};
}
constexpr GpuId gpu_of(SliceId slice) {
  return {slice.value / kSlotsPerGpu};
}
constexpr std::uint8_t start_of(SliceId slice) {
  return static_cast<std::uint8_t>(slice.value % kSlotsPerGpu);
}

enum class SliceState : std::uint8_t {
  kAbsent,  // no instance begins here
  kIdle,
  kBusy,
  kCreating,  // its memory slices are taken, nothing can run
  kDestroying,
};

struct Slice {
  SliceState state = SliceState::kAbsent;
  bool closing = false;  // to be destroyed: takes no new job
  mig::ProfileIndex profile = 0;
  std::uint8_t size_index = 0;  // into workload::kSliceSizes
  std::uint8_t compute_slices = 0;
  std::uint8_t memory_slices = 0;
  JobHandle job;  // valid when busy

  bool open() const { return state == SliceState::kIdle && !closing; }
  bool exists() const { return state == SliceState::kIdle || state == SliceState::kBusy; }
};

struct Gpu {
  mig::Layout layout;  // instances that exist or are being made or unmade
  std::uint8_t busy_compute_slices = 0;
  std::uint8_t busy_memory_slices = 0;
};

struct Action {
  enum class Kind : std::uint8_t {
    kStartJob,     // job on an open slice
    kStopJob,      // frees a busy slice
    kBeginCreate,  // profile at an empty place
    kFinishCreate,
    kBeginDestroy,  // an idle instance
    kFinishDestroy,
    kClose,  // takes no new job from now on
    kReopen,
  };
  Kind kind = Kind::kStartJob;
  SliceId slice;
  JobHandle job;                  // kStartJob
  mig::ProfileIndex profile = 0;  // kBeginCreate
};

// Invariants: (1) every GPU's layout is legal; (2) a slice is busy exactly when it has a job;
// (3) the busy counts are the sums over busy slices; (4) `layout_version` grows whenever the set of
// open or existing instances changes other than by starting and stopping jobs.
struct ClusterState {
  ClusterState(const mig::GpuModel& gpu_model, std::uint32_t gpu_count);

  const mig::GpuModel* model;
  std::vector<Gpu> gpus;
  std::vector<Slice> slices;  // gpus.size() * kSlotsPerGpu
  std::uint64_t layout_version = 0;

  const Slice& slice(SliceId id) const { return slices[id.value]; }
  std::uint32_t gpu_count() const { return static_cast<std::uint32_t>(gpus.size()); }
};

// Why the action is illegal in this state, or nothing when it is legal.
std::optional<std::string> why_not(const ClusterState& state, const Action& action);

// REQUIRES: the action is legal; checked in every build. Constant time.
void apply(ClusterState& state, const Action& action);

// The two actions of the simulator's inner loop, which apply() carries out by these.
inline void start_job(ClusterState& state, SliceId id, JobHandle job) {
  Slice& slice = state.slices[id.value];
  Gpu& gpu = state.gpus[gpu_of(id).value];
  CHECK(slice.open());
  slice.state = SliceState::kBusy;
  slice.job = job;
  gpu.busy_compute_slices =
      static_cast<std::uint8_t>(gpu.busy_compute_slices + slice.compute_slices);
  gpu.busy_memory_slices = static_cast<std::uint8_t>(gpu.busy_memory_slices + slice.memory_slices);
}

inline void stop_job(ClusterState& state, SliceId id) {
  Slice& slice = state.slices[id.value];
  Gpu& gpu = state.gpus[gpu_of(id).value];
  CHECK(slice.state == SliceState::kBusy);
  slice.state = SliceState::kIdle;
  slice.job = JobHandle{};
  gpu.busy_compute_slices =
      static_cast<std::uint8_t>(gpu.busy_compute_slices - slice.compute_slices);
  gpu.busy_memory_slices = static_cast<std::uint8_t>(gpu.busy_memory_slices - slice.memory_slices);
}

// A busy slice changes its job at one instant. REQUIRES: the job it had goes elsewhere or rests in
// the same instant.
inline void hand_over(ClusterState& state, SliceId id, JobHandle job) {
  Slice& slice = state.slices[id.value];
  CHECK(slice.state == SliceState::kBusy && !slice.closing);
  slice.job = job;
}

// The layout of the instances jobs can run on now: those that exist, without the ones being made or
// unmade.
mig::Layout usable_layout(const ClusterState& state, GpuId gpu);

// Sets a whole GPU at once, before time begins. REQUIRES: the GPU has no instance.
void place_layout(ClusterState& state, GpuId gpu, const mig::Layout& layout);

// ProfileFits: which profiles of a model can run a job.
class ProfileFits {
 public:
  explicit ProfileFits(const mig::GpuModel& model);

  // Profiles for whose size the job has a time and whose memory is enough; bit i is profile i.
  std::uint16_t operator()(const workload::Job& job) const {
    // Most jobs fit everywhere; a missing time is negative.
    std::int64_t shortest = 0;
    for (const Micros time : job.time) shortest = std::min(shortest, time.count);
    const bool everywhere = shortest >= 0 && static_cast<double>(job.memory_gib) <= memory_gib_min_;
    return everywhere ? all_ : one_by_one(job);
  }

 private:
  std::uint16_t one_by_one(const workload::Job& job) const;

  struct Row {
    std::uint16_t bit = 0;
    std::uint8_t size_index = 0;
    double memory_gib = 0;
  };
  std::vector<Row> rows_;
  std::uint16_t all_ = 0;
  double memory_gib_min_ = 0;  // every profile has at least this
};

}  // namespace partita::cluster
