#include "base/round_up.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"

namespace partita {
namespace {

TEST(RoundUp, PartsOfAMicrosecondCountAsAWholeOne) {
  EXPECT_EQ(round_up(2.0), Micros{2});
  EXPECT_EQ(round_up(2.0000001), Micros{3});
  EXPECT_EQ(round_up(2.9), Micros{3});
  EXPECT_EQ(round_up(std::nextafter(1e9, 2e9)), Micros{1'000'000'001});
}

TEST(RoundUp, NothingTakesLessThanAMicrosecond) {
  for (const double micros : {0.0, -0.5, -1.0, -1e12, 0.3, 1.0}) {
    EXPECT_EQ(round_up(micros), Micros{1}) << micros;
  }
}

TEST(RoundUp, IsTheCeilingOfWhatIsLarger) {
  Rng rng(7);
  for (int i = 0; i < 10'000; ++i) {
    const double micros = std::ldexp(rng.uniform(1, 2), static_cast<int>(rng.below(62)));
    EXPECT_EQ(round_up(micros), Micros{static_cast<std::int64_t>(std::ceil(micros))}) << micros;
  }
}

}  // namespace
}  // namespace partita
