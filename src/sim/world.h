// World: the moving parts of a run and the few operations on them that keep their books in step.
#pragma once

#include <vector>

#include "cluster/cluster_state.h"
#include "decide/active_job.h"
#include "decide/view.h"
#include "sim/completions.h"
#include "sim/energy_meter.h"
#include "sim/run.h"
#include "sim/tally.h"

namespace partita::sim {

using cluster::JobHandle;
using cluster::SliceId;

struct World {
  explicit World(const RunOptions& run_options);

  // A waiting job runs on the slice from now on. REQUIRES: the slice is open and fits it.
  void start(JobHandle handle, SliceId slice);
  // A running job leaves its slice, to be moved or put to rest in the same instant.
  void vacate(JobHandle handle);
  // A vacated job goes on elsewhere. On a slice of the same size its completion stays what it was,
  // to the microsecond, unless interruptions cost.
  void move(JobHandle handle, SliceId slice);
  // A vacated job waits; it keeps its progress and pays the cost of preemption when it starts
  // again.
  void rest(JobHandle handle);
  // The job's work is done; it leaves its slice.
  void complete(JobHandle handle);

  // Books the present occupation of a GPU. Called after its slices changed.
  void meter_gpu(GpuId gpu) {
    const cluster::Gpu& state = cluster.gpus[gpu.value];
    meter.set(gpu, now, state.busy_compute_slices, state.busy_memory_slices);
  }

  // Writes down what the GPU offers from now on, with keep_schedule.
  void log_layout(GpuId gpu);
  void finish(RunResult& result);

  const RunOptions& options;
  Micros now;
  cluster::ClusterState cluster;
  decide::ActiveJobs jobs;
  Completions completions;
  EnergyMeter meter;
  Tally tally;
  RunResult counts;  // counters and logs, filled while running
  Micros last_completion;

 private:
  void occupy(decide::ActiveJob& job, JobHandle handle, SliceId slice);
  // The remaining fraction is work * time on the present slice from now on; gives the completion.
  void set_pace(decide::ActiveJob& job);
  void log_piece(const decide::ActiveJob& job);

  bool free_preemption_;
  std::vector<Micros> piece_begin_;        // by slice
  std::vector<LayoutPiece> open_layouts_;  // by GPU
};

}  // namespace partita::sim
