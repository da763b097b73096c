#include "learn/environments/place_env.h"

#include <algorithm>

#include "base/check.h"

namespace partita::learn {
namespace {

// The published weights (ENHANCED).
constexpr double kForSize = 0.01;
constexpr double kForOnTime = 0.05;
constexpr double kForEarly = 0.1;
constexpr double kForTardiness = 0.2;
constexpr double kForPunctuality = 10;
constexpr double kForEnergy = 2.25e-5;

// Of the jobs present: what they cannot avoid any more. A job that runs will complete when it will.
struct Unavoidable {
  double minutes = 0;
  double jobs = 0;
};

Unavoidable unavoidable_lateness(const sim::World& world) {
  Unavoidable sum;
  for (std::uint32_t i = 0; i < world.jobs.handles_end(); ++i) {
    const cluster::JobHandle handle{i};
    if (!world.jobs.present(handle)) continue;
    const decide::ActiveJob& job = world.jobs[handle];
    const double done = job.running()
                            ? static_cast<double>(job.finish.count)
                            : static_cast<double>(world.now.count) + job.work * job.fastest_time();
    const double late = done - static_cast<double>(job.deadline.count);
    if (late <= 0) continue;
    sum.minutes += late / 6e7;
    sum.jobs += 1;
  }
  return sum;
}

}  // namespace

void PlaceEnv::Hands::job_done(const decide::View& view, cluster::JobHandle job) {
  const double minutes = (view.now - view.jobs[job].deadline).to_minutes();
  early += minutes <= 0 ? 1 : 0;
  late += minutes > 0 ? 1 : 0;
  tardiness_min += std::max(0.0, minutes);
}

void PlaceEnv::Hands::job_withdrawn(const decide::View& view, cluster::JobHandle job) {
  if (!view.jobs[job].running()) queue.leave(view, job);
}

void PlaceEnv::Hands::job_returned(const decide::View& view, cluster::JobHandle job) {
  if (!view.jobs[job].running()) queue.enter(view, job);
}

void PlaceEnv::Hands::decide(const decide::View&, decide::Decision& decision) {
  decision.moves.insert(decision.moves.end(), moves.begin(), moves.end());
  moves.clear();
}

PlaceEnv::PlaceEnv(PlaceEnvOptions options) : options_(std::move(options)), run_(options_.run) {
  run_.keep_jobs = run_.keep_schedule = false;
  CHECK(options_.layouts.size() == run_.gpus);
  for (const mig::Layout& layout : options_.layouts) width_ += layout.instances().size();
  allowed_.resize(width_);
}

EnvSpec PlaceEnv::spec() const {
  return {static_cast<int>(policies::slice_observation_size(width_)),
          {1, static_cast<int>(width_)}};
}

std::string PlaceEnv::slices() const {
  cluster::ClusterState cluster(*run_.model, run_.gpus);
  for (std::uint32_t gpu = 0; gpu < run_.gpus; ++gpu) {
    cluster::place_layout(cluster, GpuId{gpu}, options_.layouts[gpu]);
  }
  return policies::SliceObservation::sizes_text(cluster);
}

void PlaceEnv::begin(std::uint64_t episode) {
  day_ = options_.days(episode);
  CHECK(!day_.jobs.empty());
  clock_ = std::make_unique<sim::Clockwork>(run_, hands_);
  for (std::uint32_t gpu = 0; gpu < run_.gpus; ++gpu) {
    cluster::place_layout(clock_->world.cluster, GpuId{gpu}, options_.layouts[gpu]);
  }
  clock_->set_arrivals(day_.jobs, JobId{0});
  clock_->world.tally.reserve(day_.jobs.size());
  clock_->policies.begin(clock_->view);
  hands_.moves.clear();
  hands_.early = hands_.late = early_before_ = 0;
  hands_.tardiness_min = tardiness_before_ = 0;
  decided_ = true;
  const bool any = run_to_choice();
  CHECK(any);
  score_ = options_.reward == PlaceReward::kCorrected ? corrected_score() : 0;
}

bool PlaceEnv::run_to_choice() {
  for (;;) {
    next_ = hands_.queue.next(clock_->view, allowed_);
    if (next_.valid()) return true;
    if (!decided_) clock_->decide();
    if (!clock_->arrivals_left() && clock_->world.jobs.size() == 0) return false;
    const Micros next = clock_->next_event();
    CHECK(next != Micros::max());  // a job that no slice of the layouts runs
    clock_->advance_to(next);
    decided_ = false;
  }
}

void PlaceEnv::observe(std::span<float> observation, std::span<std::uint8_t> allowed,
                       std::span<std::uint16_t> draws) {
  hands_.queue.write(clock_->view, next_, width_, observation);
  std::ranges::copy(allowed_, allowed.begin());
  draws[0] = 1;
}

Step PlaceEnv::step(std::span<const std::uint16_t> table) {
  const auto slice = static_cast<std::size_t>(std::ranges::max_element(table) - table.begin());
  const decide::View& view = clock_->view;
  const cluster::SliceId id = hands_.queue.slices()[slice];
  const bool on_time =
      (view.jobs[next_].on_time_sizes(view.now) >> view.cluster.slice(id).size_index & 1U) != 0;
  hands_.moves.push_back(hands_.queue.place(view, next_, slice));
  clock_->decide();
  decided_ = true;
  hands_.queue.begin_decision();
  const bool goes_on = run_to_choice();
  if (!goes_on) clock_->world.finish(last_day_);
  if (options_.reward == PlaceReward::kPublished) {
    const double end = goes_on ? 0 : terminal_reward();
    return {static_cast<float>(published_reward(slice, on_time) + end), !goes_on};
  }
  const double before = score_;
  score_ = corrected_score();
  return {static_cast<float>(score_ - before), !goes_on};
}

double PlaceEnv::published_reward(std::size_t slice, bool on_time) {
  const double size =
      clock_->world.cluster.slice(hands_.queue.slices()[slice]).compute_slices / 7.0;
  const auto early = static_cast<double>(hands_.early - early_before_);
  const double tardiness = hands_.tardiness_min - tardiness_before_;
  early_before_ = hands_.early;
  tardiness_before_ = hands_.tardiness_min;
  return kForSize * size + (on_time ? kForOnTime : 0) + kForEarly * early -
         kForTardiness * tardiness;
}

double PlaceEnv::terminal_reward() const {
  const auto jobs = static_cast<double>(last_day_.jobs);
  return kForPunctuality * (1 - last_day_.late_share()) - last_day_.mean_tardiness_s / 60 -
         kForEnergy * last_day_.energy_w_min() / jobs;
}

// Minus ET so far, with the charge for late jobs.
double PlaceEnv::corrected_score() {
  sim::World& world = clock_->world;
  world.meter.close(world.now);
  const double energy_w_min = world.meter.joules(*run_.power) / 60;
  const Unavoidable present = unavoidable_lateness(world);
  const auto jobs = static_cast<double>(day_.jobs.size());
  const double tardiness = hands_.tardiness_min + present.minutes;
  const double late = static_cast<double>(hands_.late) + present.jobs;
  return -(options_.energy_weight * run_.et_a * energy_w_min +
           (tardiness + options_.late_cost_min * late) / jobs) /
         (1 + run_.et_a);
}

}  // namespace partita::learn
