#include "learn/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/check.h"
#include "learn/pieces.h"
#include "learn/place_trainer.h"
#include "learn/train_state.h"
#include "policies/learned/learned_repartitioner.h"
#include "policies/registry.h"
#include "sim/engine.h"

namespace partita::learn {
namespace {

using policies::MixRules;

Result<sim::RunResult> run_day(const nn::Model& model, const MixRules& rules,
                               const sim::RunOptions& run, const std::string& scheduler,
                               const workload::Trace& day, nn::RangeRecorder* seen = nullptr) {
  const auto policy = policies::make_scheduler(scheduler, 1);
  if (!policy) return policy.error();
  policies::LearnedRepartitioner repartitioner(model, rules, run.gpus);
  if (seen != nullptr) repartitioner.record(*seen);
  return sim::simulate(day, run, **policy, repartitioner);
}

class Trainer {
 public:
  Trainer(const TrainOptions& options, System system, MixRules rules)
      : options_(options),
        system_(std::move(system)),
        training_run_(options.run),
        rules_(std::move(rules)) {
    if (!system_.pays_for_changes) training_run_.repartition_cost = sim::RepartitionCost::kPaper;
  }

  Result<Trained> run();

 private:
  Status take_up(const nn::TensorFile& checkpoint);
  Status learn_first_part();
  Status learn_by_ppo();
  // The untrained policy that asks for the first mix of the menu.
  Status lean_on_first();
  Status learn_by_dqn();
  Status learn_by_evolution();
  // Runs the best model over training days and writes down what it sees.
  Status record();
  std::unique_ptr<Env> make_env() const;
  nn::Model model_of(const nn::Network& policy, const nn::Normaliser& normaliser) const;
  // Tries the model on the validation days and keeps it if it is the best so far.
  Status validate(const nn::Model& model, std::string_view phase, double part,
                  const std::string& more);
  bool has_stalled() const { return since_best_ >= options_.patience; }
  void report(double part) const;
  // Puts what training knows beside the state of an algorithm and hands it out.
  Status save(std::string_view phase, double next_validation, nn::TensorFile file) const;
  // Where a checkpoint left off; nothing when this phase does not begin from one.
  std::optional<double> left_off(std::string_view phase) const {
    if (!resumed_ || resumed_->phase != phase) return {};
    return resumed_->next_validation;
  }
  // What training is after: ET, with energy as heavy as asked for.
  double weigh(const sim::RunResult& day, std::uint64_t index) const {
    const double weight = options_.energy_weights[index % options_.energy_weights.size()];
    return day.et + (weight - 1) * options_.run.et_a * day.energy_w_min();
  }

