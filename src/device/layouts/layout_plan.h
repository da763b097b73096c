// Layout plans: the fewest steps from what is on the GPUs to what is wanted, touching nothing that
// is in use; or who is in the way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/backend.h"
#include "device/layouts/mig_config.h"
#include "mig/layout.h"

namespace partita::device {

// A slice and who is on it.
struct Occupied {
  Instance instance;
  std::vector<ProcessUse> processes;

  bool busy() const { return !processes.empty(); }
};

// One GPU as it is.
struct GpuSituation {
  GpuInfo gpu;
  std::vector<Occupied> slices;  // in order of start
};

// Reads all GPUs. A GPU in trouble is an error, since nothing can be planned for it.
Answer<std::vector<GpuSituation>> read_situation(Backend& backend);

// One GPU as it is wanted. With `exact`, that very layout; else any arrangement of `mix`.
struct GpuWish {
  bool mig_enabled = true;
  std::vector<mig::ProfileIndex> mix;
  std::optional<mig::Layout> exact;
};

struct PlanStep {
  enum class Kind : std::uint8_t { kEnableMig, kDestroy, kCreate, kDisableMig };
  Kind kind = Kind::kCreate;
  mig::Placement placement;  // not for a change of mode
  InstanceKey key;           // what is destroyed
  Micros duration;           // as the model says; 0 for a change of mode, whose time is not known

  bool operator==(const PlanStep&) const = default;
};

struct GpuPlan {
  GpuSituation from;
  GpuWish wish;
  mig::Layout target;
  std::vector<Occupied> kept;
  std::vector<PlanStep> steps;       // legal one after the other; empty when blocked
  std::vector<Occupied> blocked_by;  // busy slices that every arrangement would cost

  bool possible() const { return blocked_by.empty(); }
  Micros duration() const;
};

// Of all arrangements of the wish the one that costs no busy slice and the fewest steps, then the
// least time. Orphans never stay. An error when the wish fits no layout of this GPU at all.
Result<GpuPlan> plan_gpu(const GpuSituation& from, const GpuWish& wish);

// The wish of a configuration for one GPU: of its last entry that matches; nothing when none does.
// An error for profiles this GPU does not have.
Result<std::optional<GpuWish>> wish_for(const MigConfig& config, const GpuInfo& gpu);

// GPUs that the configuration names and a node with so many lacks, in order. They are left out of
// plans, as mig-parted does; whoever plans says so.
std::vector<int> missing_gpus(const MigConfig& config, std::size_t gpus);

// A plan for every GPU that is there and that the configuration names.
Result<std::vector<GpuPlan>> plan_config(const MigConfig& config,
                                         const std::vector<GpuSituation>& situation);

// "GPU 0: 3g.20gb:4 (MIG-...) is in use by process 812 and stands in the way of ...".
std::string blocked_sentence(const GpuPlan& plan);

// What is on the GPUs, in mig-parted's words: GPUs that look the same share an entry.
MigConfig config_of(const std::vector<GpuSituation>& situation);

// Labels and layouts that are worth having on these GPUs: all-disabled, all-enabled, all-balanced,
// as many of each profile as fit, and every mix that fills the GPU.
MigConfigFile useful_configs(const std::vector<GpuInfo>& gpus);

}  // namespace partita::device
