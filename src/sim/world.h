// World: the moving parts of a run and the few operations on them that keep their books in step.
#pragma once

#include <span>
#include <vector>

#include "cluster/cluster_state.h"
#include "decide/active_job.h"
#include "decide/fragmentation.h"
#include "decide/position_forecaster.h"
#include "decide/scheduler.h"
#include "decide/survival.h"
#include "decide/view.h"
#include "sim/completions.h"
#include "sim/energy_meter.h"
#include "sim/estimates.h"
#include "sim/memory_watch.h"
#include "sim/run.h"
#include "sim/tally.h"

namespace partita::sim {

using cluster::JobHandle;
using cluster::SliceId;

struct World {
  explicit World(const RunOptions& run_options);

  // Carries out a decision: all moves happen in one instant, so jobs may change places. A job that
  // moves to a slice of the same size keeps its completion, to the microsecond, unless
  // interruptions cost. One that goes to rest keeps its progress and pays the cost when it starts
  // again.
  void carry_out(std::span<const decide::Move> moves);
  // One job goes to rest.
  void interrupt(JobHandle handle) {
    const decide::Move move{handle, SliceId{}};
    carry_out({&move, 1});
  }
  // The job's work is done; it leaves its slice.
  void complete(JobHandle handle);
  // Whether a job that is due now is not done, but has to leave for a slice with more memory.
  bool due_for_memory(JobHandle handle) const { return memory.any() && jobs[handle].finish != now; }
  // It leaves its slice, waits, and has to begin from nothing on a larger one.
  void restart_larger(JobHandle handle);

  // A job comes, and policies are told of it what they are told.
  JobHandle add_job(const workload::Job& job, JobId id, std::uint16_t fits);
  // The job at the head of the completions is not done: only its estimate has run out.
  bool outlived_estimate(JobHandle handle) const {
    return !estimates.exact() && !estimates.done(handle, now);
  }
  // It goes on where it runs, and more work is believed to be left.
  void extend_estimate(JobHandle handle);

  // Books the present occupation of a GPU. Called after its slices changed.
  void meter_gpu(GpuId gpu) {
    const cluster::Gpu& state = cluster.gpus[gpu.value];
    meter.set(gpu, now, state.busy_compute_slices, state.busy_memory_slices);
  }

  // Writes down what the GPU offers from now on, with keep_schedule.
  void log_layout(GpuId gpu);
  void finish(RunResult& result);

  // Takes over the position of another world of the same options: time, cluster, jobs and their
  // completions, the state of the meter; not its counters and logs. Where run times and memory
  // needs are estimates, they are taken for the truth; but of a job so much is left as was of those
  // before it at its age (decide/survival.h).
  void copy_position(const World& other);
  // The same of a part of another world, whose GPUs are those of this one in that order: the jobs
  // that run there, and of the waiting ones the share that the part is of the whole, evenly taken.
  // REQUIRES: as many GPUs as this world has.
  void copy_part(const World& other, std::span<const GpuId> gpus);
  // Takes its position from what a policy sees, where nobody knows more: run times are estimates
  // and taken for the truth, but a job that has outlived its own is believed as sim/estimates.h
  // does. A slice that is kept from use stays so. Of more than `waiting_max` waiting jobs so many
  // are taken, evenly. Gives the highest number of a job.
  // The outlook may know more.
  JobId take_view(const decide::View& view, std::size_t waiting_max,
                  const decide::Outlook& outlook);

  // What a job that comes is expected to take, in times it is said to; for forecasts. And such a
  // job with the times it is expected to take.
  double newcomer_length() const;
  workload::Job as_expected(const workload::Job& job) const;

  const RunOptions& options;
  Micros now;
  cluster::ClusterState cluster;
  decide::ActiveJobs jobs;
  Completions completions;  // and the instants at which jobs leave for more memory
  Estimates estimates;
  decide::Survival survival;  // where run times are estimates
  MemoryWatch memory;
  EnergyMeter meter;
  Tally tally;
  RunResult counts;  // counters and logs, filled while running
  Micros last_completion;
  decide::QueuedWork* queued = nullptr;  // told of every job that waits or no longer does

 private:
  std::size_t release_left(std::span<const decide::Move> moves);
  void note_waiting(std::span<const decide::Move> moves);
  void change_pace(JobHandle handle, decide::ActiveJob& job, std::uint8_t size_index,
                   bool was_running);
  void expect_as_told();
  // The job as a forecast takes it.
  decide::ActiveJob expected(JobHandle handle) const;
  void take_jobs_as_expected(const World& other);
  void rest(JobHandle handle, decide::ActiveJob& job);
  void set_pace(decide::ActiveJob& job);
  void book_progress(JobHandle handle, decide::ActiveJob& job);
  Micros due(JobHandle handle, const decide::ActiveJob& job) {
    return estimates.exact() ? job.finish : estimates.due(handle, job);
  }
  void seat(JobHandle handle);
  void keep_from_use(SliceId slice);
  void copy_gpu(const World& other, GpuId from, GpuId to);
  void copy_waiting_share(const World& other);
  void charge_interruption(JobHandle handle, decide::ActiveJob& job);
  void foresee_memory(JobHandle handle, mig::ProfileIndex profile);
  void note_length(JobHandle handle, const decide::ActiveJob& job);
  void log_piece(const decide::ActiveJob& job, bool lost = false);

  bool free_preemption_;
  double newcomer_length_ = 1;             // by an outlook
  std::vector<SliceId> left_;              // by move: where its job was before
  std::vector<Micros> piece_begin_;        // by slice
  std::vector<LayoutPiece> open_layouts_;  // by GPU
  // By handle, of running jobs; empty in runs where no job's memory grows.
  std::vector<MemoryWatch::Stop> memory_stops_;
  std::vector<std::uint32_t> restarts_;  // by handle, likewise, and the restart it has still to
  std::vector<Micros> restart_unpaid_;   // pay: all of it, until it makes progress
};

}  // namespace partita::sim
