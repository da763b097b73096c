#include "learn/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "learn/pieces.h"
#include "learn/trainable.h"
#include "policies/learned/familiarity.h"

namespace partita::learn {
namespace {

// Evolution whose score is that of the simulator over whole days, from number `first_day` on.
class DayEvolution : public Learner {
 public:
  DayEvolution(const EvolutionOptions& options, const nn::Model& start, const Trainable& trainable,
               const sim::RunOptions& run, const DaySource& source, std::uint64_t first_day)
      : trainable_(trainable),
        run_(run),
        source_(source),
        first_day_(first_day),
        days_per_step_(2 * static_cast<std::uint64_t>(options.pairs * options.days)),
        days_(static_cast<std::size_t>(options.days)),
        trials_(options.threads, start),
        failures_(options.threads),
        evolution_(options, start.policy,
                   [this](const nn::Network& policy, std::uint64_t day, std::size_t thread) {
                     return score(policy, day, thread);
                   }) {}

  bool finished() const override { return evolution_.finished(); }
  double part_done() const override { return evolution_.part_done(); }
  std::uint64_t samples() const override { return evolution_.steps() * days_per_step_; }
  const nn::Network& policy() const override { return evolution_.policy(); }
  const nn::Normaliser& normaliser() const override { return trials_.front().normaliser; }
  bool at_checkpoint() const override { return true; }
  void state(StateFile& file) override { evolution_.state(file); }

  Result<Figures> learn() override {
    for (std::size_t i = 0; i < days_.size(); ++i) {
      days_[i] = source_(first_day_ + evolution_.steps() * days_.size() + i);
    }
    const double tried = evolution_.step();
    for (const std::optional<Error>& failure : failures_) {
      if (failure) return *failure;
    }
    return Figures{{"tried_score", tried}};
  }

 private:
  double score(const nn::Network& policy, std::uint64_t day, std::size_t thread) {
    trials_[thread].policy = policy;
    const auto result =
        trainable_.run_day(trials_[thread], run_, days_[day % days_.size()], nullptr);
    if (result) return trainable_.weigh(*result, first_day_ + day);
    failures_[thread] = result.error();
    return 0;
  }

  const Trainable& trainable_;
  const sim::RunOptions& run_;
  const DaySource& source_;
  std::uint64_t first_day_;
  std::uint64_t days_per_step_;
  std::vector<workload::Trace> days_;           // of this step
  std::vector<nn::Model> trials_;               // one a thread
  std::vector<std::optional<Error>> failures_;  // by thread
  Evolution evolution_;
};

// A stretch of training by one algorithm.
struct Phase {
  std::string name;
  double begin = 0;  // parts of all the work, for the progress
  double end = 1;
  double first_validation = 0;  // parts of the phase
  double validation_step = 0;
  // The next validation is a step after the last, however late that was. Else validations keep to
  // their grid, and those that a long round missed are made up for round by round.
  bool slides = false;
  bool counts = true;  // what it learns from is what the model was trained on
};

class Trainer {
 public:
  Trainer(const TrainOptions& options, System system, const Trainable& trainable)
      : options_(options),
        system_(std::move(system)),
        training_run_(options.run),
        trainable_(trainable),
        alone_(system_.algorithm == Algorithm::kEvolution),
        evolves_(alone_ || (options.evolves && system_.evolution.steps > 0)) {
    if (!system_.pays_for_changes) training_run_.repartition_cost = sim::RepartitionCost::kPaper;
  }

  Result<Trained> run();

 private:
  Status train();
  Status learn_by_ppo(double end, double step);
  Status learn_by_dqn(double end);
  // The untrained policy that asks for the first mix of the menu.
  Status lean_on_first();
  Status evolve(double begin, double step);
  // Lets the algorithm learn until it is done or gets no better.
  Status learn(Learner& learner, const Phase& phase);
  // Runs the best model over training days and writes down what it sees.
  Status record();
  std::vector<std::unique_ptr<Env>> make_envs() const;
  nn::Model model_of(const nn::Network& policy, const nn::Normaliser& normaliser) const;
  // Tries the model on the validation days and keeps it if it is the best so far.
  Status validate(const nn::Model& model, const std::string& phase, double part,
                  const Figures& figures);
  bool has_stalled() const { return since_best_ >= options_.patience; }
  void report(double part) const {
    if (options_.progress) options_.progress(part);
  }
  // What training knows besides its algorithm.
  void state(StateFile& file);
  bool left_off_in(const std::string& phase) const { return resumed_ && phase_ == phase; }

