#include "sim/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/check.h"
#include "decide/fair_queue.h"
#include "sim/clockwork.h"
#include "sim/rollout.h"

namespace partita::sim {
namespace {

// A repartitioner that is asked this many times in a row while nothing arrives and no work gets
// done will not help the jobs that wait: a day of hourly switches is 24.
constexpr int kFruitlessTimersMax = 1'000;

constexpr std::uint64_t kDecisionsPerProgress = 65'536;

class Engine {
 public:
  Engine(const workload::Trace& trace, const RunOptions& options, decide::Scheduler& scheduler,
         decide::Repartitioner& repartitioner, const RunExtras& extras)
      : trace_(trace),
        options_(options),
        scheduler_(scheduler),
        repartitioner_(repartitioner),
        extras_(extras),
        clock_(options, share(), &repartitioner) {
    if (options.queue.reserve_after) {
      decide::FleetFacts facts{.aim = [this](GpuId gpu) { return clock_.changes.target(gpu); }};
      reservations_.emplace(*options.queue.reserve_after, std::move(facts),
                            fair_ ? &*books_ : nullptr);
    }
    clock_.policies.use(reservations_ ? &*reservations_ : nullptr, books_ ? &*books_ : nullptr);
    if (options.measure_fragmentation) clock_.world.queued = &queued_.emplace(*options.model);
    if (extras.forecast_scheduler == nullptr) return;
    rollout_.emplace(clock_, options, *extras.forecast_scheduler);
    clock_.view.forecaster = &*rollout_;
  }

  Result<RunResult> run();

 private:
  decide::Scheduler& share();
  Status begin();
  Status place_initial_layouts();
  void count_fruitless_timers();
  void measure_fragmentation(Micros until);
  void report_progress() const;
  void list_users(RunResult& result) const;
  std::string needs_of(JobId id) const;
  Error fits_nowhere(JobId id) const;
  std::optional<mig::ProfileIndex> slice_passed_over(const decide::ActiveJob& job) const;
  Error stuck() const;

  const workload::Trace& trace_;
  const RunOptions& options_;
  decide::Scheduler& scheduler_;
  decide::Repartitioner& repartitioner_;
  const RunExtras& extras_;
  std::optional<decide::UsageBooks> books_;  // where jobs have owners, or are to
  std::optional<decide::FairQueue> fair_;
  Clockwork clock_;
  std::optional<decide::Reservations> reservations_;
  std::optional<Rollout> rollout_;
  std::optional<decide::QueuedWork> queued_;  // with measure_fragmentation, and its integrals
  double queued_area_ = 0;
  double blocked_area_ = 0;

