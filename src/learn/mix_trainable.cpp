#include <fmt/format.h>

#include "learn/environments/mix_env.h"
#include "learn/trainable.h"
#include "policies/learned/learned_repartitioner.h"
#include "policies/registry.h"
#include "sim/engine.h"

namespace partita::learn {
namespace {

using policies::MixRules;

class MixTrainable : public Trainable {
 public:
  MixTrainable(const TrainOptions& options, const System& system, MixRules rules)
      : options_(options), system_(system), rules_(std::move(rules)) {}

  std::unique_ptr<Env> make_env(const sim::RunOptions& run) const override {
    MixEnvOptions env;
    env.run = run;
    env.scheduler = options_.scheduler;
    env.rules = &rules_;
    env.days = options_.days;
    env.energy_weights = options_.energy_weights;
    env.change_cost_min = options_.change_cost_min;
    env.early_tardiness = system_.early_tardiness;
    return std::make_unique<MixEnv>(std::move(env));
  }

  void describe(nn::ModelFacts& facts) const override {
    facts.more["scheduler"] = options_.scheduler;
    write_rules(rules_, facts);
  }

  Result<sim::RunResult> run_day(const nn::Model& model, const sim::RunOptions& run,
                                 const workload::Trace& day,
                                 nn::RangeRecorder* seen) const override {
    const auto policy = policies::make_scheduler(options_.scheduler, 1);
    if (!policy) return policy.error();
    policies::LearnedRepartitioner repartitioner(model, rules_, run.gpus);
    if (seen != nullptr) repartitioner.record(*seen);
    return sim::simulate(day, run, **policy, repartitioner);
  }

  // ET, with energy as heavy as asked for.
  double weigh(const sim::RunResult& day, std::uint64_t index) const override {
    const double weight = options_.energy_weights[index % options_.energy_weights.size()];
    return day.et + (weight - 1) * options_.run.et_a * day.energy_w_min();
  }

 private:
  const TrainOptions& options_;
  const System& system_;
  MixRules rules_;
};

Result<MixRules> mix_rules_of(const TrainOptions& options, const System& system) {
  const mig::GpuModel& gpu = *options.run.model;
  if (options.record != nullptr) return policies::read_rules(*options.record, gpu);
  // The systems' menus have the papers' numbers, which only GPUs of seven slices share.
  const bool has_menu = !system.menu.empty() && gpu.compute_slices == mig::kComputeSlicesMax;
  std::string menu = !options.menu.empty() ? options.menu
                     : has_menu            ? system.menu
                                           : policies::every_layout(gpu);
  policies::MixPick pick = system.pick;
  if (!options.from.empty()) {
    if (pick == policies::MixPick::kDraw) {
      return Error{fmt::format("{} has no mix to begin from: its GPUs draw layouts", system.name)};
    }
    menu = options.from + ";" + menu;
    // One mix at a time: of a mean over the menu, small changes of the network show nothing.
    pick = policies::MixPick::kBest;
  }
  auto rules = policies::make_mix_rules(system.encoding, pick, gpu, menu);
  if (!rules) return rules.error();
  rules->every_events = system.every_events;
  rules->reluctance = system.reluctance;
  rules->top = system.top;
  rules->rest = options.rest;
  return rules;
}

}  // namespace

Result<std::unique_ptr<Trainable>> make_mix_trainable(const TrainOptions& options,
                                                      const System& system) {
  Result<MixRules> rules = mix_rules_of(options, system);
  if (!rules) return rules.error();
  return {std::make_unique<MixTrainable>(options, system, *std::move(rules))};
}

}  // namespace partita::learn
