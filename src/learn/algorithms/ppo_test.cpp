#include "learn/algorithms/ppo.h"

#include <gtest/gtest.h>

#include "learn/test_support.h"

namespace partita::learn {
namespace {

PpoOptions small_ppo() {
  PpoOptions options;
  options.hidden = {16};
  options.steps = 30'000;
  options.steps_per_round = 64;
  options.minibatch = 128;
  options.discount = 0.95;
  options.learning_rate = 5e-3;
  options.rounds_per_checkpoint = 5;
  return options;
}

TEST(Ppo, LearnsToGoFurtherForMore) {
  Ppo ppo(small_ppo(), copies_of<Walk>(8));
  PpoReport last;
  while (!ppo.finished()) last = ppo.round();
  // Four steps to the right: 1 - 3 x 0.01.
  EXPECT_GT(last.episode_reward, 0.9);
  EXPECT_GT(last.episodes, 0U);
}

TEST(Ppo, NeverDrawsWhatIsForbidden) {
  auto envs = copies_of<Walk>(2);
  const auto* first = dynamic_cast<Walk*>(envs.front().get());
  PpoOptions options = small_ppo();
  options.steps = 2'000;
  Ppo ppo(options, std::move(envs));
  while (!ppo.finished()) ppo.round();
  EXPECT_EQ(first->forbidden(), 0);
}

TEST(Ppo, LearnsAMeanFieldDecision) {
  PpoOptions options = small_ppo();
  options.steps = 60'000;
  Ppo ppo(options, copies_of<Balance>(8));
  const double first = ppo.round().episode_reward;
  PpoReport last;
  while (!ppo.finished()) last = ppo.round();
  // Independent draws with the best share miss by 0.1 on average: 2 over 20 steps.
  EXPECT_LT(first, -3);
  EXPECT_GT(last.episode_reward, -2.6);
}

TEST(Ppo, TheLearningRateAndTheEntropyBonusReallyFall) {
  Ppo ppo(small_ppo(), copies_of<Walk>(8));
  const PpoReport first = ppo.round();
  PpoReport last;
  while (!ppo.finished()) last = ppo.round();
  EXPECT_EQ(first.learning_rate, 5e-3);
  EXPECT_LT(last.learning_rate, 4e-4);
  EXPECT_LT(last.entropy_weight, 0.0025);
}

TEST(Ppo, TheSameSeedGivesTheSameNetworksBitForBit) {
  PpoOptions options = small_ppo();
  options.steps = 4'000;
  Ppo one(options, copies_of<Walk>(4));
  Ppo other(options, copies_of<Walk>(4));
  options.seed = 2;
  Ppo third(options, copies_of<Walk>(4));
  for (Ppo* ppo : {&one, &other, &third}) {
    while (!ppo->finished()) ppo->round();
  }
  EXPECT_EQ(one.policy(), other.policy());
  EXPECT_EQ(one.value(), other.value());
  EXPECT_FALSE(one.policy() == third.policy());
}

TEST(Ppo, TheNumberOfThreadsChangesNothing) {
  PpoOptions options = small_ppo();
  options.steps = 4'000;
  Ppo one(options, copies_of<Walk>(16));
  Ppo mean_field(options, copies_of<Balance>(16));
  options.threads = 3;
  Ppo three(options, copies_of<Walk>(16));
  Ppo mean_field_three(options, copies_of<Balance>(16));
  for (Ppo* ppo : {&one, &three, &mean_field, &mean_field_three}) {
    while (!ppo->finished()) ppo->round();
  }
  EXPECT_EQ(one.policy(), three.policy());
  EXPECT_EQ(one.value(), three.value());
  EXPECT_EQ(one.normaliser(), three.normaliser());
  EXPECT_EQ(mean_field.policy(), mean_field_three.policy());
}

TEST(Ppo, ResumingGivesTheNetworksOfAnUninterruptedRun) {
  PpoOptions options = small_ppo();
  options.steps = 8'000;
  Ppo whole(options, copies_of<Balance>(4));
  while (!whole.finished()) whole.round();

  Ppo first(options, copies_of<Balance>(4));
  for (int i = 0; i < 10; ++i) first.round();
  ASSERT_TRUE(first.at_checkpoint());
  const nn::TensorFile file = saved_state(first);
  Ppo second(options, copies_of<Balance>(4));
  ASSERT_TRUE(resume(second, file).ok());
  while (!second.finished()) second.round();
  EXPECT_EQ(second.policy(), whole.policy());
  EXPECT_EQ(second.value(), whole.value());
  EXPECT_EQ(second.normaliser(), whole.normaliser());
}

TEST(Ppo, ACheckpointOfOtherOptionsIsRefused) {
  Ppo ppo(small_ppo(), copies_of<Walk>(4));
  const nn::TensorFile file = saved_state(ppo);
  PpoOptions options = small_ppo();
  options.clip = 0.1;
  Ppo other(options, copies_of<Walk>(4));
  const Status refused = resume(other, file);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("is of other options"), std::string::npos);
}

// By hand: rewards 1, 2 with values 0.5, 0.25, then 0.75; discount 0.9, lambda 0.5.
TEST(Experience, AdvantagesAreThoseOfTheFormula) {
  Experience experience;
  experience.resize({1, {1, 2}}, 2, 1);
  experience.rewards = {1, 2};
  experience.values = {0.5F, 0.25F};
  experience.done = {0, 0};
  experience.estimate_advantages(std::vector<float>{0.75F}, 0.9, 0.5);
  const double second = 2 + 0.9 * 0.75 - 0.25;
  const double first = 1 + 0.9 * 0.25 - 0.5 + 0.9 * 0.5 * second;
  EXPECT_NEAR(static_cast<double>(experience.advantages[1]), second, 1e-6);
  EXPECT_NEAR(static_cast<double>(experience.advantages[0]), first, 1e-6);
  EXPECT_NEAR(static_cast<double>(experience.returns[0]), first + 0.5, 1e-6);
  experience.done = {1, 0};
  experience.estimate_advantages(std::vector<float>{0.75F}, 0.9, 0.5);
  EXPECT_NEAR(static_cast<double>(experience.advantages[0]), 0.5, 1e-6);
}

}  // namespace
}  // namespace partita::learn
