#include "learn/algorithms/dqn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "learn/test_support.h"

namespace partita::learn {
namespace {

DqnOptions small_dqn() {
  DqnOptions options;
  options.hidden = {32};
  options.steps = 20'000;
  options.replay = 5'000;
  options.discount = 0.95;
  options.normalise_observations = false;
  return options;
}

// Value iteration on the walk: the values of left and right at every place.
std::array<std::array<double, 2>, Walk::kPlaces> exact_values(double discount) {
  std::array<std::array<double, 2>, Walk::kPlaces> values{};
  for (int round = 0; round < 200; ++round) {
    const auto worth = [&](int place) {
      if (place == 0) return 0.3;
      if (place == Walk::kPlaces - 1) return 1.0;
      const auto at = static_cast<std::size_t>(place);
      return -0.01 + discount * std::max(values[at][0], values[at][1]);
    };
    for (int place = 1; place + 1 < Walk::kPlaces; ++place) {
      values[static_cast<std::size_t>(place)] = {worth(place - 1), worth(place + 1)};
    }
  }
  return values;
}

TEST(Dqn, FindsTheValuesThatValueIterationFinds) {
  DqnOptions options = small_dqn();
  options.random_share_end = 0.6;  // so that every place is seen to the end
  Dqn dqn(options, std::make_unique<Walk>());
  while (!dqn.finished()) dqn.advance(1'000);
  const auto exact = exact_values(0.95);
  nn::Evaluator evaluate;
  for (std::size_t place = 1; place + 1 < Walk::kPlaces; ++place) {
    std::vector<float> state(Walk::kPlaces);
    state[place] = 1;
    const auto values = evaluate(dqn.policy(), state);
    EXPECT_NEAR(static_cast<double>(values[0]), exact[place][0], 0.05) << place;
    EXPECT_NEAR(static_cast<double>(values[1]), exact[place][1], 0.05) << place;
  }
}

TEST(Dqn, TheSameSeedGivesTheSameNetworkBitForBit) {
  DqnOptions options = small_dqn();
  options.steps = 3'000;
  options.normalise_observations = true;
  Dqn one(options, std::make_unique<Walk>());
  Dqn other(options, std::make_unique<Walk>());
  while (!one.finished()) one.advance(1'000);
  while (!other.finished()) other.advance(1'000);
  EXPECT_EQ(one.policy(), other.policy());
}

// Saved in the middle of an episode too, before learning begins and after the replay is full.
TEST(Dqn, ResumingGivesTheNetworkOfAnUninterruptedRun) {
  DqnOptions options = small_dqn();
  options.steps = 3'000;
  options.replay = 500;
  options.normalise_observations = true;
  Dqn whole(options, std::make_unique<Walk>());
  while (!whole.finished()) whole.advance(1'000);
  for (const std::uint64_t steps : {1U, 57U, 1'234U, 2'999U}) {
    Dqn first(options, std::make_unique<Walk>());
    first.advance(steps);
    const nn::TensorFile file = saved_state(first);
    Dqn second(options, std::make_unique<Walk>());
    ASSERT_TRUE(resume(second, file).ok());
    EXPECT_EQ(saved_state(second), file);
    while (!second.finished()) second.advance(1'000);
    EXPECT_EQ(saved_state(second), saved_state(whole)) << "after " << steps;
  }
}

TEST(Dqn, ACheckpointThatCannotBeIsRefused) {
  DqnOptions options = small_dqn();
  Dqn dqn(options, std::make_unique<Walk>());
  dqn.advance(100);
  const nn::TensorFile good = saved_state(dqn);
  const auto refusal = [&](const nn::TensorFile& file) {
    Dqn other(options, std::make_unique<Walk>());
    const Status taken = resume(other, file);
    return taken.ok() ? "" : taken.error().message;
  };
  EXPECT_EQ(refusal(good), "");
  nn::TensorFile bad = good;
  bad.metadata["replay.size"] = "999999999";
  EXPECT_EQ(refusal(bad), "the checkpoint lacks replay.size or has one that does not fit");
  bad = good;
  for (nn::Tensor& tensor : bad.tensors) {
    if (tensor.name == "replay.choices") tensor.values[0] = 7;
  }
  EXPECT_EQ(refusal(bad), "the checkpoint lacks replay.choices or has one that does not fit");
  bad = good;
  for (nn::Tensor& tensor : bad.tensors) {
    // Always to the right: the walk is over before these choices are.
    if (tensor.name == "episode_choices") tensor.values.assign(100, 1.0F);
    if (tensor.name == "episode_choices") tensor.shape = {100};
  }
  EXPECT_EQ(refusal(bad), "the checkpoint lacks episode_choices or has one that does not fit");
  options.batch = 32;
  EXPECT_NE(refusal(good).find("is of other options"), std::string::npos);
}

TEST(Replay, TheOldestGoesWhenFull) {
  Replay replay({1, {1, 1}}, 2);
  const std::vector<std::uint8_t> allowed{1};
  for (const float value : {1.0F, 2.0F, 3.0F}) {
    const std::vector<float> state{value};
    replay.add(state, 0, value, false, state, allowed);
  }
  EXPECT_EQ(replay.size(), 2U);
  EXPECT_EQ(replay.reward(0), 3);
  EXPECT_EQ(replay.reward(1), 2);
  EXPECT_EQ(replay.observation(0).front(), 3);
}

}  // namespace
}  // namespace partita::learn
