// Speed of learned decisions and of training: what a mean-field decision costs on fleets of very
// different sizes, and environment steps a second, rollout and update together.

#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "base/check.h"
#include "learn/backward.h"
#include "learn/mix_env.h"
#include "learn/ppo.h"
#include "learn/systems.h"
#include "policies/learned/learned_repartitioner.h"
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

// An environment that costs nothing, to see what learning costs: 88 numbers seen, 20 choices, as
// the technical report's placement has.
class Trivial : public learn::Env {
 public:
  learn::EnvSpec spec() const override { return {88, {1, 20}}; }
  void begin(std::uint64_t) override { left_ = 1'000; }
  void observe(std::span<float> observation, std::span<std::uint8_t> allowed,
               std::span<std::uint16_t> draws) override {
    for (float& each : observation) each = static_cast<float>(left_ % 7);
    for (std::uint8_t& each : allowed) each = 1;
    draws[0] = 1;
  }
  learn::Step step(std::span<const std::uint16_t> table) override {
    return {static_cast<float>(table[0]), --left_ == 0};
  }

 private:
  int left_ = 0;
};

void trivial_training(benchmark::State& state, std::vector<int> hidden, int epochs) {
  std::vector<std::unique_ptr<learn::Env>> envs;
  for (int i = 0; i < 64; ++i) envs.push_back(std::make_unique<Trivial>());
  learn::PpoOptions options;
  options.hidden = std::move(hidden);
  options.epochs = epochs;
  options.steps_per_round = 64;
  options.minibatch = 2048;
  options.steps = ~std::uint64_t{0};
  learn::Ppo ppo(options, std::move(envs));
  ppo.round();
  for (auto _ : state) benchmark::DoNotOptimize(ppo.round().steps);
  state.counters["steps/s"] = benchmark::Counter(static_cast<double>(state.iterations()) * 64 * 64,
                                                 benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(trivial_training, two_of_64, {64, 64}, 4)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(trivial_training, report, {256, 256, 128}, 10)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace partita
