#include "learn/trainer.h"

#include <gtest/gtest.h>

#include "learn/test_support.h"
#include "workload/generators/papers.h"
#include "workload/job_source.h"

namespace partita::learn {
namespace {

// So little of everything that a training has many checkpoints in a second.
System small(const System& system) {
  System small = system;
  small.envs = 4;
  small.ppo.hidden = {8};
  small.ppo.rounds_per_checkpoint = 2;
  small.ppo.steps_per_round = 8;
  small.ppo.minibatch = 64;
  small.dqn.hidden = {8};
  small.dqn.first_steps = 30;
  small.dqn.replay = 60;
  small.dqn.updates_per_target = 7;
  small.evolution.pairs = 2;
  return small;
}

TrainOptions small_options(const System& system) {
  TrainOptions options;
  options.system = &system;
  options.run.model = *mig::find_gpu("a100-40gb");
  options.run.gpus = 1;
  options.run.power = &options.run.model->power_curves.front();
  options.run.horizon = Micros::seconds(2 * 3600);
  options.scheduler = "edf-ss";
  options.repartition = "static:2";
  // A network that has learned next to nothing changes layouts all day and gets no job done.
  options.rest = Micros::seconds(1800);
  options.days = [](std::uint64_t episode) { return short_day(100 + episode, 2, 6); };
  options.validation = {short_day(1, 2, 6), short_day(2, 2, 6)};
  options.steps = 160;
  options.evolution_steps = 4;
  options.validations = 6;
  return options;
}

// What a training leaves behind.
struct Left {
  Trained trained;
  std::vector<std::string> checkpoints;  // bytes
  std::vector<std::string> log;
};

// Stops after `checkpoints_max` checkpoints, as if it were killed there.
Left trained(TrainOptions options, std::size_t checkpoints_max = ~std::size_t{0}) {
  Left left;
  options.log = [&](const std::string& line) { left.log.push_back(line); };
  options.checkpoint = [&](const nn::TensorFile& file) -> Status {
    left.checkpoints.push_back(nn::format_tensor_file(file));
    if (left.checkpoints.size() < checkpoints_max) return {};
    return Error{"killed"};
  };
  auto result = train(options);
  if (result) {
    left.trained = *std::move(result);
  } else {
    EXPECT_EQ(result.error().message, "killed");
  }
  return left;
}

// Stopped at each of its checkpoints and resumed from the file, a training leaves the model, the
// checkpoints, the validations and the figures of one that was not stopped, to the last byte.
void expect_resumes_to_the_bit(const TrainOptions& options, std::size_t checkpoints) {
  const std::string& name = options.system->name;
  const Left whole = trained(options);
  ASSERT_EQ(whole.checkpoints.size(), checkpoints) << name;
  for (std::size_t stop = 1; stop <= checkpoints; ++stop) {
    const Left first = trained(options, stop);
    ASSERT_EQ(first.checkpoints.size(), stop);
    const auto file = nn::parse_tensor_file(first.checkpoints.back());
    ASSERT_TRUE(file.ok()) << file.error().message;
    TrainOptions resumed = options;
    resumed.resume = &*file;
    const Left rest = trained(resumed);
    EXPECT_EQ(nn::format_model(rest.trained.model), nn::format_model(whole.trained.model))
        << name << " stopped at checkpoint " << stop;
    EXPECT_EQ(rest.trained.validation_et, whole.trained.validation_et);
    EXPECT_EQ(rest.trained.decisions, whole.trained.decisions);
    EXPECT_EQ(rest.trained.stopped_early, whole.trained.stopped_early);
    std::vector<std::string> checkpoint_files = first.checkpoints;
    checkpoint_files.insert(checkpoint_files.end(), rest.checkpoints.begin(),
                            rest.checkpoints.end());
    EXPECT_TRUE(checkpoint_files == whole.checkpoints) << name << " from checkpoint " << stop;
    std::vector<std::string> log = first.log;
    log.insert(log.end(), rest.log.begin(), rest.log.end());
    EXPECT_EQ(log, whole.log) << name << " stopped at checkpoint " << stop;
  }
}

void expect_system_resumes(std::string_view name, std::size_t checkpoints) {
  const System system = small(**find_system(name));
  expect_resumes_to_the_bit(small_options(system), checkpoints);
}

TEST(Trainer, MeanFieldResumesToTheBit) {
  expect_system_resumes("mean-field", 2);
}

TEST(Trainer, MeanFieldPlusResumesToTheBitInBothPhases) {
  expect_system_resumes("mean-field+", 2 + 4);
}

TEST(Trainer, RepartitionPlusResumesToTheBitInBothPhases) {
  expect_system_resumes("repartition+", 2 + 4);
}

TEST(Trainer, RepartitionDqnResumesToTheBit) {
  expect_system_resumes("repartition-dqn", 7);
}

TEST(Trainer, PlacePpoResumesToTheBit) {
  expect_system_resumes("place-ppo", 2);
}

TEST(Trainer, PlacePlusResumesToTheBit) {
  expect_system_resumes("place+", 4);
}

TEST(Trainer, AMixThatWasGivenResumesToTheBit) {
  const System system = small(**find_system("mean-field+"));
  TrainOptions options = small_options(system);
  options.from = "2*1";
  expect_resumes_to_the_bit(options, 4);
}

// Once the first phase got no better, that is reported, also by a run that resumes in the second.
TEST(Trainer, ATrainingThatGotNoBetterResumesToTheBit) {
  for (const char* name : {"repartition+", "place+", "repartition-dqn"}) {
    const System system = small(**find_system(name));
    TrainOptions options = small_options(system);
    options.steps = 320;
    options.validations = 20;
    options.patience = 2;
    options.evolution_steps = 12;
    const Left whole = trained(options);
    EXPECT_TRUE(whole.trained.stopped_early) << name;
    expect_resumes_to_the_bit(options, whole.checkpoints.size());
  }
}

// Every system of the table has a test above.
TEST(Trainer, NoSystemIsLeftOut) {
  std::vector<std::string> names;
  for (const System& system : systems()) names.push_back(system.name);
  EXPECT_EQ(names, (std::vector<std::string>{"mean-field", "mean-field+", "place+", "place-ppo",
                                             "repartition+", "repartition-dqn"}));
}

TEST(Trainer, ACheckpointOfAnotherSystemOrProgramIsRefused) {
  const System dqn = small(**find_system("repartition-dqn"));
  const Left left = trained(small_options(dqn), 1);
  auto file = nn::parse_tensor_file(left.checkpoints.front());
  ASSERT_TRUE(file.ok());
  const System ppo = small(**find_system("mean-field"));
  TrainOptions options = small_options(ppo);
  options.resume = &*file;
  EXPECT_EQ(train(options).error().message,
            "the checkpoint is of other options (repartition-dqn), wanted mean-field");
  file->metadata["format"] = "partita-checkpoint/1";
  EXPECT_EQ(train(options).error().message,
            "this is no checkpoint of training, or of an older program");
}

}  // namespace
}  // namespace partita::learn
