#include "oracle/naive_simulator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "base/check.h"
#include "oracle/naive_memory.h"
#include "oracle/naive_pays.h"
#include "oracle/naive_round.h"
#include "oracle/naive_rules.h"
#include "oracle/naive_state.h"

namespace partita::oracle {
namespace {

constexpr Micros kDay = Micros::seconds(86'400);
constexpr Micros kPenalty = Micros::seconds(4);
constexpr int kFruitlessTimersMax = 1'000;
constexpr int kTimersMax = 20'000;  // far more than any case here needs

class Simulator {
 public:
  Simulator(const std::vector<workload::Job>& jobs, const Setup& setup)
      : trace_(jobs),
        setup_(setup),
        rng_(setup.seed),
        jobs_(jobs.size()),
        losses_(jobs.size()),
        gpus_(setup.layouts.size()) {}

  Outcome run();

 private:
  const mig::GpuModel& model() const { return *setup_.model; }
  int size_of(mig::Placement placement) const {
    return model().profiles[placement.profile].compute_slices;
  }
  double time_on(std::size_t job, mig::Placement placement) const {
    return whole_time(trace_[job], size_of(placement));
  }

  mig::Layout layout_of(const Gpu& gpu, bool only_usable) const;
  Instance* find(std::size_t gpu, mig::Placement placement);
  double work_left(std::size_t job) const;
  Micros overhead(std::size_t job) const;
  Waiting as_waiting(std::size_t job) const;

  Micros next_timer_after(Micros time) const;
  const Switch& in_force(Micros time) const;
  Micros next_event() const;
  void pass_to(Micros time);
  Micros due(std::size_t job) const;
  void lose(std::size_t job);
  void complete_due();
  void finish_steps_due();
  void arrive_due();
  void repartition_due();

  void start(const Seat& seat);
  void leave_slice(std::size_t job);
  void interrupt(std::size_t job);
  bool may_interrupt(std::size_t job) const;

  void request(std::size_t gpu, const mig::Layout& target);
  void advance(std::size_t gpu);
  bool can_begin(const Gpu& gpu, const mig::ChangeStep& step) const;
  void begin_step(std::size_t gpu, const mig::ChangeStep& step);
  void end_step(std::size_t gpu);
  void log_layouts();

  void decide();
  void decide_anew();
  void keep_pace(const JobState& before, const Seat& seat);
  std::vector<Waiting> present(bool with_running) const;
  void decide_waiting();
  void decide_at_a_cost();
  void decide_paying();
  std::optional<Seat> seat_to_displace(const Round& round, const Waiting& job,
                                       const std::vector<Seat>& seats) const;
  void place_displaced(const Round& round, const std::vector<Seat>& seats, std::vector<Free> free);
  Outcome finish();

  const std::vector<workload::Job>& trace_;
  const Setup& setup_;
  Rng rng_;
  std::vector<JobState> jobs_;
  std::vector<std::optional<MemoryLoss>> losses_;  // by job, where it runs now
  std::vector<Gpu> gpus_;
  std::size_t arrived_ = 0;
  Micros now_;
  Micros timer_ = kNever;
  int fruitless_timers_ = 0;
  double work_ = std::numeric_limits<double>::infinity();  // left at the last timer
  int timers_ = 0;
  std::array<std::int64_t, 8> micros_at_level_{};
  std::vector<LayoutSpan> open_spans_;
  Outcome out_;
};

mig::Layout Simulator::layout_of(const Gpu& gpu, bool only_usable) const {
  mig::Layout layout;
  for (const Instance& instance : gpu.instances) {
    if (!only_usable || instance.phase == Phase::kReady) layout.add(instance.placement);
  }
  return layout;
}

Instance* Simulator::find(std::size_t gpu, mig::Placement placement) {
  for (Instance& instance : gpus_[gpu].instances) {
    if (instance.placement == placement) return &instance;
  }
  CHECK(false);
  return nullptr;
}

double Simulator::work_left(std::size_t job) const {
  const JobState& state = jobs_[job];
  if (!state.running || now_ <= state.progress_from) return state.work;
  const double elapsed = static_cast<double>((now_ - state.progress_from).count);
  return std::max(0.0, state.work - elapsed / time_on(job, state.placement));
}

// What it would pay before making progress elsewhere.
Micros Simulator::overhead(std::size_t job) const {
  const JobState& state = jobs_[job];
  if (!state.running) return std::max(state.restart, state.unpaid);
  return now_ < state.progress_from ? state.unpaid : Micros{};
}

Waiting Simulator::as_waiting(std::size_t job) const {
  const JobState& state = jobs_[job];
  Waiting waiting;
  waiting.job = job;
  waiting.facts = &trace_[job];
  waiting.deadline = state.deadline;
  waiting.work = work_left(job);
  waiting.restart = overhead(job);
  waiting.need_gib = state.need_gib;
  if (state.running) {
    waiting.finish = state.finish;
    waiting.size = size_of(state.placement);
  }
  return waiting;
}

const Switch& Simulator::in_force(Micros time) const {
  const Switch* latest = &setup_.switches.back();
  for (const Switch& each : setup_.switches) {
    if (each.time_of_day.count <= time.count % kDay.count) latest = &each;
  }
  return *latest;
}

Micros Simulator::next_timer_after(Micros time) const {
  Micros next = kNever;
  for (const Switch& each : setup_.switches) {
    Micros at = each.time_of_day;
    while (at <= time) at += kDay;
    next = std::min(next, at);
  }
  return next;
}

Micros Simulator::next_event() const {
  Micros next = timer_;
  if (arrived_ < trace_.size()) next = std::min(next, trace_[arrived_].arrival);
  for (std::size_t job = 0; job < jobs_.size(); ++job) next = std::min(next, due(job));
  for (const Gpu& gpu : gpus_) next = std::min(next, gpu.step_end);
  return next;
}

// Energy is counted before anything changes.
void Simulator::pass_to(Micros time) {
  CHECK(time >= now_);
  for (const Gpu& gpu : gpus_) {
    micros_at_level_[static_cast<std::size_t>(busy_compute(model(), gpu))] += (time - now_).count;
  }
  now_ = time;
}

Micros Simulator::due(std::size_t job) const {
  if (!jobs_[job].running) return kNever;
  return losses_[job] ? std::min(jobs_[job].finish, losses_[job]->time) : jobs_[job].finish;
}

// The job leaves its slice with nothing done, and may only begin again on a larger one.
void Simulator::lose(std::size_t job) {
  leave_slice(job);
  const MemoryLoss loss = *losses_[job];
  jobs_[job].work = 1;
  jobs_[job].need_gib = loss.need_gib;
  jobs_[job].restart = Micros{};
  jobs_[job].unpaid = setup_.restart;
  ++jobs_[job].outcome.restarts;
  ++(loss.early ? out_.early_restarts : out_.out_of_memory);
}

// First all of them, then the changes that waited for a slice go on.
void Simulator::complete_due() {
  std::vector<bool> freed(gpus_.size(), false);
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    JobState& state = jobs_[job];
    if (due(job) != now_) continue;
    freed[state.gpu] = true;
    ++out_.events;
    if (state.finish != now_) {
      lose(job);
      continue;
    }
    leave_slice(job);
    state.present = false;
    state.outcome.completion = now_;
    state.outcome.deadline = state.deadline;
  }
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    if (freed[gpu]) advance(gpu);
  }
}

void Simulator::finish_steps_due() {
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    while (gpus_[gpu].step_end == now_) {
      ++out_.events;
      end_step(gpu);
      advance(gpu);
    }
  }
}

