#include "learn/place_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "learn/algorithms/backward.h"
#include "policies/learned/familiarity.h"
#include "policies/learned/learned_scheduler.h"
#include "policies/learned/place_rules.h"
#include "policies/learned/place_scheduler.h"
#include "policies/registry.h"
#include "sim/engine.h"

namespace partita::learn {
namespace {

using policies::PlaceRules;

// About two hours of decisions, where 0.99 looks half an hour ahead: rewards come as things happen,
// so nothing of the end of the day is lost.
constexpr double kCorrectedDiscount = 0.998;

// Means over days of what a placement is judged by.
struct PlaceScore {
  double et = 0;
  double energy_w_min = 0;
  double tardiness_min = 0;
  double late_share = 0;
};

class PlaceTrainer {
 public:
  PlaceTrainer(const TrainOptions& options, PlaceRules rules)
      : options_(options), system_(*options.system), rules_(std::move(rules)) {}

  Result<Trained> run();

 private:
  Status evolve();
  Status learn_by_ppo();
  // Runs the best model over training days and writes down what it sees.
  Status record();
  std::unique_ptr<PlaceEnv> make_env(const std::vector<mig::Layout>& layouts) const;
  nn::Model model_of(const nn::Network& policy, const nn::Normaliser& normaliser) const;
  Result<sim::RunResult> run_day(const nn::Model& model, const workload::Trace& day) const;
  Result<PlaceScore> score_of(const nn::Model& model,
                              const std::vector<workload::Trace>& days) const;
  Status validate(const nn::Model& model, std::string_view phase, double part,
                  const std::string& more);
  // What training is after: ET, with energy as heavy as asked for and a charge for every late job.
  double weigh(const PlaceScore& score) const {
    return score.et +
           (options_.energy_weights.front() - 1) * options_.run.et_a * score.energy_w_min +
           options_.late_cost_min * score.late_share;
  }

