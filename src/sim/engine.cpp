#include "sim/engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "sim/layout_changes.h"
#include "sim/world.h"

namespace partita::sim {
namespace {

// A repartitioner that is asked this many times in a row while nothing runs and nothing arrives
// will not help the jobs that wait: a day of hourly switches is 24.
constexpr int kFruitlessTimersMax = 1'000;

constexpr std::uint64_t kDecisionsPerProgress = 65'536;

class Engine {
 public:
  Engine(const workload::Trace& trace, const RunOptions& options, decide::Scheduler& scheduler,
         decide::Repartitioner& repartitioner, const Progress& progress)
      : trace_(trace),
        scheduler_(scheduler),
        repartitioner_(repartitioner),
        progress_(progress),
        world_(options),
        view_{Micros{},           world_.cluster, world_.jobs,
              options.preemption, *options.power, options.et_a},
        changes_(world_, view_, scheduler_),
        fits_(*options.model) {}

  Result<RunResult> run();

 private:
  Status place_initial_layouts();
  Micros next_event() const;
  void step(Micros now);
  void complete_due();
  void arrive_due();
  void repartition_due();
  void decide();
  Status begin();
  void report_progress() const;
  std::string needs_of(JobId id) const;
  Error fits_nowhere(JobId id) const;
  Error stuck() const;

  const workload::Trace& trace_;
  decide::Scheduler& scheduler_;
  decide::Repartitioner& repartitioner_;
  const Progress& progress_;
  World world_;
  decide::View view_;
  LayoutChanges changes_;
  cluster::ProfileFits fits_;

