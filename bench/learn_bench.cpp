// Speed of learned decisions and of training: what a mean-field decision costs on fleets of very
// different sizes, and environment steps a second, rollout and update together.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/check.h"
#include "learn/algorithms/backward.h"
#include "learn/algorithms/ppo.h"
#include "learn/environments/mix_env.h"
#include "learn/environments/place_env.h"
#include "learn/systems.h"
#include "policies/layout_list.h"
#include "policies/learned/learned_repartitioner.h"
#include "policies/learned/place_scheduler.h"
#include "workload/generators/papers.h"
#include "workload/job_source.h"

namespace partita {
namespace {

workload::Trace papers_day(std::uint64_t seed) {
  workload::PapersOptions options;
  options.seed = seed;
  auto source = workload::make_papers(options);
  CHECK(source.ok());
  return *workload::read_all(**source);
}

policies::MixRules ladder_rules() {
  auto rules =
      policies::make_mix_rules(policies::Encoding::kMeanFieldPlus, policies::MixPick::kMean,
                               **mig::find_gpu("a100-40gb"), learn::ladder_menu());
  CHECK(rules.ok());
  return *std::move(rules);
}

nn::Model random_model(const policies::MixRules& rules) {
  nn::Model model;
  model.policy = nn::Network(
      nn::Shape{{static_cast<int>(rules.observation_size()), 32, 32, rules.table().size()}, {}});
  Rng rng(1);
  learn::initialise(model.policy, rng, 1.0F);
  return model;
}

// One decision of mean-field+ with three jobs for each GPU. Observation, network, mix and the GPUs
// that change are all in it.
void mean_field_decision(benchmark::State& state) {
  const auto gpus = static_cast<std::uint32_t>(state.range(0));
  const mig::GpuModel& model = **mig::find_gpu("a100-40gb");
  const policies::MixRules rules = ladder_rules();
  policies::LearnedRepartitioner policy(random_model(rules), rules, gpus);
  cluster::ClusterState cluster(model, gpus);
  decide::ActiveJobs jobs;
  const workload::Trace day = papers_day(1);
  for (std::uint32_t i = 0; i < 3 * gpus; ++i) {
    const workload::Job& job = day.jobs[i % day.jobs.size()];
    jobs.add(job, JobId{i}, 0x7F);
  }
  decide::View view{Micros::seconds(40'000), cluster, jobs, {}, model.power_curves.front(), 2e-7};
  policy.initial_layouts(view);
  std::vector<decide::LayoutRequest> requests;
  for (auto _ : state) {
    requests.clear();
    view.now += Micros::seconds(1);
    policy.decide(view, requests);
    benchmark::DoNotOptimize(requests.data());
  }
}
BENCHMARK(mean_field_decision)->Arg(8)->Arg(100)->Arg(1'000)->Arg(100'000);

// PPO on the simulator: rounds of 32 fleets of 8 GPUs.
void mean_field_plus_training(benchmark::State& state) {
  const policies::MixRules rules = ladder_rules();
  learn::MixEnvOptions options;
  options.run.model = *mig::find_gpu("a100-40gb");
  options.run.gpus = 8;
  options.run.power = &options.run.model->power_curves.front();
  options.run.horizon = Micros::seconds(86'400);
  options.run.repartition_cost = sim::RepartitionCost::kPaper;
  options.scheduler = "cedf";
  options.rules = &rules;
  options.days = papers_day;
  std::vector<std::unique_ptr<learn::Env>> envs;
  for (int i = 0; i < 32; ++i) envs.push_back(std::make_unique<learn::MixEnv>(options));
  learn::PpoOptions ppo_options = (*learn::find_system("mean-field+"))->ppo;
  ppo_options.steps = ~std::uint64_t{0};
  learn::Ppo ppo(ppo_options, std::move(envs));
  ppo.round();
  std::uint64_t steps = 0;
  for (auto _ : state) steps = ppo.round().steps;
  benchmark::DoNotOptimize(steps);
  state.counters["steps/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * 32.0 *
                             static_cast<double>(ppo_options.steps_per_round),
                         benchmark::Counter::kIsRate);
}
BENCHMARK(mean_field_plus_training)->Unit(benchmark::kMillisecond);

// The technical report's placement: its layouts, its day, no preemption.
std::unique_ptr<learn::Env> place_env() {
  learn::PlaceEnvOptions options;
  options.run.model = *mig::find_gpu("a100-40gb");
  options.run.gpus = 8;
  options.run.power = *mig::find_power_curve(*options.run.model, "tech-report");
  options.run.preemption.mode = decide::Preemption::Mode::kNone;
  options.run.horizon = Micros::seconds(86'400);
  options.layouts =
      *policies::parse_layout_list(*options.run.model, 8, "t1,t1,t2,t2,t3,t3,t12,t12");
  options.days = [](std::uint64_t episode) {
    workload::PapersOptions papers;
    papers.seed = episode;
    papers.mix.deadline_low = 2;
    papers.mix.deadline_high = 4;
    auto source = workload::make_papers(papers);
    CHECK(source.ok());
    return *workload::read_all(**source);
  };
  return std::make_unique<learn::PlaceEnv>(options);
}

// The environment alone: observation and step, the first slice allowed each time.
void place_env_steps(benchmark::State& state) {
  const auto env = place_env();
  std::vector<float> observation(static_cast<std::size_t>(env->spec().observation));
  std::vector<std::uint8_t> allowed(static_cast<std::size_t>(env->spec().table.choices));
  std::vector<std::uint16_t> draws(1);
  std::vector<std::uint16_t> table(allowed.size());
  std::uint64_t day = 0;
  env->begin(day);
  for (auto _ : state) {
    env->observe(observation, allowed, draws);
    std::ranges::fill(table, std::uint16_t{0});
    table[static_cast<std::size_t>(std::ranges::max_element(allowed) - allowed.begin())] = 1;
    if (env->step(table).done) env->begin(++day);
  }
  state.counters["steps/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(place_env_steps);

// Rollout and update together. Processor time is that of all threads.
void place_training(benchmark::State& state, learn::PpoOptions options, std::size_t envs) {
  std::vector<std::unique_ptr<learn::Env>> copies;
  for (std::size_t i = 0; i < envs; ++i) copies.push_back(place_env());
  options.threads = static_cast<std::size_t>(state.range(0));
  options.steps = ~std::uint64_t{0};
  const auto steps = static_cast<double>(envs * options.steps_per_round);
  learn::Ppo ppo(options, std::move(copies));
  ppo.round();
  for (auto _ : state) benchmark::DoNotOptimize(ppo.round().steps);
  state.counters["steps/s"] = benchmark::Counter(static_cast<double>(state.iterations()) * steps,
                                                 benchmark::Counter::kIsRate);
}

learn::PpoOptions two_of_64() {
  learn::PpoOptions options;
  options.hidden = {64, 64};
  options.epochs = 4;
  options.steps_per_round = 128;
  options.minibatch = 4096;
  return options;
}

void place_training_64(benchmark::State& state) {
  place_training(state, two_of_64(), 64);
}
BENCHMARK(place_training_64)
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

void place_training_report(benchmark::State& state) {
  const learn::System& system = **learn::find_system("place-ppo");
  place_training(state, system.ppo, system.envs);
}
BENCHMARK(place_training_report)
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

// One decision of place+ with `jobs` waiting and every slice of the report free.
void place_plus_decision(benchmark::State& state) {
  const mig::GpuModel& model = **mig::find_gpu("a100-40gb");
  policies::PlaceRules rules;
  nn::Model network;
  network.policy = nn::Network(nn::Shape{{rules.inputs(), 16, 16, 1}, {}});
  policies::PlaceScheduler scheduler(network, rules);
  cluster::ClusterState cluster(model, 8);
  const auto layouts = policies::parse_layout_list(model, 8, "t1,t1,t2,t2,t3,t3,t12,t12");
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
    cluster::place_layout(cluster, GpuId{gpu}, (*layouts)[gpu]);
  }
  decide::ActiveJobs jobs;
  const workload::Trace day = papers_day(1);
  decide::View view{Micros::seconds(40'000), cluster, jobs, {}, model.power_curves.front(), 2e-7};
  scheduler.begin(view);
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(state.range(0)); ++i) {
    scheduler.job_arrived(view, jobs.add(day.jobs[i], JobId{i}, 0x7F));
  }
  decide::Decision decision;
  for (auto _ : state) {
    decision.moves.clear();
    scheduler.decide(view, decision);
    for (const decide::Move& move : decision.moves) scheduler.job_stopped(view, move.job);
  }
  state.counters["placements/s"] = benchmark::Counter(
      static_cast<double>(state.iterations() * decision.moves.size()), benchmark::Counter::kIsRate);
}
BENCHMARK(place_plus_decision)->Arg(1)->Arg(10)->Arg(100);

// What this machine can multiply at most, for comparison: one layer of the report's network.
void layer_product(benchmark::State& state) {
  const nn::LayerSize size{256, 256, 256};
  const nn::Floats weights(std::size_t{256} * 256, 0.1F);
  const nn::Floats bias(256, 0.1F);
  const nn::Floats states(std::size_t{256} * 256, 0.1F);
  nn::Floats out(std::size_t{256} * 256);
  for (auto _ : state) {
    nn::best_kernels().affine(size, weights.data(), bias.data(), states.data(), out.data());
    benchmark::DoNotOptimize(out.data());
  }
  state.SetLabel(std::string(nn::best_kernels().name));
  state.counters["flop/s"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * 2 * 256 * 256 * 256, benchmark::Counter::kIsRate);
}
BENCHMARK(layer_product);

}  // namespace
}  // namespace partita