  const TrainOptions& options_;
  System system_;
  sim::RunOptions training_run_;  // that of the options, but with what the system leaves out
  MixRules rules_;
  Trained best_;
  std::optional<double> best_weighed_;
  std::optional<TrainState> resumed_;
  int since_best_ = 0;
  double first_part_ = 1;  // of the work that comes before evolution
};

std::unique_ptr<Env> Trainer::make_env() const {
  MixEnvOptions env;
  env.run = training_run_;
  env.scheduler = options_.scheduler;
  env.rules = &rules_;
  env.days = options_.days;
  env.energy_weights = options_.energy_weights;
  env.change_cost_min = options_.change_cost_min;
  env.early_tardiness = system_.early_tardiness;
  return std::make_unique<MixEnv>(std::move(env));
}

nn::Model Trainer::model_of(const nn::Network& policy, const nn::Normaliser& normaliser) const {
  nn::Model model;
  model.policy = policy;
  model.normaliser = normaliser;
  model.facts.command = options_.command;
  model.facts.commit = options_.commit;
  model.facts.seed = std::to_string(options_.seed);
  model.facts.more["system"] = system_.name;
  model.facts.more["scheduler"] = options_.scheduler;
  write_rules(rules_, model.facts);
  return model;
}

Status Trainer::validate(const nn::Model& model, std::string_view phase, double part,
                         const std::string& more) {
  double et = 0;
  double energy_w_min = 0;
  double weighed = 0;
  const auto days = static_cast<double>(options_.validation.size());
  for (std::size_t i = 0; i < options_.validation.size(); ++i) {
    const auto day =
        run_day(model, rules_, options_.run, options_.scheduler, options_.validation[i]);
    if (!day) return day.error();
    et += day->et / days;
    energy_w_min += day->energy_w_min() / days;
    weighed += weigh(*day, i) / days;
  }
  const bool better = !best_weighed_ || weighed < *best_weighed_;
  if (better) {
    best_.model = model;
    best_.validation_et = et;
    best_.validation_energy_w_min = energy_w_min;
    best_weighed_ = weighed;
  }
  since_best_ = better ? 0 : since_best_ + 1;
  if (options_.log) {
    options_.log(
        fmt::format(R"({{"phase":"{}","part":{:.4f},"decisions":{},"validation_et":{:.6f},)"
                    R"("validation_energy_w_min":{:.0f},"best_et":{:.6f}{}}})",
                    phase, part, best_.decisions, et, energy_w_min, best_.validation_et, more));
  }
  return {};
}

void Trainer::report(double part) const {
  if (options_.progress) options_.progress(part);
}

Status Trainer::save(std::string_view phase, double next_validation, nn::TensorFile file) const {
  if (!options_.checkpoint) return {};
  add_state({std::string(phase), next_validation, since_best_, best_.decisions, best_.validation_et,
             best_.validation_energy_w_min, best_weighed_, best_.model},
            file);
  return options_.checkpoint(file);
}

Status Trainer::learn_by_ppo() {
  PpoOptions ppo_options = system_.ppo;
  if (options_.steps > 0) ppo_options.steps = options_.steps;
  ppo_options.seed = options_.seed;
  ppo_options.top = system_.top;
  ppo_options.threads = options_.threads;
  if (!options_.hidden.empty()) ppo_options.hidden = options_.hidden;
  if (options_.epochs > 0) ppo_options.epochs = options_.epochs;
  std::vector<std::unique_ptr<Env>> envs;
  for (std::size_t i = 0; i < system_.envs; ++i) envs.push_back(make_env());
  Ppo ppo(ppo_options, std::move(envs));
  const double step = 1.0 / options_.validations;
  double next = step;
  if (const auto left = left_off("ppo")) {
    if (const Status resumed = ppo.resume(*options_.resume); !resumed) return resumed;
    next = *left;
  }
  while (!ppo.finished() && !has_stalled()) {
    const PpoReport round = ppo.round();
    best_.decisions = round.steps;
    report(first_part_ * ppo.part_done());
    if (ppo.part_done() >= next || ppo.finished()) {
      next = ppo.part_done() + step;
      const Status valid = validate(model_of(ppo.policy(), ppo.normaliser()), "ppo",
                                    ppo.part_done(), log_text(round));
      if (!valid) return valid;
    }
    if (!ppo.at_checkpoint()) continue;
    if (const Status saved = save("ppo", next, ppo.checkpoint()); !saved) return saved;
  }
  return {};
}

Status Trainer::lean_on_first() {
  // A few rounds, for the means and spreads of what is observed: they are settled between rounds.
  constexpr int kRounds = 4;
  PpoOptions ppo_options = system_.ppo;
  ppo_options.steps = 1;
  ppo_options.seed = options_.seed;
  std::vector<std::unique_ptr<Env>> envs;
  for (std::size_t i = 0; i < system_.envs; ++i) envs.push_back(make_env());
  Ppo ppo(ppo_options, std::move(envs));
  for (int round = 0; round < kRounds; ++round) best_.decisions = ppo.round().steps;
  nn::Model model = model_of(ppo.policy(), ppo.normaliser());
  constexpr float kLean = 0.3F;  // the changes of evolution's first steps reach other mixes
  model.policy.biases(model.policy.shape().layers() - 1)[0] += kLean;
  return validate(model, "start", 0, "");
}

Status Trainer::learn_by_dqn() {
  DqnOptions dqn_options = system_.dqn;
  if (options_.steps > 0) dqn_options.steps = options_.steps;
  dqn_options.seed = options_.seed;
  Dqn dqn(dqn_options, make_env());
  const std::uint64_t chunk = std::max<std::uint64_t>(
      1, dqn_options.steps / static_cast<std::uint64_t>(options_.validations));
  while (!dqn.finished() && !has_stalled()) {
    const DqnReport round = dqn.advance(chunk);
    best_.decisions = round.steps;
    report(first_part_ * dqn.part_done());
    const std::string more =
        fmt::format(R"(,"episode_reward":{:.6f},"loss":{:.6f},"random_share":{:.4f},)"
                    R"("learning_rate":{:.3g})",
                    round.episode_reward, round.loss, round.random_share, round.learning_rate);
    const Status valid =
        validate(model_of(dqn.network(), dqn.normaliser()), "dqn", dqn.part_done(), more);
    if (!valid) return valid;
  }
  return {};
}

// From the best model so far; the score of a day is that of the simulator.
Status Trainer::learn_by_evolution() {
  EvolutionOptions evolution_options = system_.evolution;
  if (options_.evolution_steps > 0) evolution_options.steps = options_.evolution_steps;
  evolution_options.seed = options_.seed;
  if (!options_.from.empty()) {
    // Nothing but evolution moves the network away from where it began.
    evolution_options.spread = 0.1;
    evolution_options.learning_rate = 0.03;
    evolution_options.learning_rate_end = 0.005;
  }
  // Every load that has a weight of its own is in each step.
  evolution_options.days =
      std::max(evolution_options.days, static_cast<int>(options_.energy_weights.size()));
  evolution_options.threads = std::max<std::size_t>(1, options_.threads);
  std::vector<nn::Model> trials(evolution_options.threads, best_.model);
  std::vector<std::optional<Error>> failures(trials.size());
  std::vector<workload::Trace> days(static_cast<std::size_t>(evolution_options.days));
  // Days after all that the first part has seen.
  constexpr std::uint64_t kFirstDay = 500'000;
  const auto score = [&](const nn::Network& policy, std::uint64_t day, std::size_t thread) {
    trials[thread].policy = policy;
    const auto result = run_day(trials[thread], rules_, training_run_, options_.scheduler,
                                days[static_cast<std::size_t>(day % days.size())]);
    if (!result) {
      failures[thread] = result.error();
      return 0.0;
    }
    return weigh(*result, kFirstDay + day);
  };
  Evolution evolution(evolution_options, best_.model.policy, score);
  const double step = 1.0 / options_.validations;
  double next = step;
  if (const auto left = left_off("evolution")) {
    if (const Status resumed = evolution.resume(*options_.resume); !resumed) return resumed;
    next = *left;
  } else {
    since_best_ = 0;
  }
  while (!evolution.finished() && !has_stalled()) {
    for (std::size_t i = 0; i < days.size(); ++i) {
      days[i] = options_.days(kFirstDay + evolution.steps() * days.size() + i);
    }
    const double tried = evolution.step();
    for (const std::optional<Error>& failure : failures) {
      if (failure) return *failure;
    }
    report(first_part_ + (1 - first_part_) * evolution.part_done());
    if (evolution.part_done() + 1e-9 < next) continue;
    next += step;
    nn::Model trial = best_.model;
    trial.policy = evolution.policy();
    const Status valid = validate(trial, "evolution", evolution.part_done(),
                                  fmt::format(R"(,"tried_et":{:.6f})", tried));
    if (!valid) return valid;
    nn::TensorFile file;
    evolution.add_to(file);
    if (const Status saved = save("evolution", next, std::move(file)); !saved) return saved;
  }
  return {};
}

Status Trainer::take_up(const nn::TensorFile& file) {
  auto state = read_state(file);
  if (!state) return state.error();
  best_.model = state->best;
  best_.validation_et = state->best_et;
  best_.validation_energy_w_min = state->best_energy_w_min;
  best_.decisions = state->decisions;
  best_weighed_ = state->best_weighed;
  since_best_ = state->since_best;
  resumed_ = *std::move(state);
  return {};
}

Status Trainer::learn_first_part() {
  if (!options_.from.empty()) return lean_on_first();
  return system_.algorithm == Algorithm::kPpo ? learn_by_ppo() : learn_by_dqn();
}

Status Trainer::record() {
  nn::RangeRecorder seen;
  policies::JobRecorder jobs;
  for (std::uint64_t i = 0; i < kRecordDays; ++i) {
    const workload::Trace day = options_.days(i);
    for (const workload::Job& job : day.jobs) jobs.add(job);
    const auto run = run_day(best_.model, rules_, options_.run, options_.scheduler, day, &seen);
    if (!run) return run.error();
  }
  best_.model.drawn = jobs.distributions();
  best_.model.seen = seen.ranges();
  best_.model.facts.more[policies::kTrainedPreemption] =
      policies::preemption_word(options_.run.preemption.mode);
  return {};
}

Result<Trained> Trainer::run() {
  if (options_.record != nullptr) {
    best_.model = *options_.record;
    if (const Status recorded = record(); !recorded) return recorded.error();
    return std::move(best_);
  }
  if (system_.algorithm == Algorithm::kDqn && options_.checkpoint) {
    return Error{fmt::format("{} keeps no checkpoint: it learns in seconds", system_.name)};
  }
  const bool evolves = options_.evolves && system_.evolution.steps > 0;
  first_part_ = evolves ? 0.5 : 1;
  if (options_.resume != nullptr) {
    if (const Status taken = take_up(*options_.resume); !taken) return taken.error();
  }
  if (!left_off("evolution")) {
    if (const Status learned = learn_first_part(); !learned) return learned.error();
    best_.stopped_early = has_stalled();
  }
  if (evolves) {
    if (const Status evolved = learn_by_evolution(); !evolved) return evolved.error();
  }
  if (const Status recorded = record(); !recorded) return recorded.error();
  report(1);
  return std::move(best_);
}

}  // namespace

Result<Trained> train(const TrainOptions& options) {
  if (options.system->decides == Decides::kPlacements) return train_placement(options);
  System system = *options.system;
  if (options.record != nullptr) {
    auto rules = policies::read_rules(*options.record, *options.run.model);
    if (!rules) return rules.error();
    return Trainer(options, std::move(system), *std::move(rules)).run();
  }
  if (!options.without.empty()) {
    Result<System> rest = without_pieces(std::move(system), options.without);
    if (!rest) return rest.error();
    system = *std::move(rest);
  }
  const mig::GpuModel& gpu = *options.run.model;
  // The systems' menus have the papers' numbers, which only GPUs of seven slices share.
  const bool has_menu = !system.menu.empty() && gpu.compute_slices == mig::kComputeSlicesMax;
  std::string menu = !options.menu.empty() ? options.menu
                     : has_menu            ? system.menu
                                           : policies::every_layout(gpu);
  if (!options.from.empty()) {
    if (system.pick == policies::MixPick::kDraw) {
      return Error{fmt::format("{} has no mix to begin from: its GPUs draw layouts", system.name)};
    }
    menu = options.from + ";" + menu;
    // One mix at a time: of a mean over the menu, small changes of the network show nothing.
    system.pick = policies::MixPick::kBest;
  }
  auto rules = policies::make_mix_rules(system.encoding, system.pick, gpu, menu);
  if (!rules) return rules.error();
  rules->every_events = system.every_events;
  rules->reluctance = system.reluctance;
  rules->top = system.top;
  rules->rest = options.rest;
  return Trainer(options, std::move(system), *std::move(rules)).run();
}

}  // namespace partita::learn
