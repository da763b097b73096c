#include "learn/environments/mix_env.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "learn/algorithms/backward.h"
#include "learn/test_support.h"
#include "learn/trainer.h"
#include "policies/learned/familiarity.h"
#include "policies/learned/learned_repartitioner.h"
#include "policies/learned/place_rules.h"
#include "policies/registry.h"
#include "sim/engine.h"
#include "workload/generators/papers.h"
#include "workload/job_source.h"

namespace partita::learn {
namespace {

sim::RunOptions run_options() {
  sim::RunOptions run;
  run.model = *mig::find_gpu("a100-40gb");
  run.gpus = 3;
  run.power = &run.model->power_curves.front();
  run.horizon = Micros::seconds(3 * 3600);
  return run;
}

policies::MixRules rules_for(policies::Encoding encoding, policies::MixPick pick,
                             const std::string& menu) {
  return *policies::make_mix_rules(encoding, pick, **mig::find_gpu("a100-40gb"), menu);
}

nn::Model random_model(const policies::MixRules& rules, std::uint64_t seed) {
  nn::Model model;
  model.policy = nn::Network(
      nn::Shape{{static_cast<int>(rules.observation_size()), 16, rules.table().size()}, {}});
  Rng rng(seed);
  initialise(model.policy, rng, 1.0F);
  write_rules(rules, model.facts);
  return model;
}

MixEnv make_env(const policies::MixRules& rules) {
  MixEnvOptions options;
  options.run = run_options();
  options.scheduler = "cedf";
  options.rules = &rules;
  options.days = [](std::uint64_t seed) { return short_day(seed, 3, 6); };
  return MixEnv(options);
}

// What is learned in the environment is what runs in the simulator, to the last bit of ET; and the
// rewards of a day are minus its ET.
TEST(MixEnv, ADayIsTheSimulatorsDayAndItsRewardsAreMinusEt) {
  const auto rules = rules_for(policies::Encoding::kMeanFieldPlus, policies::MixPick::kBest,
                               "1*8;1*4,2*4;2*8;6*4,10*4");
  const nn::Model model = random_model(rules, 3);
  MixEnv env = make_env(rules);
  env.begin(5);
  const EnvSpec spec = env.spec();
  std::vector<float> observation(static_cast<std::size_t>(spec.observation));
  std::vector<std::uint8_t> allowed(static_cast<std::size_t>(spec.table.size()));
  std::vector<std::uint16_t> draws(1);
  std::vector<std::uint16_t> table(static_cast<std::size_t>(spec.table.size()));
  nn::Evaluator evaluate;
  double rewards = 0;
  for (bool done = false; !done;) {
    env.observe(observation, allowed, draws);
    const auto logits = evaluate(model.policy, observation);
    std::ranges::fill(table, std::uint16_t{0});
    table[static_cast<std::size_t>(std::ranges::max_element(logits) - logits.begin())] = 1;
    const Step step = env.step(table);
    rewards += static_cast<double>(step.reward);
    done = step.done;
  }
  const auto scheduler = policies::make_scheduler("cedf", 1);
  policies::LearnedRepartitioner repartitioner(model, rules, 3);
  const auto result = sim::simulate(short_day(5, 3, 6), run_options(), **scheduler, repartitioner);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(env.last_et(), result->et);
  EXPECT_GT(result->repartitions, 10U);
  // All but what happened before the first decision, and idle GPUs after the last completion.
  EXPECT_NEAR(-rewards, result->et, 0.02 * result->et);
}

TEST(MixEnv, MeanFieldDrawsMoveGpusBetweenLayouts) {
  const auto rules = rules_for(policies::Encoding::kMeanField, policies::MixPick::kDraw,
                               policies::every_layout(**mig::find_gpu("a100-40gb")));
  MixEnv env = make_env(rules);
  env.begin(1);
  std::vector<float> observation(53);
  std::vector<std::uint8_t> allowed(144);
  std::vector<std::uint16_t> draws(12);
  env.observe(observation, allowed, draws);
  EXPECT_EQ(draws[0], 3);
  std::vector<std::uint16_t> table(144);
  table[0 * 12 + 4] = 2;
  table[0 * 12 + 0] = 1;
  env.step(table);
  env.observe(observation, allowed, draws);
  EXPECT_EQ(draws[0], 1);
  EXPECT_EQ(draws[4], 2);
}

TEST(Trainer, AModelCanBeGivenTheRecordThatTrainingGives) {
  for (const char* name : {"mean-field+", "place+"}) {
    TrainOptions options;
    options.system = *find_system(name);
    options.run = run_options();
    options.scheduler = "edf-ss";
    options.repartition = "static:2";
    options.days = [](std::uint64_t episode) { return short_day(100 + episode, 3, 6); };
    options.validation = {short_day(1, 3, 6)};
    options.steps = 1'500;
    options.evolution_steps = 1;
    options.validations = 1;
    const auto trained = train(options);
    ASSERT_TRUE(trained.ok());
    nn::Model bare = trained->model;
    bare.seen = {};
    bare.drawn = {};
    bare.facts.more.erase(policies::kTrainedPreemption);
    options.record = &bare;
    const auto again = train(options);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->model, trained->model) << name;
  }
}

TEST(Trainer, EverySystemTrainsAModelThatLoadsAndRepeats) {
  for (const System& system : systems()) {
    TrainOptions options;
    options.system = &system;
    options.run = run_options();
    options.scheduler = "edf-ss";
    options.repartition = "static:2";
    // A network that has learned next to nothing changes layouts all day and gets no job done.
    options.rest = Micros::seconds(1800);
    options.days = [](std::uint64_t episode) { return short_day(100 + episode, 3, 6); };
    options.validation = {short_day(1, 3, 6)};
    options.steps = 1'500;
    options.evolution_steps = 1;
    options.validations = 2;
    std::vector<std::string> lines;
    options.log = [&](const std::string& line) { lines.push_back(line); };
    const auto trained = train(options);
    ASSERT_TRUE(trained.ok()) << system.name << ": " << trained.error().message;
    EXPECT_GE(lines.size(), 1U);
    const auto back = nn::parse_model(nn::format_model(trained->model));
    ASSERT_TRUE(back.ok());
    const auto again = train(options);
    EXPECT_EQ(nn::format_model(again->model), nn::format_model(trained->model)) << system.name;
    // The published placement is refused on other fleets, so it has nothing to record.
    const bool recorded = system.name != "place-ppo";
    EXPECT_EQ(!back->seen.empty(), recorded) << system.name;
    EXPECT_EQ(back->drawn.numbers(), recorded ? policies::kJobNumbers : 0) << system.name;
    if (system.decides == Decides::kPlacements) {
      EXPECT_TRUE(policies::read_place_rules(*back).ok());
      continue;
    }
    const auto rules = policies::read_rules(*back, *options.run.model);
    ASSERT_TRUE(rules.ok()) << rules.error().message;
    policies::LearnedRepartitioner learned(*back, *rules, options.run.gpus);
    const auto edf = policies::make_scheduler("edf-ss", 1);
    const auto day = sim::simulate(options.validation.front(), options.run, **edf, learned);
    EXPECT_EQ(day->et, trained->validation_et) << system.name;
  }
}

// What was given to begin from is what the model does before it has learned anything.
TEST(Trainer, BeginsWithTheMixItIsGiven) {
  TrainOptions options;
  options.system = *find_system("mean-field+");
  options.run = run_options();
  options.scheduler = "edf-ss";
  options.days = [](std::uint64_t episode) { return short_day(100 + episode, 3, 6); };
  options.validation = {short_day(1, 3, 6), short_day(2, 3, 6)};
  options.from = "2*1";
  options.evolves = false;
  const auto trained = train(options);
  ASSERT_TRUE(trained.ok()) << trained.error().message;
  const auto rules = policies::read_rules(trained->model, *options.run.model);
  ASSERT_TRUE(rules.ok());
  EXPECT_EQ(rules->start, 0U);
  EXPECT_TRUE(rules->menu_text.starts_with("2*1;"));
  const auto cedf = policies::make_scheduler(options.scheduler, 1);
  const auto fixed = policies::make_repartitioner("static:2", *options.run.model, options.run.gpus);
  double et = 0;
  for (const workload::Trace& day : options.validation) {
    et += sim::simulate(day, options.run, **cedf, **fixed)->et /
          static_cast<double>(options.validation.size());
  }
  EXPECT_NEAR(trained->validation_et, et, 0.05 * et);
}

TEST(Trainer, SaysWhatASystemCannotDo) {
  TrainOptions options;
  options.run = run_options();
  options.scheduler = "edf-ss";
  options.days = [](std::uint64_t episode) { return short_day(100 + episode, 3, 6); };
  options.validation = {short_day(1, 3, 6)};
  options.system = *find_system("mean-field");
  options.from = "2*1";
  EXPECT_EQ(train(options).error().message,
            "mean-field has no mix to begin from: its GPUs draw layouts");
  options.from = "";
  options.without = "rule";
  options.repartition = "static:2";
  options.system = *find_system("place-ppo");
  EXPECT_EQ(train(options).error().message, "place-ppo has no pieces to leave out");
}

TEST(Trainer, AnUnknownSystemIsAnsweredWithTheKnownOnes) {
  EXPECT_EQ(
      find_system("magic").error().message,
      "unknown system 'magic'; known: mean-field, mean-field+, place+, place-ppo, repartition+, "
      "repartition-dqn");
}

}  // namespace
}  // namespace partita::learn
