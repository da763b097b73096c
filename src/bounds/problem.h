// Problem: jobs and fleet as the numbers a relaxation works on: times by mode, loads of one GPU.
//
// A mode is a shape of instance (compute and memory slices); a load is a set of busy instances that
// one GPU can hold, with the watts it draws above an idle one. Layouts, placements and power curves
// enter here and nowhere else.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "mig/gpu_model.h"
#include "workload/job.h"

namespace partita::bounds {

inline constexpr std::size_t kModesMax = 8;
inline constexpr double kMicrosPerSecond = 1e6;
inline constexpr double kSecondsPerMicro = 1e-6;

// Of every job only this much is asked for. The simulator keeps the work left in doubles; what
// thousands of interruptions could round away is far less than the rest.
inline constexpr double kWorkAsked = 1 - 1e-9;

struct Fleet {
  const mig::GpuModel* model = nullptr;
  const mig::PowerCurve* power = nullptr;
  std::uint32_t gpus = 0;
  Micros horizon;  // energy is counted at least up to here
};

struct Mode {
  int compute = 0;
  int memory = 0;
  std::size_t size_index = 0;  // into workload::kSliceSizes
  double memory_gib = 0;       // of the roomiest profile of this shape
};

// Busy instances of one GPU.
struct Load {
  std::array<std::uint8_t, kModesMax> count{};  // by mode
  int compute = 0;                              // slices, all told
  double watts = 0;                             // above those of an idle GPU
  double watts_after = 0;                       // all of them, or 0 when idle: see on_until
};

struct BoundJob {
  double release = 0;  // times in microseconds, whole numbers
  double due = 0;
  std::array<double, kModesMax> time{};  // of the whole job by mode; 0: it may not run there

  double fastest() const;
  // The fewest compute-slice microseconds the job can be done with. REQUIRES: as many modes.
  double least_work(const std::vector<Mode>& modes) const;
};

struct Problem {
  std::vector<Mode> modes;
  std::vector<Load> loads;  // every load worth having, the idle GPU first
  double idle_watts = 0;
  std::vector<double> busy_watts;  // above idle, by busy compute slices
  int compute_slices = 0;
  std::uint32_t gpus = 0;
  double horizon = 0;          // microseconds
  std::vector<BoundJob> jobs;  // in order of release
  // No schedule ends before this instant, so every GPU is on up to here. What runs later is charged
  // with all that a busy GPU draws, and GPUs that idle then with nothing.
  double on_until = 0;
};

// Fails on a fleet without GPUs, on no jobs, and on a job that fits no profile of the GPU.
Result<Problem> make_problem(const workload::Trace& trace, const Fleet& fleet);

// To be called when jobs, GPUs or the horizon of a problem were changed by hand.
void set_on_until(Problem& problem);

}  // namespace partita::bounds