  const TrainOptions& options_;
  const System& system_;
  PlaceRules rules_;
  Trained best_;
  std::optional<double> best_weighed_;
  int since_best_ = 0;
};

PlaceScore score_of_day(const sim::RunResult& result) {
  return {result.et, result.energy_w_min(), result.mean_tardiness_s / 60, result.late_share()};
}

nn::Model PlaceTrainer::model_of(const nn::Network& policy,
                                 const nn::Normaliser& normaliser) const {
  nn::Model model;
  model.policy = policy;
  model.normaliser = normaliser;
  model.facts.command = options_.command;
  model.facts.commit = options_.commit;
  model.facts.seed = std::to_string(options_.seed);
  model.facts.more["system"] = system_.name;
  model.facts.more["trained_on"] = options_.repartition;
  write_rules(rules_, model.facts);
  return model;
}

Result<sim::RunResult> PlaceTrainer::run_day(const nn::Model& model,
                                             const workload::Trace& day) const {
  const auto scheduler = policies::make_learned_scheduler(model);
  const auto layouts =
      policies::make_repartitioner(options_.repartition, *options_.run.model, options_.run.gpus);
  if (!layouts) return layouts.error();
  return sim::simulate(day, options_.run, *scheduler, **layouts);
}

Result<PlaceScore> PlaceTrainer::score_of(const nn::Model& model,
                                          const std::vector<workload::Trace>& days) const {
  CHECK(!days.empty());
  PlaceScore mean;
  const auto count = static_cast<double>(days.size());
  for (const workload::Trace& day : days) {
    const auto result = run_day(model, day);
    if (!result) return result.error();
    const PlaceScore each = score_of_day(*result);
    mean.et += each.et / count;
    mean.energy_w_min += each.energy_w_min / count;
    mean.tardiness_min += each.tardiness_min / count;
    mean.late_share += each.late_share / count;
  }
  return mean;
}

Status PlaceTrainer::validate(const nn::Model& model, std::string_view phase, double part,
                              const std::string& more) {
  const Result<PlaceScore> score = score_of(model, options_.validation);
  if (!score) return score.error();
  const double weighed = weigh(*score);
  const bool better = !best_weighed_ || weighed < *best_weighed_;
  if (better) {
    best_.model = model;
    best_.validation_et = score->et;
    best_.validation_energy_w_min = score->energy_w_min;
    best_weighed_ = weighed;
  }
  since_best_ = better ? 0 : since_best_ + 1;
  if (options_.log) {
    options_.log(fmt::format(
        R"({{"phase":"{}","part":{:.4f},"decisions":{},"validation_et":{:.6f},)"
        R"("validation_energy_w_min":{:.0f},"validation_tardiness_min":{:.5f},)"
        R"("validation_late_share":{:.5f},"validation_score":{:.6f},"best_score":{:.6f},)"
        R"("best_et":{:.6f}{}}})",
        phase, part, best_.decisions, score->et, score->energy_w_min, score->tardiness_min,
        score->late_share, weighed, *best_weighed_, best_.validation_et, more));
  }
  return {};
}

Status PlaceTrainer::evolve() {
  if (options_.checkpoint) {
    return Error{fmt::format("{} keeps no checkpoint: it learns in minutes", system_.name)};
  }
  EvolutionOptions evolution_options = system_.evolution;
  if (options_.evolution_steps > 0) evolution_options.steps = options_.evolution_steps;
  evolution_options.seed = options_.seed;
  evolution_options.threads = options_.threads;
  const std::vector<int>& hidden = options_.hidden.empty() ? system_.ppo.hidden : options_.hidden;
  nn::Shape shape{{rules_.inputs()}, system_.ppo.activation};
  shape.widths.insert(shape.widths.end(), hidden.begin(), hidden.end());
  shape.widths.push_back(1);
  nn::Network start(shape);
  Rng rng(options_.seed, 1);
  // All scores are 0 at first: the rule that the network corrects decides.
  initialise(start, rng, rules_.has(policies::PlacePiece::kRule) ? 0.0F : 1.0F);
  std::vector<workload::Trace> days(static_cast<std::size_t>(evolution_options.days));
  std::vector<nn::Model> trials(evolution_options.threads, model_of(start, {}));
  std::vector<std::optional<Error>> failures(evolution_options.threads);
  const auto score = [&](const nn::Network& policy, std::uint64_t day, std::size_t thread) {
    trials[thread].policy = policy;
    const auto result = run_day(trials[thread], days[day % days.size()]);
    if (!result) failures[thread] = result.error();
    return result ? weigh(score_of_day(*result)) : 0.0;
  };
  Evolution evolution(evolution_options, start, score);
  const double step = 1.0 / options_.validations;
  double next = 0;
  while (!evolution.finished() && since_best_ < options_.patience) {
    for (std::size_t i = 0; i < days.size(); ++i) {
      days[i] = options_.days(evolution.steps() * days.size() + i);
    }
    const double tried = evolution.step();
    for (const auto& failure : failures) {
      if (failure) return *failure;
    }
    best_.decisions += 2 * static_cast<std::uint64_t>(evolution_options.pairs) * days.size();
    if (options_.progress) options_.progress(evolution.part_done());
    if (evolution.part_done() + 1e-9 < next && !evolution.finished()) continue;
    next += step;
    const Status valid =
        validate(model_of(evolution.policy(), {}), "evolution", evolution.part_done(),
                 fmt::format(R"(,"tried_score":{:.6f})", tried));
    if (!valid) return valid;
  }
  return {};
}

std::unique_ptr<PlaceEnv> PlaceTrainer::make_env(const std::vector<mig::Layout>& layouts) const {
  PlaceEnvOptions env;
  env.run = options_.run;
  env.layouts = layouts;
  env.days = options_.days;
  env.reward = options_.reward;
  env.energy_weight = options_.energy_weights.front();
  env.late_cost_min = options_.late_cost_min;
  return std::make_unique<PlaceEnv>(std::move(env));
}

Status PlaceTrainer::learn_by_ppo() {
  auto repartitioner =
      policies::make_repartitioner(options_.repartition, *options_.run.model, options_.run.gpus);
  if (!repartitioner) return repartitioner.error();
  const cluster::ClusterState nothing(*options_.run.model, options_.run.gpus);
  const decide::ActiveJobs nobody;
  const auto layouts = (*repartitioner)
                           ->initial_layouts({Micros{}, nothing, nobody, options_.run.preemption,
                                              *options_.run.power, options_.run.et_a});
  std::vector<std::unique_ptr<Env>> envs;
  for (std::size_t i = 0; i < system_.envs; ++i) envs.push_back(make_env(layouts));
  rules_.encoding = policies::PlaceEncoding::kPublished;
  rules_.slices = make_env(layouts)->slices();
  PpoOptions ppo_options = system_.ppo;
  if (options_.steps > 0) ppo_options.steps = options_.steps;
  if (!options_.hidden.empty()) ppo_options.hidden = options_.hidden;
  if (options_.epochs > 0) ppo_options.epochs = options_.epochs;
  ppo_options.seed = options_.seed;
  ppo_options.threads = options_.threads;
  if (options_.reward == PlaceReward::kCorrected) ppo_options.discount = kCorrectedDiscount;
  Ppo ppo(ppo_options, std::move(envs));
  if (options_.resume != nullptr) {
    if (const Status resumed = ppo.resume(*options_.resume); !resumed) return resumed;
  }
  const double step = 1.0 / options_.validations;
  double next = ppo.part_done() + step;
  while (!ppo.finished() && since_best_ < options_.patience) {
    const PpoReport round = ppo.round();
    best_.decisions = round.steps;
    if (options_.progress) options_.progress(ppo.part_done());
    if (ppo.at_checkpoint() && options_.checkpoint) {
      if (const Status saved = options_.checkpoint(ppo.checkpoint()); !saved) return saved;
    }
    if (ppo.part_done() < next && !ppo.finished()) continue;
    next = ppo.part_done() + step;
    const Status valid =
        validate(model_of(ppo.policy(), ppo.normaliser()), "ppo", ppo.part_done(), log_text(round));
    if (!valid) return valid;
  }
  return {};
}

// Of the published system there is nothing to record: it is refused on any other fleet.
Status PlaceTrainer::record() {
  if (rules_.encoding != policies::PlaceEncoding::kPlus) return {};
  nn::RangeRecorder seen;
  policies::JobRecorder jobs;
  policies::PlaceScheduler scheduler(best_.model, rules_);
  scheduler.record(seen);
  for (std::uint64_t i = 0; i < kRecordDays; ++i) {
    const auto layouts =
        policies::make_repartitioner(options_.repartition, *options_.run.model, options_.run.gpus);
    if (!layouts) return layouts.error();
    const workload::Trace day = options_.days(i);
    for (const workload::Job& job : day.jobs) jobs.add(job);
    const auto run = sim::simulate(day, options_.run, scheduler, **layouts);
    if (!run) return run.error();
  }
  best_.model.drawn = jobs.distributions();
  best_.model.seen = seen.ranges();
  best_.model.facts.more[policies::kTrainedPreemption] =
      policies::preemption_word(options_.run.preemption.mode);
  return {};
}

Result<Trained> PlaceTrainer::run() {
  if (options_.record != nullptr) {
    best_.model = *options_.record;
    if (const Status recorded = record(); !recorded) return recorded.error();
    return std::move(best_);
  }
  const bool evolves = system_.algorithm == Algorithm::kEvolution;
  const Status learned = evolves ? evolve() : learn_by_ppo();
  if (!learned) return learned.error();
  if (const Status recorded = record(); !recorded) return recorded.error();
  best_.stopped_early = since_best_ >= options_.patience;
  best_.unit = evolves ? "days" : "decisions";
  return std::move(best_);
}

}  // namespace

Result<Trained> train_placement(const TrainOptions& options) {
  if (options.record != nullptr) {
    auto recorded = policies::read_place_rules(*options.record);
    if (!recorded) return recorded.error();
    return PlaceTrainer(options, *std::move(recorded)).run();
  }
  PlaceRules rules;
  rules.gpu = options.run.model->key;
  if (options.system->algorithm != Algorithm::kEvolution && !options.without.empty()) {
    return Error{fmt::format("{} has no pieces to leave out", options.system->name)};
  }
  if (const Status known = leave_out(rules, options.without); !known) return known.error();
  return PlaceTrainer(options, std::move(rules)).run();
}

}  // namespace partita::learn
