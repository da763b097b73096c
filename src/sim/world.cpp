#include "sim/world.h"

#include <algorithm>

#include "base/check.h"
#include "base/round_up.h"

namespace partita::sim {
namespace {

// Takes `part` of every `whole` that pass, evenly.
class EvenShare {
 public:
  EvenShare(std::size_t part, std::size_t whole) : part_(part), whole_(whole) {}

  bool takes_next() {
    due_ += part_;
    if (due_ < whole_) return false;
    due_ -= whole_;
    return true;
  }

 private:
  std::size_t part_;
  std::size_t whole_;
  std::size_t due_ = 0;  // in units of 1/whole
};

// In order of GPU and time; an instance made and unmade at one instant leaves no seam.
void join_layouts(std::vector<LayoutPiece>& pieces) {
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const LayoutPiece& a, const LayoutPiece& b) { return a.gpu < b.gpu; });
  std::vector<LayoutPiece> joined;
  for (const LayoutPiece& piece : pieces) {
    if (!joined.empty() && joined.back().gpu == piece.gpu && joined.back().layout == piece.layout) {
      joined.back().end = piece.end;
    } else {
      joined.push_back(piece);
    }
  }
  pieces = std::move(joined);
}

// So much of its work is left of a job. It may be less than was believed, so that it may not be too
// late any more.
void expect_left(decide::ActiveJob& job, double left, Micros now) {
  job.work = left;
  job.on_time_until = Micros{-1};
  if (!job.running()) return;
  job.progress_from = std::max(job.progress_from, now);
  job.finish = job.progress_from + round_up(left * job.time[job.size_index]);
}

}  // namespace

World::World(const RunOptions& run_options)
    : options(run_options),
      cluster(*run_options.model, run_options.gpus),
      estimates(run_options.estimate_error, run_options.estimate_seed),
      memory(*run_options.model, run_options.memory),
      meter(run_options.gpus),
      free_preemption_(run_options.preemption.mode == decide::Preemption::Mode::kFree),
      piece_begin_(cluster.slices.size()),
      open_layouts_(run_options.gpus) {}

// A slice that only changes its job stays busy: the GPU's books need no entry. What was handed over
// must equal what was taken over, or a job would be lost.
void World::carry_out(std::span<const decide::Move> moves) {
  if (options.keep_schedule) {
    for (const decide::Move& move : moves) log_piece(jobs[move.job]);
  }
  left_.resize(moves.size());
  std::size_t taken_over = 0;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    decide::ActiveJob& job = jobs[moves[i].job];
    left_[i] = job.slice;
    job.preemptions += job.running() ? 1U : 0U;
    if (!moves[i].to.valid()) {
      rest(moves[i].job, job);
      continue;
    }
    const cluster::Slice& slice = cluster.slice(moves[i].to);
    CHECK((job.fits >> slice.profile & 1U) != 0);
    CHECK(!left_[i].valid() || options.preemption.allows(job));
    if (slice.state == cluster::SliceState::kBusy) {
      cluster::hand_over(cluster, moves[i].to, moves[i].job);
      ++taken_over;
    } else {
      cluster::start_job(cluster, moves[i].to, moves[i].job);
      meter_gpu(cluster::gpu_of(moves[i].to));
    }
    if (options.keep_schedule) piece_begin_[moves[i].to.value] = now;
    job.slice = moves[i].to;
    const bool same_pace =
        free_preemption_ && left_[i].valid() && slice.size_index == job.size_index;
    if (!same_pace) change_pace(moves[i].job, job, slice.size_index, left_[i].valid());
    if (memory.any()) foresee_memory(moves[i].job, slice.profile);
  }
  CHECK(taken_over == release_left(moves));
  if (queued != nullptr) note_waiting(moves);
}

// In order: one decision may stop a job and start it again.
void World::note_waiting(std::span<const decide::Move> moves) {
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const bool waited = !left_[i].valid();
    const bool waits = !moves[i].to.valid();
    if (waited && !waits) queued->leave(moves[i].job);
    if (waits && !waited) queued->enter(moves[i].job, jobs[moves[i].job]);
  }
}