  const TrainOptions& options_;
  System system_;                 // with what was asked for in place of its own settings
  sim::RunOptions training_run_;  // that of the options, but with what the system leaves out
  const Trainable& trainable_;
  bool alone_;  // evolution is all there is
  bool evolves_;
  Trained best_;
  std::optional<double> best_weighed_;
  int since_best_ = 0;  // validations
  std::string phase_;
  double next_validation_ = 0;  // when so much of the phase is done
  std::optional<StateFile> resumed_;
};

std::vector<std::unique_ptr<Env>> Trainer::make_envs() const {
  std::vector<std::unique_ptr<Env>> envs;
  for (std::size_t i = 0; i < system_.envs; ++i) envs.push_back(trainable_.make_env(training_run_));
  return envs;
}

nn::Model Trainer::model_of(const nn::Network& policy, const nn::Normaliser& normaliser) const {
  nn::Model model;
  model.policy = policy;
  model.normaliser = normaliser;
  model.facts.command = options_.command;
  model.facts.commit = options_.commit;
  model.facts.seed = std::to_string(options_.seed);
  model.facts.more["system"] = system_.name;
  trainable_.describe(model.facts);
  return model;
}

Status Trainer::validate(const nn::Model& model, const std::string& phase, double part,
                         const Figures& figures) {
  double et = 0;
  double energy_w_min = 0;
  double tardiness_min = 0;
  double late_share = 0;
  double weighed = 0;
  const auto days = static_cast<double>(options_.validation.size());
  for (std::size_t i = 0; i < options_.validation.size(); ++i) {
    const auto day = trainable_.run_day(model, options_.run, options_.validation[i], nullptr);
    if (!day) return day.error();
    et += day->et / days;
    energy_w_min += day->energy_w_min() / days;
    tardiness_min += day->mean_tardiness_s / 60 / days;
    late_share += day->late_share() / days;
    weighed += trainable_.weigh(*day, i) / days;
  }
  const bool better = !best_weighed_ || weighed < *best_weighed_;
  if (better) {
    best_.model = model;
    best_.validation_et = et;
    best_.validation_energy_w_min = energy_w_min;
    best_weighed_ = weighed;
  }
  since_best_ = better ? 0 : since_best_ + 1;
  if (!options_.log) return {};
  nlohmann::ordered_json line{{"phase", phase},
                              {"part", part},
                              {"decisions", best_.decisions},
                              {"validation_et", et},
                              {"validation_energy_w_min", energy_w_min},
                              {"validation_tardiness_min", tardiness_min},
                              {"validation_late_share", late_share},
                              {"validation_score", weighed},
                              {"best_score", *best_weighed_},
                              {"best_et", best_.validation_et}};
  for (const auto& [name, value] : figures) line[name] = value;
  options_.log(line.dump());
  return {};
}

void Trainer::state(StateFile& file) {
  bool validated = best_weighed_.has_value();
  file.must_agree("training.system", system_.name);
  file.item("training.phase", phase_);
  file.item("training.next", next_validation_);
  file.item("training.since_best", since_best_);
  file.item("training.decisions", best_.decisions);
  file.item("training.stopped_early", best_.stopped_early);
  file.item("training.validated", validated);
  if (!validated) return;
  if (!best_weighed_) best_weighed_ = 0;
  file.item("training.best_et", best_.validation_et);
  file.item("training.best_energy", best_.validation_energy_w_min);
  file.item("training.best_weighed", *best_weighed_);
  file.item("training.best", best_.model);
}

Status Trainer::learn(Learner& learner, const Phase& phase) {
  if (left_off_in(phase.name)) {
    learner.state(*resumed_);
    if (const Status resumed = resumed_->status(); !resumed) return resumed;
  } else {
    phase_ = phase.name;
    next_validation_ = phase.first_validation;
    since_best_ = 0;
  }
  const double slack = phase.slides ? 0 : 1e-9;  // for a grid that does not add up exactly
  while (!learner.finished() && !has_stalled()) {
    const Result<Figures> figures = learner.learn();
    if (!figures) return figures.error();
    const double part = learner.part_done();
    if (phase.counts) best_.decisions = learner.samples();
    report(phase.begin + (phase.end - phase.begin) * part);
    if (part + slack >= next_validation_ || learner.finished()) {
      next_validation_ = (phase.slides ? part : next_validation_) + phase.validation_step;
      const nn::Model model = model_of(learner.policy(), learner.normaliser());
      if (const Status valid = validate(model, phase.name, part, *figures); !valid) return valid;
    }
    if (!options_.checkpoint || !learner.at_checkpoint()) continue;
    StateFile file;
    state(file);
    learner.state(file);
    if (const Status saved = options_.checkpoint(file.file()); !saved) return saved;
  }
  return {};
}

Status Trainer::learn_by_ppo(double end, double step) {
  Ppo ppo(system_.ppo, make_envs());
  return learn(ppo, {.name = "ppo",
                     .end = end,
                     .first_validation = step,
                     .validation_step = step,
                     .slides = true});
}

Status Trainer::learn_by_dqn(double end) {
  Dqn dqn(system_.dqn, trainable_.make_env(training_run_));
  const double round =
      static_cast<double>(system_.dqn.steps_per_round) / static_cast<double>(system_.dqn.steps);
  return learn(dqn, {.name = "dqn", .end = end, .validation_step = round});
}

Status Trainer::lean_on_first() {
  // A few rounds, for the means and spreads of what is observed: they are settled between rounds.
  constexpr int kRounds = 4;
  PpoOptions ppo_options = options_.system->ppo;
  ppo_options.steps = 1;
  ppo_options.seed = options_.seed;
  Ppo ppo(ppo_options, make_envs());
  for (int round = 0; round < kRounds; ++round) best_.decisions = ppo.round().steps;
  nn::Model model = model_of(ppo.policy(), ppo.normaliser());
  constexpr float kLean = 0.3F;  // the changes of evolution's first steps reach other mixes
  model.policy.biases(model.policy.shape().layers() - 1)[0] += kLean;
  return validate(model, "start", 0, {});
}

// From the best model so far.
Status Trainer::evolve(double begin, double step) {
  // Days after all that the first part has seen.
  const std::uint64_t first_day = alone_ ? 0 : 500'000;
  DayEvolution evolution(system_.evolution,
                         alone_ ? model_of(trainable_.untrained(), {}) : best_.model, trainable_,
                         training_run_, options_.days, first_day);
  return learn(evolution, {.name = "evolution",
                           .begin = begin,
                           .first_validation = alone_ ? 0 : step,
                           .validation_step = step,
                           .counts = alone_});
}

Status Trainer::record() {
  if (!trainable_.is_recorded()) return {};
  nn::RangeRecorder seen;
  policies::JobRecorder jobs;
  for (std::uint64_t i = 0; i < kRecordDays; ++i) {
    const workload::Trace day = options_.days(i);
    for (const workload::Job& job : day.jobs) jobs.add(job);
    const auto run = trainable_.run_day(best_.model, options_.run, day, &seen);
    if (!run) return run.error();
  }
  best_.model.drawn = jobs.distributions();
  best_.model.seen = seen.ranges();
  best_.model.facts.more[policies::kTrainedPreemption] =
      policies::preemption_word(options_.run.preemption.mode);
  return {};
}

Status Trainer::train() {
  if (options_.resume != nullptr) {
    resumed_.emplace(*options_.resume);
    state(*resumed_);
    if (const Status taken = resumed_->status(); !taken) return taken;
  }
  const double step = 1.0 / options_.validations;
  const double first_part = alone_ ? 0 : evolves_ ? 0.5 : 1;
  if (!alone_ && !left_off_in("evolution")) {
    const Status learned = !options_.from.empty()                 ? lean_on_first()
                           : system_.algorithm == Algorithm::kPpo ? learn_by_ppo(first_part, step)
                                                                  : learn_by_dqn(first_part);
    if (!learned) return learned;
    best_.stopped_early = has_stalled();
  }
  if (!evolves_) return {};
  if (const Status evolved = evolve(first_part, step); !evolved) return evolved;
  if (alone_) best_.stopped_early = has_stalled();
  return {};
}

Result<Trained> Trainer::run() {
  if (options_.record != nullptr) {
    best_.model = *options_.record;
  } else if (const Status trained = train(); !trained) {
    return trained.error();
  }
  if (const Status recorded = record(); !recorded) return recorded.error();
  report(1);
  best_.unit = alone_ ? "days" : "decisions";
  return std::move(best_);
}

// The system with what was asked for in place of its own settings.
System configured(System system, const TrainOptions& options) {
  if (options.steps > 0) system.ppo.steps = system.dqn.steps = options.steps;
  system.ppo.seed = system.dqn.seed = system.evolution.seed = options.seed;
  system.ppo.top = system.top;
  system.ppo.threads = options.threads;
  if (!options.hidden.empty()) system.ppo.hidden = options.hidden;
  if (options.epochs > 0) system.ppo.epochs = options.epochs;
  system.dqn.steps_per_round = std::max<std::uint64_t>(
      1, system.dqn.steps / static_cast<std::uint64_t>(options.validations));
  EvolutionOptions& evolution = system.evolution;
  if (options.evolution_steps > 0 && evolution.steps > 0) evolution.steps = options.evolution_steps;
  evolution.threads = std::max<std::size_t>(1, options.threads);
  if (!options.from.empty()) {
    // Nothing but evolution moves the network away from where it began.
    evolution.spread = 0.1;
    evolution.learning_rate = 0.03;
    evolution.learning_rate_end = 0.005;
  }
  if (system.decides == Decides::kLayouts) {
    // Every load that has a weight of its own is in each step.
    evolution.days = std::max(evolution.days, static_cast<int>(options.energy_weights.size()));
  } else if (options.reward == PlaceReward::kCorrected) {
    // About two hours of decisions, where 0.99 looks half an hour ahead: rewards come as things
    // happen, so nothing of the end of the day is lost.
    system.ppo.discount = 0.998;
  }
  return system;
}

}  // namespace

Result<Trained> train(const TrainOptions& options) {
  System system = *options.system;
  const bool mixes = system.decides == Decides::kLayouts;
  if (mixes && options.record == nullptr && !options.without.empty()) {
    Result<System> rest = without_pieces(std::move(system), options.without);
    if (!rest) return rest.error();
    system = *std::move(rest);
  }
  system = configured(std::move(system), options);
  const auto trainable =
      mixes ? make_mix_trainable(options, system) : make_place_trainable(options, system);
  if (!trainable) return trainable.error();
  return Trainer(options, system, **trainable).run();
}

}  // namespace partita::learn