void Simulator::arrive_due() {
  for (; arrived_ < trace_.size() && trace_[arrived_].arrival == now_; ++arrived_) {
    jobs_[arrived_].present = true;
    jobs_[arrived_].deadline = trace_[arrived_].deadline;
    jobs_[arrived_].need_gib = static_cast<double>(trace_[arrived_].memory_gib);
    ++out_.events;
  }
}

void Simulator::repartition_due() {
  if (timer_ != now_) return;
  ++out_.events;
  const Switch& wanted = in_force(now_);
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) request(gpu, wanted.layouts[gpu]);
  timer_ = next_timer_after(now_);
  double work = arrived_ < trace_.size() ? std::numeric_limits<double>::infinity() : 0;
  for (std::size_t job = 0; job < arrived_; ++job) work += jobs_[job].present ? work_left(job) : 0;
  fruitless_timers_ = arrived_ == trace_.size() && work >= work_ ? fruitless_timers_ + 1 : 0;
  work_ = work;
  ++timers_;
}

void Simulator::start(const Seat& seat) {
  JobState& state = jobs_[seat.job];
  Instance* instance = find(seat.gpu, seat.placement);
  CHECK(!state.running && instance->job == kNobody && instance->phase == Phase::kReady);
  instance->job = seat.job;
  state.progress_from = now_ + overhead(seat.job);
  state.running = true;
  state.gpu = seat.gpu;
  state.placement = seat.placement;
  state.piece_begin = now_;
  const double left = std::max(1.0, std::ceil(state.work * time_on(seat.job, seat.placement)));
  state.finish = state.progress_from + Micros{static_cast<std::int64_t>(left)};
  state.restart = Micros{};
  losses_[seat.job] = memory_loss(setup_, trace_[seat.job], state, seat.job, now_);
  if (!state.started) state.outcome.first_start = now_;
  state.started = true;
}