// Frees the slices that jobs left and none took over; gives the number of those taken over.
std::size_t World::release_left(std::span<const decide::Move> moves) {
  std::size_t handed_over = 0;
  std::uint64_t interrupted = 0;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (!left_[i].valid()) continue;
    ++interrupted;
    if (cluster.slice(left_[i]).job != moves[i].job) {
      ++handed_over;
      continue;
    }
    cluster::stop_job(cluster, left_[i]);
    meter_gpu(cluster::gpu_of(left_[i]));
  }
  counts.preemptions += interrupted;
  return handed_over;
}

void World::change_pace(JobHandle handle, decide::ActiveJob& job, std::uint8_t size_index,
                        bool was_running) {
  if (was_running) {
    book_progress(handle, job);
    charge_interruption(handle, job);
  } else if (!job.started) {
    job.started = true;
    job.first_start = now;
  }
  job.size_index = size_index;
  set_pace(job);
  if (was_running) {
    completions.change(handle, due(handle, job));
  } else {
    completions.add(handle, due(handle, job));
  }
}

void World::book_progress(JobHandle handle, decide::ActiveJob& job) {
  if (!estimates.exact()) estimates.book(handle, job, now);
  job.work = job.work_at(now);
}

JobHandle World::add_job(const workload::Job& job, JobId id, std::uint16_t fits) {
  const bool exact = estimates.exact();
  const JobHandle handle =
      exact ? jobs.add(job, id, fits) : jobs.add(estimates.told(job, id), id, fits);
  if (!exact) estimates.begin(handle, job);
  if (queued != nullptr && fits != 0) queued->enter(handle, jobs[handle]);
  return handle;
}

void World::extend_estimate(JobHandle handle) {
  decide::ActiveJob& job = jobs[handle];
  book_progress(handle, job);
  job.work = estimates.believe_more(handle);
  set_pace(job);
  completions.change(handle, due(handle, job));
}

// From now on the work falls at the pace of the present size.
void World::set_pace(decide::ActiveJob& job) {
  job.progress_from = now + job.restart;
  job.finish = job.progress_from + round_up(job.work * job.time[job.size_index]);
  job.restart = Micros{};
  job.forget_on_time();
}

void World::rest(JobHandle handle, decide::ActiveJob& job) {
  completions.remove(handle);
  book_progress(handle, job);
  charge_interruption(handle, job);
  job.slice = SliceId{};
  job.forget_on_time();
}

// REQUIRES: the job still has its slice.
void World::charge_interruption(JobHandle handle, decide::ActiveJob& job) {
  const Micros unpaid = job.overhead(now);
  job.restart = free_preemption_ ? unpaid : std::max(options.preemption.cost, unpaid);
  if (memory.any()) restart_unpaid_[handle.value] = unpaid;
}

// The job is due when it is done or when it must leave for more memory, whichever comes first.
void World::foresee_memory(JobHandle handle, mig::ProfileIndex profile) {
  if (handle.value >= memory_stops_.size()) {
    memory_stops_.resize(std::size_t{handle.value} * 2 + 16);
    restarts_.resize(memory_stops_.size());
    restart_unpaid_.resize(memory_stops_.size());
  }
  decide::ActiveJob& job = jobs[handle];
  job.restart = restart_unpaid_[handle.value];
  memory_stops_[handle.value] = memory.next_stop(job, profile, now);
  completions.change(handle, std::min(job.finish, memory_stops_[handle.value].time));
}

void World::restart_larger(JobHandle handle) {
  decide::ActiveJob& job = jobs[handle];
  const MemoryWatch::Stop& stop = memory_stops_[handle.value];
  CHECK(stop.time == now);
  if (options.keep_schedule) log_piece(job, true);
  cluster::stop_job(cluster, job.slice);
  meter_gpu(cluster::gpu_of(job.slice));
  job.slice = SliceId{};
  job.work = 1;
  job.restart = restart_unpaid_[handle.value] = options.memory.restart;
  job.memory_gib = static_cast<float>(stop.need_gib);
  job.fits = memory.fits(job, stop.need_gib);
  CHECK(job.fits != 0);
  job.forget_on_time();
  ++restarts_[handle.value];
  ++(stop.early ? counts.early_restarts : counts.out_of_memory);
  if (queued != nullptr) queued->enter(handle, job);
}