  int fruitless_timers_ = 0;
  double work_at_last_timer_ = std::numeric_limits<double>::infinity();
};

// The scheduler of the run, behind what users agree on.
decide::Scheduler& Engine::share() {
  if (trace_.owners.empty() && !options_.queue.fair()) return scheduler_;
  books_.emplace(options_.queue, [this](JobHandle, const decide::ActiveJob& job) {
    return std::optional(trace_.owners.empty() ? decide::Owner{} : trace_.owners[job.id.value]);
  });
  for (const auto& [name, weight] : options_.queue.weights) {
    const auto found = std::ranges::find(trace_.user_names, name);
    if (found == trace_.user_names.end()) continue;
    const auto user = static_cast<decide::UserIndex>(found - trace_.user_names.begin());
    books_->ledger().set_weight(user, weight);
  }
  if (!options_.queue.fair()) return scheduler_;
  CHECK(extras_.make_scheduler != nullptr);
  return fair_.emplace(extras_.make_scheduler, *books_);
}

Status Engine::begin() {
  const Status placed = place_initial_layouts();
  if (!placed) return placed;
  const decide::Scheduler& scheduler = fair_ ? *fair_ : scheduler_;
  if (const Status accepted = scheduler.accepts(clock_.view); !accepted) return accepted;
  clock_.set_arrivals(trace_.jobs, JobId{0});
  clock_.world.memory.set_curves(trace_.memory_curves);
  clock_.world.tally.reserve(trace_.jobs.size());
  if (options_.keep_jobs) clock_.world.counts.job_records.resize(trace_.jobs.size());
  clock_.policies.begin(clock_.view);
  return {};
}

Status Engine::place_initial_layouts() {
  const std::vector<mig::Layout> layouts = repartitioner_.initial_layouts(clock_.view);
  if (layouts.size() != options_.gpus) {
    return Error{fmt::format("the repartitioner gives {} layouts for {} GPUs", layouts.size(),
                             options_.gpus)};
  }
  for (std::uint32_t gpu = 0; gpu < layouts.size(); ++gpu) {
    cluster::place_layout(clock_.world.cluster, GpuId{gpu}, layouts[gpu]);
    clock_.world.log_layout(GpuId{gpu});
  }
  return {};
}

// Work is measured, because a job that runs at every timer may still be interrupted before it gets
// anywhere, again and again.
void Engine::count_fruitless_timers() {
  double work = 0;
  const decide::ActiveJobs& jobs = clock_.world.jobs;
  for (std::uint32_t i = 0; i < jobs.handles_end() && !clock_.arrivals_left(); ++i) {
    if (jobs.present(JobHandle{i})) work += jobs[JobHandle{i}].work_at(clock_.world.now);
  }
  const bool fruitless = !clock_.arrivals_left() && work >= work_at_last_timer_;
  fruitless_timers_ = fruitless ? fruitless_timers_ + 1 : 0;
  work_at_last_timer_ = clock_.arrivals_left() ? std::numeric_limits<double>::infinity() : work;
}

Result<RunResult> Engine::run() {
  const Status ready = begin();
  if (!ready) return ready.error();
  while (clock_.arrivals_left() || clock_.world.jobs.size() > 0) {
    const Micros next = std::min(clock_.next_event(), clock_.policies.next_timer());
    if (next == Micros::max() || fruitless_timers_ > kFruitlessTimersMax) return stuck();
    if (queued_) measure_fragmentation(next);
    clock_.advance_to(next);
    if (clock_.unplaceable().valid()) return fits_nowhere(clock_.unplaceable());
    if (clock_.repartition()) {
      ++clock_.world.counts.events;
      count_fruitless_timers();
    }
    clock_.decide();
    if (extras_.progress && clock_.world.counts.decisions % kDecisionsPerProgress == 0) {
      report_progress();
    }
  }
  RunResult result;
  clock_.world.finish(result);
  if (queued_area_ > 0) result.fragmentation = blocked_area_ / queued_area_;
  if (reservations_) {
    result.reservations = reservations_->made();
    result.backfilled = reservations_->backfilled();
  }
  if (!trace_.owners.empty()) list_users(result);
  if (!trace_.jobs.empty()) {
    result.makespan = clock_.world.last_completion - trace_.jobs.front().arrival;
  }
  return result;
}

// Those who have jobs.
void Engine::list_users(RunResult& result) const {
  std::vector<std::uint64_t> jobs(trace_.user_names.size());
  for (const workload::JobOwner& owner : trace_.owners) ++jobs[owner.user];
  double usage = 0;
  double weights = 0;
  for (decide::UserIndex user = 0; user < jobs.size(); ++user) {
    if (jobs[user] == 0) continue;
    const double its = books_->ledger().total(user, clock_.world.now);
    const double weight = books_->ledger().weight(user);
    result.users.push_back({trace_.user_names[user], jobs[user], its, 0, weight});
    usage += its;
    weights += weight;
  }
  for (UserUsage& user : result.users) {
    if (usage > 0) user.share = user.usage / usage;
    user.fair_share /= weights;
  }
}

// As things stand since the last decision, up to the next event.
void Engine::measure_fragmentation(Micros until) {
  const decide::Fragmentation found = queued_->measure(clock_.world.cluster);
  const auto lasts = static_cast<double>((until - clock_.world.now).count);
  queued_area_ += lasts * found.queued_us;
  blocked_area_ += lasts * found.blocked_us;
}

void Engine::report_progress() const {
  extras_.progress(static_cast<double>(clock_.arrived()) / static_cast<double>(trace_.jobs.size()));
}

std::string Engine::needs_of(JobId id) const {
  const workload::Job& job = trace_.jobs[id.value];
  std::string sizes;
  for (std::size_t i = 0; i < workload::kSliceSizeCount; ++i) {
    if (job.time[i] != workload::kNoTime) sizes += fmt::format(" {}g", workload::kSliceSizes[i]);
  }
  double gib = static_cast<double>(job.memory_gib);
  if (!trace_.memory_curves.empty()) gib = std::max(gib, trace_.memory_curves[id.value].peak_gib);
  return fmt::format("job '{}' needs {:g} GiB and a slice of size{}", trace_.id(id), gib, sizes);
}

Error Engine::fits_nowhere(JobId id) const {
  return {fmt::format("{}; no profile of {} offers that", needs_of(id), options_.model->key)};
}

// A profile of the layouts that fits the job, although nothing runs and nothing more will happen.
std::optional<mig::ProfileIndex> Engine::slice_passed_over(const decide::ActiveJob& job) const {
  if (clock_.next_event() != Micros::max() || clock_.policies.next_timer() != Micros::max()) {
    return {};
  }
  for (const cluster::Gpu& gpu : clock_.world.cluster.gpus) {
    for (const mig::Placement& instance : gpu.layout.instances()) {
      if ((job.fits >> instance.profile & 1U) != 0) return instance.profile;
    }
  }
  return {};
}

Error Engine::stuck() const {
  const decide::ActiveJobs& jobs = clock_.world.jobs;
  std::uint32_t waiting = 0;
  while (!jobs.present(JobHandle{waiting})) ++waiting;
  const decide::ActiveJob& job = jobs[JobHandle{waiting}];
  if (const auto profile = slice_passed_over(job)) {
    return {
        fmt::format("job '{}' fits an idle {} but waits for another size, which no layout of "
                    "the run has: use a placement that takes any size that fits, or layouts "
                    "made on demand",
                    trace_.id(job.id), options_.model->profiles[*profile].name)};
  }
  return {fmt::format("{}; no layout of the run offers that, or not for long enough (GPU 0 has {})",
                      needs_of(job.id),
                      mig::format_layout(*options_.model, clock_.world.cluster.gpus[0].layout))};
}

}  // namespace

Result<RunResult> simulate(const workload::Trace& trace, const RunOptions& options,
                           decide::Scheduler& scheduler, decide::Repartitioner& repartitioner,
                           const RunExtras& extras) {
  CHECK(options.model != nullptr && options.power != nullptr);
  if (options.estimate_error > 0 && !trace.memory_curves.empty()) {
    return Error{"jobs whose memory grows cannot be run with wrong estimates of their run times"};
  }
  return Engine(trace, options, scheduler, repartitioner, extras).run();
}

}  // namespace partita::sim