void Simulator::leave_slice(std::size_t job) {
  JobState& state = jobs_[job];
  CHECK(state.running);
  if (state.piece_begin < now_) {
    out_.pieces.push_back({job, state.gpu, state.placement, state.piece_begin, now_});
  }
  find(state.gpu, state.placement)->job = kNobody;
  state.work = work_left(job);
  state.unpaid = overhead(job);
  state.running = false;
}

void Simulator::interrupt(std::size_t job) {
  leave_slice(job);
  ++jobs_[job].outcome.preemptions;
  ++out_.preemptions;
  const bool costs = setup_.interruption != Interruption::kFree;
  if (costs) jobs_[job].restart = setup_.interruption_cost;
}

bool Simulator::may_interrupt(std::size_t job) const {
  if (setup_.interruption == Interruption::kPays) return trace_[job].resumable;
  return setup_.interruption != Interruption::kNone;
}

void Simulator::request(std::size_t index, const mig::Layout& target) {
  Gpu& gpu = gpus_[index];
  if (target == gpu.target.value_or(layout_of(gpu, false))) return;
  ++out_.repartitions;
  for (Instance& instance : gpu.instances) {
    if (setup_.paper_cost && instance.job != kNobody) jobs_[instance.job].deadline -= kPenalty;
  }
  gpu.target = target;
  for (Instance& instance : gpu.instances) {
    instance.closing = !target.contains(instance.placement);
    if (instance.closing && instance.job != kNobody && may_interrupt(instance.job)) {
      interrupt(instance.job);
    }
  }
  advance(index);
}

bool Simulator::can_begin(const Gpu& gpu, const mig::ChangeStep& step) const {
  if (step.kind == mig::ChangeStep::Kind::kCreate) {
    return mig::fits(model(), layout_of(gpu, false), step.placement);
  }
  return std::ranges::any_of(gpu.instances, [&](const Instance& instance) {
    return instance.placement == step.placement && instance.job == kNobody;
  });
}

// One step at a time; those that wait for a job are passed over.
void Simulator::advance(std::size_t index) {
  Gpu& gpu = gpus_[index];
  while (gpu.target && !gpu.step) {
    const mig::Layout present = layout_of(gpu, false);
    if (present == *gpu.target) {
      gpu.target.reset();
      return;
    }
    const auto steps = mig::smallest_change(model(), present, *gpu.target).steps;
    const auto next = std::ranges::find_if(
        steps, [&](const mig::ChangeStep& step) { return can_begin(gpu, step); });
    if (next == steps.end()) return;
    begin_step(index, *next);
    if (setup_.paper_cost) end_step(index);
  }
}

void Simulator::begin_step(std::size_t index, const mig::ChangeStep& step) {
  Gpu& gpu = gpus_[index];
  gpu.step = step;
  gpu.step_end = now_ + step.duration;
  if (step.kind == mig::ChangeStep::Kind::kDestroy) {
    find(index, step.placement)->phase = Phase::kUnmaking;
    return;
  }
  gpu.instances.push_back({step.placement, Phase::kMaking, false, kNobody});
  std::ranges::sort(gpu.instances, {}, [](const Instance& each) { return each.placement.start; });
}

