#include "sim/world.h"

#include <algorithm>

namespace partita::sim {
namespace {

// std::ceil for non-negative values below 2^63, without a call on machines before SSE4.1.
std::int64_t round_up(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return whole + (static_cast<double>(whole) < value ? 1 : 0);
}

}  // namespace

World::World(const RunOptions& run_options)
    : options(run_options),
      cluster(*run_options.model, run_options.gpus),
      meter(run_options.gpus),
      free_preemption_(run_options.preemption.mode == decide::Preemption::Mode::kFree),
      piece_begin_(cluster.slices.size()),
      open_layouts_(run_options.gpus) {}

void World::occupy(decide::ActiveJob& job, JobHandle handle, SliceId slice) {
  cluster::start_job(cluster, slice, handle);
  job.slice = slice;
  piece_begin_[slice.value] = now;
}

void World::set_pace(decide::ActiveJob& job) {
  job.size_index = cluster.slice(job.slice).size_index;
  job.progress_from = now + job.restart;
  job.finish = job.progress_from + Micros{round_up(job.work * job.time[job.size_index])};
  job.restart = Micros{};
  job.forget_on_time();
}

void World::start(JobHandle handle, SliceId slice) {
  decide::ActiveJob& job = jobs[handle];
  occupy(job, handle, slice);
  set_pace(job);
  if (!job.started) {
    job.started = true;
    job.first_start = now;
  }
  completions.add(handle, job.finish);
}

void World::vacate(JobHandle handle) {
  decide::ActiveJob& job = jobs[handle];
  log_piece(job);
  cluster::stop_job(cluster, job.slice);
  ++job.preemptions;
  ++counts.preemptions;
}

void World::move(JobHandle handle, SliceId slice) {
  decide::ActiveJob& job = jobs[handle];
  const bool same_pace = free_preemption_ && cluster.slice(slice).size_index == job.size_index;
  occupy(job, handle, slice);
  if (same_pace) return;
  job.work = job.work_at(now);
  if (!free_preemption_) job.restart = options.preemption.cost;
  set_pace(job);
  completions.change(handle, job.finish);
}

void World::rest(JobHandle handle) {
  decide::ActiveJob& job = jobs[handle];
  completions.remove(handle);
  job.work = job.work_at(now);
  job.slice = SliceId{};
  if (!free_preemption_) job.restart = options.preemption.cost;
  job.forget_on_time();
}

void World::log_piece(const decide::ActiveJob& job) {
  if (!options.keep_schedule) return;
  const Micros begin = piece_begin_[job.slice.value];
  if (begin == now) return;
  counts.schedule.push_back({job.id, job.slice, cluster.slice(job.slice).profile, begin, now});
}

void World::complete(JobHandle handle) {
  decide::ActiveJob& job = jobs[handle];
  log_piece(job);
  cluster::stop_job(cluster, job.slice);
  tally.add(job.first_start - job.arrival, now - job.deadline);
  last_completion = now;
  if (options.keep_jobs) {
    counts.job_records[job.id.value] = {job.id, job.first_start, now, job.deadline,
                                        job.preemptions};
  }
}

void World::log_layout(GpuId gpu) {
  if (!options.keep_schedule) return;
  LayoutPiece& open = open_layouts_[gpu.value];
  const mig::Layout layout = usable_layout(cluster, gpu);
  if (open.gpu.valid() && open.layout == layout) return;
  if (open.gpu.valid() && open.begin < now) {
    open.end = now;
    counts.layouts.push_back(open);
  }
  open = {gpu, now, now, layout};
}

void World::finish(RunResult& result) {
  result = std::move(counts);
  result.end = std::max(options.horizon, last_completion);
  meter.close(result.end);
  result.energy_j = meter.joules(*options.power);
  tally.summarise(result);
  const double span = static_cast<double>(result.end.count) * options.gpus;
  if (span > 0) {
    result.compute_utilisation =
        static_cast<double>(meter.compute_slice_micros()) / (span * options.model->compute_slices);
    result.memory_utilisation =
        static_cast<double>(meter.memory_slice_micros()) / (span * options.model->memory_slices);
  }
  result.et = et_score(options.et_a, result.energy_w_min(), result.mean_tardiness_s / 60.0);
  for (LayoutPiece& open : open_layouts_) {
    if (!open.gpu.valid()) continue;
    open.end = result.end;
    result.layouts.push_back(open);
  }
  std::stable_sort(result.layouts.begin(), result.layouts.end(),
                   [](const LayoutPiece& a, const LayoutPiece& b) { return a.gpu < b.gpu; });
}

}  // namespace partita::sim
