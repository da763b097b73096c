#include "api/submission_rate.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace partita::api {
namespace {

TEST(SubmissionRate, TheBurstIsTakenAndOneMoreHasToWait) {
  SubmissionRate rate({2, 30});
  const Micros now = Micros::seconds(1000);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(rate.take(1, now), Micros{}) << i;
  const Micros wait = rate.take(1, now);
  EXPECT_EQ(wait, Micros{500'000});
  EXPECT_EQ(rate.take(2, now), Micros{}) << "another user's bucket is another";
  EXPECT_GT(rate.take(1, now + wait - Micros{2}), Micros{});
  EXPECT_EQ(rate.take(1, now + wait), Micros{});
}

// Whatever the pattern, no window holds more than the burst and what flowed in meanwhile.
TEST(SubmissionRate, NoWindowHoldsMoreThanTheBurstAndTheFlow) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed, 1);
    SubmissionRate rate({5, 20});
    std::vector<Micros> taken;
    Micros now = Micros::seconds(1);
    for (int i = 0; i < 600; ++i) {
      now = now + Micros{static_cast<std::int64_t>(rng.next() % 200'000)};
      if (rate.take(7, now) == Micros{}) taken.push_back(now);
    }
    for (std::size_t i = 0; i < taken.size(); ++i) {
      for (std::size_t j = i; j < taken.size(); ++j) {
        const double seconds = (taken[j] - taken[i]).to_seconds();
        ASSERT_LE(static_cast<double>(j - i + 1), 20 + 5 * seconds + 1e-6) << seed;
      }
    }
    EXPECT_GT(taken.size(), 20U);
  }
}

}  // namespace
}  // namespace partita::api