void Simulator::end_step(std::size_t index) {
  Gpu& gpu = gpus_[index];
  const mig::ChangeStep step = *gpu.step;
  gpu.step.reset();
  gpu.step_end = kNever;
  if (step.kind == mig::ChangeStep::Kind::kCreate) {
    Instance* made = find(index, step.placement);
    made->phase = Phase::kReady;
    made->closing = gpu.target && !gpu.target->contains(step.placement);
    ++out_.instances_created;
    return;
  }
  std::erase_if(gpu.instances,
                [&](const Instance& each) { return each.placement == step.placement; });
  ++out_.instances_destroyed;
}

void Simulator::log_layouts() {
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    LayoutSpan& open = open_spans_[gpu];
    const mig::Layout layout = layout_of(gpus_[gpu], true);
    if (layout == open.layout) continue;
    open.end = now_;
    if (open.begin < now_) out_.layouts.push_back(open);
    open = {gpu, now_, now_, layout};
  }
}

void Simulator::decide() {
  ++out_.decisions;
  switch (setup_.interruption) {
    case Interruption::kFree:
      return decide_anew();
    case Interruption::kNone:
      return decide_waiting();
    case Interruption::kCost:
      return decide_at_a_cost();
    case Interruption::kPays:
      return decide_paying();
  }
}

std::vector<Waiting> Simulator::present(bool with_running) const {
  std::vector<Waiting> jobs;
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    if (!jobs_[job].present || (jobs_[job].running && !with_running)) continue;
    jobs.push_back(as_waiting(job));
  }
  return jobs;
}

// Free preemption: every job is placed anew as if every slice were free.
void Simulator::decide_anew() {
  const std::vector<Waiting> all = present(true);
  std::vector<Free> free = free_slices(setup_, gpus_, false);
  const Round round{now_, mean_remaining(all), free};
  std::vector<Seat> seats;
  std::vector<bool> stays(jobs_.size(), false);
  for (const Waiting& job : in_order(setup_, all, round)) {
    const auto choice = pick(setup_, job, now_, free, rng_);
    if (!choice) continue;
    const Seat seat = take(model(), free, *choice, job.job);
    const JobState& state = jobs_[job.job];
    stays[job.job] = state.running && state.gpu == seat.gpu && state.placement == seat.placement;
    if (!stays[job.job]) seats.push_back(seat);
  }
  const std::vector<JobState> before = jobs_;
  for (const Waiting& job : all) {
    if (jobs_[job.job].running && !stays[job.job]) interrupt(job.job);
  }
  for (const Seat& seat : seats) {
    start(seat);
    keep_pace(before[seat.job], seat);
  }
}

// A job that moved to a slice of the same size goes on as if it had stayed: its completion is not
// rounded again.
void Simulator::keep_pace(const JobState& before, const Seat& seat) {
  if (!before.running || size_of(before.placement) != size_of(seat.placement)) return;
  jobs_[seat.job].work = before.work;
  jobs_[seat.job].progress_from = before.progress_from;
  jobs_[seat.job].finish = before.finish;
  losses_[seat.job] = memory_loss(setup_, trace_[seat.job], jobs_[seat.job], seat.job, now_);
}

void Simulator::decide_waiting() {
  for (const Seat& seat : fill_idle(setup_, gpus_, present(false), now_, rng_)) start(seat);
}

void Simulator::decide_paying() {
  const PaidMoves moves = paying_moves(setup_, now_, present(true), jobs_, gpus_, rng_);
  for (const std::size_t job : moves.stops) interrupt(job);
  for (const Seat& seat : moves.starts) start(seat);
}

// Waiting jobs take idle slices; one that would be late may take the slice of a job that comes
// after it.
void Simulator::decide_at_a_cost() {
  const std::vector<Waiting> waiting = present(false);
  const Round round{now_, mean_remaining(waiting), free_slices(setup_, gpus_, false)};
  std::vector<Free> free = free_slices(setup_, gpus_, true);
  std::vector<Seat> seats;
  for (const Waiting& job : in_order(setup_, waiting, round)) {
    const auto choice = pick(setup_, job, now_, free, rng_);
    const bool late = !choice || !on_time(model(), job, now_, free[*choice].placement.profile);
    if (late) {
      const auto seat = seat_to_displace(round, job, seats);
      if (seat) {
        seats.push_back(*seat);
        continue;
      }
    }
    if (choice) seats.push_back(take(model(), free, *choice, job.job));
  }
  place_displaced(round, seats, free);
}

