#include <fmt/format.h>

#include "learn/algorithms/backward.h"
#include "learn/environments/place_env.h"
#include "learn/trainable.h"
#include "policies/learned/place_rules.h"
#include "policies/learned/place_scheduler.h"
#include "policies/learned/slice_scheduler.h"
#include "policies/registry.h"
#include "sim/engine.h"

namespace partita::learn {
namespace {

using policies::PlaceRules;

class PlaceTrainable : public Trainable {
 public:
  PlaceTrainable(const TrainOptions& options, const System& system, PlaceRules rules)
      : options_(options), system_(system), rules_(std::move(rules)) {}

  // Finds the layouts that the published system is trained on: it knows no other slices.
  Status set_layouts() {
    auto repartitioner = layouts_of(options_.run);
    if (!repartitioner) return repartitioner.error();
    const cluster::ClusterState nothing(*options_.run.model, options_.run.gpus);
    const decide::ActiveJobs nobody;
    layouts_ = (*repartitioner)
                   ->initial_layouts({Micros{}, nothing, nobody, options_.run.preemption,
                                      *options_.run.power, options_.run.et_a});
    rules_.encoding = policies::PlaceEncoding::kPublished;
    rules_.slices = PlaceEnv(env_options(options_.run)).slices();
    return {};
  }

  std::unique_ptr<Env> make_env(const sim::RunOptions& run) const override {
    return std::make_unique<PlaceEnv>(env_options(run));
  }

  nn::Network untrained() const override {
    nn::Shape shape{{rules_.inputs()}, system_.ppo.activation};
    shape.widths.insert(shape.widths.end(), system_.ppo.hidden.begin(), system_.ppo.hidden.end());
    shape.widths.push_back(1);
    nn::Network network(shape);
    Rng rng(options_.seed, 1);
    // All scores are 0 at first: the rule that the network corrects decides.
    initialise(network, rng, rules_.has(policies::PlacePiece::kRule) ? 0.0F : 1.0F);
    return network;
  }

  void describe(nn::ModelFacts& facts) const override {
    facts.more["trained_on"] = options_.repartition;
    write_rules(rules_, facts);
  }

  Result<sim::RunResult> run_day(const nn::Model& model, const sim::RunOptions& run,
                                 const workload::Trace& day,
                                 nn::RangeRecorder* seen) const override {
    const auto layouts = layouts_of(run);
    if (!layouts) return layouts.error();
    if (!is_recorded()) {
      policies::SliceScheduler scheduler(model, rules_);
      return sim::simulate(day, run, scheduler, **layouts);
    }
    policies::PlaceScheduler scheduler(model, rules_);
    if (seen != nullptr) scheduler.record(*seen);
    return sim::simulate(day, run, scheduler, **layouts);
  }

  // ET, with energy as heavy as asked for and a charge for every late job.
  double weigh(const sim::RunResult& day, std::uint64_t) const override {
    return day.et + (options_.energy_weights.front() - 1) * options_.run.et_a * day.energy_w_min() +
           options_.late_cost_min * day.late_share();
  }

  // Of the published system there is nothing to record: it is refused on any other fleet.
  bool is_recorded() const override { return rules_.encoding == policies::PlaceEncoding::kPlus; }

 private:
  Result<std::unique_ptr<decide::Repartitioner>> layouts_of(const sim::RunOptions& run) const {
    return policies::make_repartitioner(options_.repartition, *run.model, run.gpus);
  }

  PlaceEnvOptions env_options(const sim::RunOptions& run) const {
    PlaceEnvOptions env;
    env.run = run;
    env.layouts = layouts_;
    env.days = options_.days;
    env.reward = options_.reward;
    env.energy_weight = options_.energy_weights.front();
    env.late_cost_min = options_.late_cost_min;
    return env;
  }

  const TrainOptions& options_;
  const System& system_;
  PlaceRules rules_;
  std::vector<mig::Layout> layouts_;  // one a GPU; the published system's only
};

Result<PlaceRules> place_rules_of(const TrainOptions& options, const System& system) {
  if (options.record != nullptr) return policies::read_place_rules(*options.record);
  PlaceRules rules;
  rules.gpu = options.run.model->key;
  if (system.algorithm != Algorithm::kEvolution && !options.without.empty()) {
    return Error{fmt::format("{} has no pieces to leave out", system.name)};
  }
  if (const Status known = leave_out(rules, options.without); !known) return known.error();
  return rules;
}

}  // namespace

Result<std::unique_ptr<Trainable>> make_place_trainable(const TrainOptions& options,
                                                        const System& system) {
  Result<PlaceRules> rules = place_rules_of(options, system);
  if (!rules) return rules.error();
  auto trainable = std::make_unique<PlaceTrainable>(options, system, *std::move(rules));
  if (options.record == nullptr && system.algorithm == Algorithm::kPpo) {
    if (const Status set = trainable->set_layouts(); !set) return set.error();
  }
  return {std::move(trainable)};
}

}  // namespace partita::learn
