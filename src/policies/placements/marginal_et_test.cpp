#include "policies/placements/marginal_et.h"

#include <gtest/gtest.h>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

// Watts: 40 120 160 200 240 250 250 250; layout 3 is 4g:0 2g:4 1g.10gb:6; weight of energy 1.
TEST(MarginalEt, TakesTheLeastExtraEnergyWhenNothingIsLate) {
  Fleet fleet(1, "3");
  MarginalEt rule;
  rule.rebuild(fleet.view);
  // 1g 80 * 32, 2g 120 * 16, 4g 200 * 8.
  EXPECT_EQ(fleet.claim(rule, kScaling, kFarDeadline), "gpu 0 4g.20gb:0");
  // Four busy now: 2g (250 - 240) * 16, 1g (250 - 240) * 32.
  EXPECT_EQ(fleet.claim(rule, kScaling, kFarDeadline), "gpu 0 2g.10gb:4");
  EXPECT_EQ(fleet.claim(rule, kScaling, kFarDeadline), "gpu 0 1g.10gb:6");
  EXPECT_EQ(fleet.claim(rule, kScaling, kFarDeadline), "none");
}

TEST(MarginalEt, TiesGoToTheLowerGpu) {
  Fleet fleet(2, "1,1");
  MarginalEt rule;
  rule.rebuild(fleet.view);
  EXPECT_EQ(fleet.claim(rule, kScaling, kFarDeadline), "gpu 0 7g.40gb:0");
  EXPECT_EQ(fleet.claim(rule, kScaling, kFarDeadline), "gpu 1 7g.40gb:0");
}

TEST(MarginalEt, WithLittleWeightOnEnergyLatenessDecides) {
  Fleet fleet(1, "3");
  fleet.view.et_a = 1e-9;
  MarginalEt rule;
  rule.rebuild(fleet.view);
  // 1g is cheapest (80 * 8 against 120 * 7 and 200 * 6) but late.
  EXPECT_EQ(fleet.claim(rule, {8, 7, 7, 6, 6}, 6), "gpu 0 4g.20gb:0");
  fleet.view.et_a = 1;
  rule.rebuild(fleet.view);
  EXPECT_EQ(fleet.claim(rule, {8, 7, 7, 6, 6}, kFarDeadline), "gpu 0 1g.10gb:6");
}

}  // namespace
}  // namespace partita::policies
