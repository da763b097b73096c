#include "experiment/seeds.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace partita::experiment {
namespace {

constexpr std::array<Role, 3> kRoles{Role::kTest, Role::kTrain, Role::kTune};

TEST(Seeds, NoSeedHasTwoRoles) {
  // Every seed of every role, once each: none may come up a second time.
  std::vector<bool> used(5 * kDaysMax, false);
  for (const Role role : kRoles) {
    for (std::uint64_t index = 0; index < kDaysMax; ++index) {
      const std::uint64_t seed = day_seed(role, index);
      ASSERT_LT(seed, used.size());
      ASSERT_FALSE(used[seed]) << seed;
      used[seed] = true;
      ASSERT_EQ(role_of_seed(seed), role) << seed;
    }
  }
}

TEST(Seeds, AnyOtherSeedIsATestDay) {
  EXPECT_EQ(role_of_seed(0), Role::kTest);
  EXPECT_EQ(role_of_seed(7), Role::kTest);
  EXPECT_EQ(role_of_seed(~std::uint64_t{0}), Role::kTest);
}

TEST(Seeds, ADayKeepsItsSeedForEver) {
  EXPECT_EQ(day_seed(Role::kTest, 0), 1'000'000);
  EXPECT_EQ(day_seed(Role::kTrain, 5), 2'000'005);
  EXPECT_EQ(day_seed(Role::kTune, 999'999), 3'999'999);
}

TEST(Seeds, RolesAreReadByTheNameTheyAreWrittenWith) {
  for (const Role role : kRoles) EXPECT_EQ(role_named(role_name(role)), role);
  EXPECT_FALSE(role_named("Test").has_value());
}

TEST(SeedsDeathTest, ADayBeyondTheRangeIsRefused) {
  EXPECT_DEATH(day_seed(Role::kTest, kDaysMax), "index < kDaysMax");
}

}  // namespace
}  // namespace partita::experiment