void World::log_piece(const decide::ActiveJob& job, bool lost) {
  if (!job.running()) return;
  const Micros begin = piece_begin_[job.slice.value];
  if (begin == now) return;
  counts.schedule.push_back(
      {job.id, job.slice, cluster.slice(job.slice).profile, begin, now, lost});
}

void World::complete(JobHandle handle) {
  decide::ActiveJob& job = jobs[handle];
  if (options.keep_schedule) log_piece(job);
  cluster::stop_job(cluster, job.slice);
  if (!estimates.exact()) note_length(handle, job);
  tally.add(job.first_start - job.arrival, now - job.deadline);
  last_completion = now;
  if (options.keep_jobs) {
    const std::uint32_t restarts = memory.any() ? restarts_[handle.value] : 0;
    counts.job_records[job.id.value] = {job.id,       job.first_start, now,
                                        job.deadline, job.preemptions, restarts};
  }
  if (memory.any()) {
    restarts_[handle.value] = 0;
    restart_unpaid_[handle.value] = Micros{};
  }
}

void World::log_layout(GpuId gpu) {
  if (!options.keep_schedule && !options.keep_layouts) return;
  LayoutPiece& open = open_layouts_[gpu.value];
  const mig::Layout layout = usable_layout(cluster, gpu);
  if (open.gpu.valid() && open.layout == layout) return;
  if (open.gpu.valid() && open.begin < now) {
    open.end = now;
    counts.layouts.push_back(open);
  }
  open = {gpu, now, now, layout};
}

void World::copy_position(const World& other) {
  now = other.now;
  cluster = other.cluster;
  jobs = other.jobs;
  if (!other.estimates.exact()) take_jobs_as_expected(other);
  if (other.estimates.exact() && !other.memory.any()) {
    completions = other.completions;
  } else {
    expect_as_told();
  }
  meter = other.meter;
  tally.clear();
  counts.events = 0;
  last_completion = other.last_completion;
}

void World::take_jobs_as_expected(const World& other) {
  for (std::uint32_t i = 0; i < jobs.handles_end(); ++i) {
    if (jobs.present(JobHandle{i})) jobs[JobHandle{i}] = other.expected(JobHandle{i});
  }
}

decide::ActiveJob World::expected(JobHandle handle) const {
  decide::ActiveJob job = jobs[handle];
  if (estimates.exact() || !survival.has_experience()) return job;
  const double left = job.work_at(now);
  expect_left(job, survival.expected_left(estimates.believed(handle) - left, left), now);
  return job;
}

double World::newcomer_length() const {
  return survival.has_experience() ? survival.expected_left(0, 1) : newcomer_length_;
}

workload::Job World::as_expected(const workload::Job& job) const {
  workload::Job expected = job;
  const double length = newcomer_length();
  if (length == 1) return expected;
  for (Micros& time : expected.time) {
    if (time == workload::kNoTime) continue;
    time = round_up(length * static_cast<double>(time.count));
  }
  return expected;
}

// What it took, in times that it was said to take.
void World::note_length(JobHandle handle, const decide::ActiveJob& job) {
  const double length = estimates.believed(handle) - job.work_at(now);
  survival.ended(std::max(0.0, length), job.fastest_time());
}

// Completions as the records of the jobs have them.
void World::expect_as_told() {
  completions = {};
  for (std::uint32_t i = 0; i < jobs.handles_end(); ++i) {
    const JobHandle handle{i};
    if (!jobs.present(handle) || !jobs[handle].running()) continue;
    completions.add(handle, jobs[handle].finish);
  }
}

void World::copy_part(const World& other, std::span<const GpuId> gpus) {
  CHECK(gpus.size() == cluster.gpus.size());
  now = other.now;
  cluster.layout_version = other.cluster.layout_version;
  jobs.clear();
  completions.clear();
  meter = EnergyMeter(gpus.size());
  tally.clear();
  counts.events = 0;
  last_completion = other.last_completion;
  for (std::uint32_t i = 0; i < gpus.size(); ++i) copy_gpu(other, gpus[i], GpuId{i});
  copy_waiting_share(other);
}

