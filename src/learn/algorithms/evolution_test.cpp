#include "learn/algorithms/evolution.h"

#include <gtest/gtest.h>

namespace partita::learn {
namespace {

// The best network gives 2 for the input 1, and the score is noisy from day to day.
double distance_from_two(const nn::Network& network, std::uint64_t day, std::size_t) {
  nn::Evaluator evaluate;
  const std::vector<float> one{1.0F};
  const double miss = static_cast<double>(evaluate(network, one)[0]) - 2;
  return miss * miss + static_cast<double>(day % 7);
}

TEST(Evolution, FindsWhatTheScoreAsksForAlthoughDaysDiffer) {
  EvolutionOptions options;
  options.steps = 400;
  Evolution evolution(options, nn::Network(nn::Shape{{1, 3, 1}, nn::Activation::kTanh}),
                      distance_from_two);
  while (!evolution.finished()) evolution.step();
  EXPECT_LT(distance_from_two(evolution.policy(), 0, 0), 0.01);
}

TEST(Evolution, TheSameSeedGivesTheSameNetwork) {
  const nn::Network start(nn::Shape{{1, 3, 1}, nn::Activation::kTanh});
  EvolutionOptions options;
  options.steps = 5;
  Evolution one(options, start, distance_from_two);
  Evolution other(options, start, distance_from_two);
  while (!one.finished()) one.step();
  while (!other.finished()) other.step();
  EXPECT_EQ(one.policy(), other.policy());
}

TEST(Evolution, TheNumberOfThreadsChangesNothing) {
  const nn::Network start(nn::Shape{{1, 3, 1}, nn::Activation::kTanh});
  EvolutionOptions options;
  options.steps = 5;
  Evolution one(options, start, distance_from_two);
  options.threads = 3;
  Evolution many(options, start, distance_from_two);
  while (!one.finished()) {
    EXPECT_EQ(one.step(), many.step());
  }
  EXPECT_EQ(one.policy(), many.policy());
}

}  // namespace
}  // namespace partita::learn
