#include "learn/environments/mix_env.h"

#include <algorithm>

#include "base/check.h"
#include "policies/registry.h"

namespace partita::learn {
namespace {

// Sum over the jobs present of the tardiness they cannot avoid any more, in minutes; or of what
// they have already.
double present_tardiness_min(const sim::World& world, bool unavoidable) {
  double minutes = 0;
  for (std::uint32_t i = 0; i < world.jobs.handles_end(); ++i) {
    const cluster::JobHandle handle{i};
    if (!world.jobs.present(handle)) continue;
    const decide::ActiveJob& job = world.jobs[handle];
    const double left_us = unavoidable ? job.work_at(world.now) * job.fastest_time() : 0;
    const double late_us = static_cast<double>((world.now - job.deadline).count) + left_us;
    minutes += std::max(0.0, late_us) / 6e7;
  }
  return minutes;
}

}  // namespace

MixEnv::MixEnv(MixEnvOptions options)
    : options_(std::move(options)), run_(options_.run), hand_(*options_.rules) {
  auto scheduler = policies::make_scheduler(options_.scheduler, 1);
  CHECK(scheduler.ok());
  scheduler_ = *std::move(scheduler);
  run_.keep_jobs = run_.keep_schedule = false;
}

EnvSpec MixEnv::spec() const {
  return {static_cast<int>(options_.rules->observation_size()), options_.rules->table()};
}

void MixEnv::begin(std::uint64_t episode) {
  day_ = options_.days(episode);
  energy_weight_ = options_.energy_weights[episode % options_.energy_weights.size()];
  CHECK(!day_.jobs.empty());
  clock_ = std::make_unique<sim::Clockwork>(run_, *scheduler_, &hand_);
  const std::vector<mig::Layout> layouts = hand_.initial_layouts(clock_->view);
  for (std::uint32_t gpu = 0; gpu < run_.gpus; ++gpu) {
    cluster::place_layout(clock_->world.cluster, GpuId{gpu}, layouts[gpu]);
  }
  clock_->set_arrivals(day_.jobs, JobId{0});
  clock_->world.tally.reserve(day_.jobs.size());
  clock_->policies.begin(clock_->view);
  const bool any = run_to_decision();
  CHECK(any);
  score_ = score();
}

bool MixEnv::run_to_decision() {
  while (clock_->arrivals_left() || clock_->world.jobs.size() > 0) {
    const Micros next = clock_->next_event();
    CHECK(next != Micros::max());  // a job that no layout of the menu runs
    clock_->advance_to(next);
    if (clock_->policies.turn_due(next, clock_->world.counts.events)) return true;
    clock_->decide();
  }
  return false;
}

double MixEnv::score() {
  sim::World& world = clock_->world;
  world.meter.close(world.now);
  const double energy_w_min = world.meter.joules(*run_.power) / 60;
  const double tardiness_min = world.tally.tardiness_sum().to_minutes() +
                               present_tardiness_min(world, options_.early_tardiness);
  return -(energy_weight_ * run_.et_a * energy_w_min +
           tardiness_min / static_cast<double>(day_.jobs.size())) /
         (1 + run_.et_a);
}

void MixEnv::observe(std::span<float> observation, std::span<std::uint8_t> allowed,
                     std::span<std::uint16_t> draws) {
  hand_.state.observe(clock_->view, observation);
  std::ranges::fill(allowed, std::uint8_t{1});
  hand_.state.draws(draws);
}

Step MixEnv::step(std::span<const std::uint16_t> table) {
  hand_.requests.clear();
  if (options_.rules->pick == policies::MixPick::kDraw) {
    hand_.state.take_table(clock_->view, table, hand_.requests);
  } else {
    const auto chosen = std::ranges::max_element(table) - table.begin();
    hand_.state.take(clock_->view, static_cast<std::size_t>(chosen), hand_.requests);
  }
  clock_->repartition();
  clock_->decide();
  const bool goes_on = run_to_decision();
  const double before = score_;
  score_ = score();
  if (!goes_on) end_day();
  const double changes = static_cast<double>(hand_.requests.size()) * options_.change_cost_min /
                         static_cast<double>(day_.jobs.size());
  return {static_cast<float>(score_ - before - changes), !goes_on};
}

void MixEnv::end_day() {
  sim::RunResult result;
  clock_->world.finish(result);
  last_et_ = result.et;
}

}  // namespace partita::learn