// Of the running jobs that come after this one and whose slice makes this one on time, the last.
std::optional<Seat> Simulator::seat_to_displace(const Round& round, const Waiting& job,
                                                const std::vector<Seat>& seats) const {
  std::optional<Seat> best;
  std::pair<std::int64_t, std::size_t> last{job.key, job.job};
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    for (const Instance& instance : gpus_[gpu].instances) {
      if (instance.job == kNobody || instance.closing) continue;
      const mig::Placement placement = instance.placement;
      if (!can_run(model(), job, placement.profile)) continue;
      if (!on_time(model(), job, now_, placement.profile)) continue;
      const bool taken = std::ranges::any_of(
          seats, [&](const Seat& seat) { return seat.gpu == gpu && seat.placement == placement; });
      if (taken) continue;
      const std::int64_t key = key_of(setup_, as_waiting(instance.job), round);
      if (std::pair(key, instance.job) <= last) continue;
      last = {key, instance.job};
      best = Seat{job.job, gpu, placement};
    }
  }
  return best;
}

// Those that lost their slice get what is left, in order; then everything is carried out.
void Simulator::place_displaced(const Round& round, const std::vector<Seat>& seats,
                                std::vector<Free> free) {
  std::vector<Waiting> displaced;
  for (const Seat& seat : seats) {
    const std::size_t job = find(seat.gpu, seat.placement)->job;
    if (job != kNobody) displaced.push_back(as_waiting(job));
  }
  std::vector<Seat> more;
  for (Waiting job : in_order(setup_, displaced, round)) {
    job.restart = std::max(job.restart, setup_.interruption_cost);
    job.finish.reset();
    const auto choice = pick(setup_, job, now_, free, rng_);
    if (choice) more.push_back(take(model(), free, *choice, job.job));
  }
  for (const Waiting& job : displaced) interrupt(job.job);
  for (const Seat& seat : seats) start(seat);
  for (const Seat& seat : more) start(seat);
}

Outcome Simulator::finish() {
  Micros last;
  std::int64_t tardiness_sum = 0;
  for (const JobState& job : jobs_) {
    last = std::max(last, job.outcome.completion);
    const std::int64_t tardiness = (job.outcome.completion - job.outcome.deadline).count;
    tardiness_sum += std::max<std::int64_t>(0, tardiness);
    out_.late_jobs += tardiness > 0 ? 1U : 0U;
    out_.jobs.push_back(job.outcome);
  }
  out_.end = std::max(setup_.horizon, last);
  pass_to(out_.end);
  for (std::size_t level = 0; level < setup_.watts.size(); ++level) {
    out_.energy_j += setup_.watts[level] * static_cast<double>(micros_at_level_[level]) / 1e6;
  }
  if (!jobs_.empty()) {
    out_.mean_tardiness_s =
        static_cast<double>(tardiness_sum) / 1e6 / static_cast<double>(jobs_.size());
  }
  for (LayoutSpan& open : open_spans_) {
    open.end = out_.end;
    out_.layouts.push_back(open);
  }
  std::ranges::stable_sort(out_.layouts, {}, &LayoutSpan::gpu);
  std::ranges::sort(out_.pieces);
  return out_;
}

Outcome Simulator::run() {
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    const mig::Layout& layout =
        setup_.switches.empty() ? setup_.layouts[gpu] : in_force(Micros{}).layouts[gpu];
    for (const mig::Placement placement : layout.instances()) {
      gpus_[gpu].instances.push_back({placement, Phase::kReady, false, kNobody});
    }
    open_spans_.push_back({gpu, Micros{}, Micros{}, layout});
  }
  timer_ = next_timer_after(Micros{});
  const auto present = [](const JobState& job) { return job.present; };
  while (arrived_ < trace_.size() || std::ranges::any_of(jobs_, present)) {
    const Micros next = next_event();
    out_.stuck = next == kNever || fruitless_timers_ > kFruitlessTimersMax;
    out_.endless = timers_ > kTimersMax;
    if (out_.stuck || out_.endless) return out_;
    pass_to(next);
    complete_due();
    finish_steps_due();
    arrive_due();
    repartition_due();
    log_layouts();
    decide();
  }
  return finish();
}

}  // namespace

Outcome simulate(const std::vector<workload::Job>& jobs, const Setup& setup) {
  return Simulator(jobs, setup).run();
}

}  // namespace partita::oracle