  std::size_t next_arrival_ = 0;
  Micros next_timer_ = Micros::max();
  int fruitless_timers_ = 0;
  std::vector<GpuId> freed_;  // by completions while layouts change
  JobId unplaceable_;         // a job that fits no profile: the run ends
  decide::Decision decision_;
  std::vector<decide::LayoutRequest> requests_;
};

Status Engine::place_initial_layouts() {
  const std::vector<mig::Layout> layouts = repartitioner_.initial_layouts(view_);
  if (layouts.size() != world_.cluster.gpu_count()) {
    return Error{fmt::format("the repartitioner gives {} layouts for {} GPUs", layouts.size(),
                             world_.cluster.gpu_count())};
  }
  for (std::uint32_t gpu = 0; gpu < layouts.size(); ++gpu) {
    cluster::place_layout(world_.cluster, GpuId{gpu}, layouts[gpu]);
    world_.log_layout(GpuId{gpu});
  }
  return {};
}

Micros Engine::next_event() const {
  Micros next = world_.completions.first_time();
  if (next_arrival_ < trace_.jobs.size()) next = std::min(next, trace_.jobs[next_arrival_].arrival);
  next = std::min(next, changes_.next_finish());
  return std::min(next, next_timer_);
}

void Engine::complete_due() {
  while (world_.completions.first_time() == world_.now) {
    const JobHandle job = world_.completions.first_job();
    const SliceId slice = world_.jobs[job].slice;
    world_.completions.remove_first();
    world_.complete(job);
    world_.meter_gpu(cluster::gpu_of(slice));
    scheduler_.job_done(view_, job);
    world_.jobs.remove(job);
    if (changes_.under_way()) freed_.push_back(cluster::gpu_of(slice));
    ++world_.counts.events;
  }
  // After all of them, so that which change goes on does not depend on the order of completions.
  for (const GpuId gpu : freed_) changes_.resume(gpu);
  freed_.clear();
}

void Engine::arrive_due() {
  while (next_arrival_ < trace_.jobs.size() && trace_.jobs[next_arrival_].arrival == world_.now) {
    const workload::Job& job = trace_.jobs[next_arrival_];
    const JobId id{static_cast<std::uint32_t>(next_arrival_)};
    const std::uint16_t fits = fits_(job);
    if (fits == 0) unplaceable_ = id;
    const JobHandle handle = world_.jobs.add(decide::make_active(job, id, fits));
    scheduler_.job_arrived(view_, handle);
    ++next_arrival_;
    ++world_.counts.events;
  }
}

void Engine::repartition_due() {
  if (next_timer_ != world_.now) return;
  ++world_.counts.events;
  requests_.clear();
  repartitioner_.decide(view_, requests_);
  for (const decide::LayoutRequest& request : requests_) {
    changes_.request(request.gpu, request.layout);
  }
  next_timer_ = repartitioner_.next_time(world_.now).value_or(Micros::max());
  const bool idle = world_.completions.empty() && next_arrival_ == trace_.jobs.size();
  fruitless_timers_ = idle ? fruitless_timers_ + 1 : 0;
}

void Engine::decide() {
  if (changes_.take_changed()) scheduler_.layout_changed(view_);
  decision_.moves.clear();
  scheduler_.decide(view_, decision_);
  ++world_.counts.decisions;
  if (!decision_.moves.empty()) world_.carry_out(decision_.moves);
}

void Engine::step(Micros now) {
  world_.now = view_.now = now;
  complete_due();
  while (changes_.next_finish() == now) {
    changes_.finish_step();
    ++world_.counts.events;
  }
  arrive_due();
  repartition_due();
  decide();
}

Result<RunResult> Engine::run() {
  const Status ready = begin();
  if (!ready) return ready.error();
  while (next_arrival_ < trace_.jobs.size() || world_.jobs.size() > 0) {
    const Micros next = next_event();
    if (next == Micros::max() || fruitless_timers_ > kFruitlessTimersMax) return stuck();
    step(next);
    if (unplaceable_.valid()) return fits_nowhere(unplaceable_);
    if (progress_ && world_.counts.decisions % kDecisionsPerProgress == 0) report_progress();
  }
  RunResult result;
  world_.finish(result);
  return result;
}

Status Engine::begin() {
  const Status placed = place_initial_layouts();
  if (!placed) return placed;
  world_.tally.reserve(trace_.jobs.size());
  if (world_.options.keep_jobs) world_.counts.job_records.resize(trace_.jobs.size());
  scheduler_.begin(view_);
  next_timer_ = repartitioner_.next_time(Micros{}).value_or(Micros::max());
  return {};
}

void Engine::report_progress() const {
  progress_(static_cast<double>(next_arrival_) / static_cast<double>(trace_.jobs.size()));
}

std::string Engine::needs_of(JobId id) const {
  const workload::Job& job = trace_.jobs[id.value];
  std::string sizes;
  for (std::size_t i = 0; i < workload::kSliceSizeCount; ++i) {
    if (job.time[i] != workload::kNoTime) sizes += fmt::format(" {}g", workload::kSliceSizes[i]);
  }
  return fmt::format("job '{}' needs {:g} GiB and a slice of size{}", trace_.id(id), job.memory_gib,
                     sizes);
}

Error Engine::fits_nowhere(JobId id) const {
  return {fmt::format("{}; no profile of {} offers that", needs_of(id), world_.cluster.model->key)};
}

Error Engine::stuck() const {
  const JobHandle waiting = world_.jobs.any();
  CHECK(waiting.valid());
  return {fmt::format("{}; no layout of the run offers that (GPU 0 has {})",
                      needs_of(world_.jobs[waiting].id),
                      mig::format_layout(*world_.cluster.model, world_.cluster.gpus[0].layout))};
}

}  // namespace

Result<RunResult> simulate(const workload::Trace& trace, const RunOptions& options,
                           decide::Scheduler& scheduler, decide::Repartitioner& repartitioner,
                           const Progress& progress) {
  CHECK(options.model != nullptr && options.power != nullptr);
  return Engine(trace, options, scheduler, repartitioner, progress).run();
}

}  // namespace partita::sim
