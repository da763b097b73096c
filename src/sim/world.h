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

struct World {
  explicit World(const RunOptions& run_options);

  // The job runs on the slice from now on. REQUIRES: it waits, and the slice is open and fits it.
  void start_piece(JobHandle handle, SliceId slice);
  // The job is interrupted and waits; it keeps its progress and pays the cost of preemption later.
  void stop_piece(JobHandle handle);
  // The job's work is done; it leaves.
  void complete(JobHandle handle);

  // Books the present occupation of a GPU. Called after its slices changed.
  void meter_gpu(GpuId gpu);

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
  // Frees the slice and writes the piece down.
  void end_piece(decide::ActiveJob& job);

  std::vector<Micros> piece_begin_;        // by slice
  std::vector<LayoutPiece> open_layouts_;  // by GPU
};

}  // namespace partita::sim