JobId World::take_view(const decide::View& view, std::size_t waiting_max,
                       const decide::Outlook& outlook) {
  now = view.now;
  cluster = view.cluster;
  jobs.clear();
  completions.clear();
  meter = EnergyMeter(cluster.gpus.size());
  tally.clear();
  counts.events = 0;
  newcomer_length_ = outlook.newcomer_length;
  std::size_t waiting = 0;
  for (std::uint32_t i = 0; i < view.jobs.handles_end(); ++i) {
    const JobHandle handle{i};
    waiting += view.jobs.present(handle) && !view.jobs[handle].running() ? 1U : 0U;
  }
  EvenShare share(std::min(waiting, waiting_max), waiting);
  JobId last;
  for (std::uint32_t i = 0; i < view.jobs.handles_end(); ++i) {
    if (!view.jobs.present(JobHandle{i})) continue;
    const decide::ActiveJob& job = view.jobs[JobHandle{i}];
    if (job.endless()) {
      keep_from_use(job.slice);
      continue;
    }
    if (!last.valid() || last < job.id) last = job.id;
    if (!job.running() && !share.takes_next()) continue;
    const JobHandle handle = jobs.add(job);
    const auto left = outlook.work_left ? outlook.work_left(JobHandle{i}) : std::nullopt;
    if (left) expect_left(jobs[handle], *left, now);
    if (job.running()) seat(handle);
  }
  for (std::uint32_t i = 0; i < cluster.gpus.size(); ++i) meter_gpu(GpuId{i});
  return last;
}

// As if it were being made for ever: it takes its place, and nothing runs there. What it draws is
// the same whatever is decided, so it is left out.
void World::keep_from_use(SliceId slice) {
  cluster::stop_job(cluster, slice);
  cluster.slices[slice.value].state = cluster::SliceState::kCreating;
}

// Where nobody knows better, a job that should have been done by now is believed to need as long
// again as it was believed to need in all, as often as that is still too little.
void World::seat(JobHandle handle) {
  decide::ActiveJob& seated = jobs[handle];
  cluster.slices[seated.slice.value].job = handle;
  if (seated.finish <= now) {
    const Micros passed = now - seated.progress_from;
    Micros believed = std::max(Micros{1}, seated.finish - seated.progress_from);
    while (believed <= passed) believed += believed;
    seated.finish = seated.progress_from + believed;
    seated.work = static_cast<double>((seated.finish - now).count) / seated.time[seated.size_index];
    seated.progress_from = now;
    seated.forget_on_time();
  }
  completions.add(handle, seated.finish);
}

void World::copy_gpu(const World& other, GpuId from, GpuId to) {
  cluster.gpus[to.value] = other.cluster.gpus[from.value];
  for (std::uint32_t start = 0; start < cluster::kSlotsPerGpu; ++start) {
    const SliceId there = cluster::slice_id(from, static_cast<std::uint8_t>(start));
    const SliceId here = cluster::slice_id(to, static_cast<std::uint8_t>(start));
    cluster::Slice& slice = cluster.slices[here.value];
    slice = other.cluster.slice(there);
    if (slice.state != cluster::SliceState::kBusy) continue;
    slice.job = jobs.add(other.expected(slice.job));
    jobs[slice.job].slice = here;
    completions.add(slice.job, jobs[slice.job].finish);
  }
  meter_gpu(to);
}

void World::copy_waiting_share(const World& other) {
  EvenShare share(cluster.gpus.size(), other.cluster.gpus.size());
  for (std::uint32_t i = 0; i < other.jobs.handles_end(); ++i) {
    const JobHandle handle{i};
    if (!other.jobs.present(handle) || other.jobs[handle].running()) continue;
    if (share.takes_next()) jobs.add(other.expected(handle));
  }
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
  join_layouts(result.layouts);
}

}  // namespace partita::sim
