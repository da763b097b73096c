#include "policies/learned/mix_menu.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/rng.h"
#include "policies/test_support.h"

namespace partita::policies {
namespace {

TEST(MixMenu, SharesOfEveryEntrySumToOne) {
  const auto menu = parse_menu(a100(), "1*8;1*6,2*2;2*3,10*1");
  ASSERT_TRUE(menu.ok()) << menu.error().message;
  EXPECT_EQ(menu->numbers, (std::vector<int>{1, 2, 10}));
  EXPECT_EQ(menu->entries[1], (std::vector<float>{0.75F, 0.25F, 0}));
  EXPECT_EQ(menu->entries[2], (std::vector<float>{0, 0.75F, 0.25F}));
}

TEST(MixMenu, MistakesAreNamed) {
  EXPECT_EQ(parse_menu(a100(), "1*8;13").error().message,
            "the mix '13' has layout 13; a100-40gb has 1 to 12");
  EXPECT_EQ(parse_menu(a100(), "1*8;2*x").error().message,
            "'2*x' in the mix '2*x' is not NUMBER*WEIGHT, for example 2*3");
  EXPECT_FALSE(parse_menu(a100(), "").ok());
  EXPECT_FALSE(parse_menu(a100(), "1*-2").ok());
}

TEST(MixMenu, EveryLayoutIsThereByItself) {
  const auto menu = parse_menu(a100(), every_layout(a100()));
  ASSERT_TRUE(menu.ok());
  EXPECT_EQ(menu->entries.size(), 12U);
  EXPECT_EQ(menu->layouts.size(), 12U);
}

TEST(MixMenu, CountsAreTheWholeFleetAndNearTheShares) {
  Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<float> shares(1 + rng.below(6));
    for (float& share : shares) share = static_cast<float>(rng.uniform());
    const float sum = std::accumulate(shares.begin(), shares.end(), 0.0F);
    for (float& share : shares) share /= sum;
    const auto gpus = static_cast<std::uint32_t>(1 + rng.below(50));
    const auto counts = counts_for(shares, gpus);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0U), gpus);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      EXPECT_LT(std::abs(counts[i] - static_cast<double>(shares[i]) * gpus), 1.001);
    }
  }
}

}  // namespace
}  // namespace partita::policies
