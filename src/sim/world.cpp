#include "sim/world.h"

#include <algorithm>

namespace partita::sim {
namespace {

using Kind = cluster::Action::Kind;

// std::ceil for non-negative values below 2^63, without a call on machines before SSE4.1.
std::int64_t round_up(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return whole + (static_cast<double>(whole) < value ? 1 : 0);
}

}  // namespace

World::World(const RunOptions& run_options)
    : options(run_options),
      cluster(*run_options.model, run_options.gpus),
      completions(cluster.slices.size()),
      meter(run_options.gpus),
      piece_begin_(cluster.slices.size()),
      open_layouts_(run_options.gpus) {}

void World::start_piece(JobHandle handle, SliceId slice) {
  cluster::apply(cluster, {.kind = Kind::kStartJob, .slice = slice, .job = handle, .profile = 0});
  decide::ActiveJob& job = jobs[handle];
  job.slice = slice;
  job.size_index = cluster.slice(slice).size_index;
  job.progress_from = now + job.restart;
  job.finish = job.progress_from + Micros{round_up(job.work * job.time[job.size_index])};
  job.restart = Micros{};
  if (!job.started) {
    job.started = true;
    job.first_start = now;
  }
  piece_begin_[slice.value] = now;
  completions.add(slice, job.finish);
}

void World::end_piece(decide::ActiveJob& job) {
  if (options.keep_schedule && piece_begin_[job.slice.value] < now) {
    counts.schedule.push_back(
        {job.id, job.slice, cluster.slice(job.slice).profile, piece_begin_[job.slice.value], now});
  }
  cluster::apply(cluster, {.kind = Kind::kStopJob, .slice = job.slice, .job = {}, .profile = 0});
}

void World::stop_piece(JobHandle handle) {
  decide::ActiveJob& job = jobs[handle];
  completions.remove(job.slice);
  end_piece(job);
  job.work = job.work_at(now);
  job.slice = SliceId{};
  ++job.preemptions;
  ++counts.preemptions;
  if (options.preemption.mode == decide::Preemption::Mode::kCost) {
    job.restart = options.preemption.cost;
  }
}

void World::complete(JobHandle handle) {
  decide::ActiveJob& job = jobs[handle];
  end_piece(job);
  tally.add(job.first_start - job.arrival, now - job.deadline);
  last_completion = now;
  if (options.keep_jobs) {
    counts.job_records[job.id.value] = {job.id, job.first_start, now, job.deadline,
                                        job.preemptions};
  }
}

void World::meter_gpu(GpuId gpu) {
  const cluster::Gpu& state = cluster.gpus[gpu.value];
  meter.set(gpu, now, state.busy_compute_slices, state.busy_memory_slices);
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
