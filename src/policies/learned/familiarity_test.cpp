#include "policies/learned/familiarity.h"

#include <gtest/gtest.h>

#include <array>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

nn::Model recorded(std::string preemption = "") {
  nn::Model model;
  model.seen = {{0, -1}, {1, 1}};
  if (!preemption.empty()) model.facts.more[kTrainedPreemption] = preemption;
  return model;
}

constexpr std::array<float, 2> kInside{0.5F, 0};
constexpr std::array<float, 2> kNear{1.2F, 0};  // a fifth of the width outside
constexpr std::array<float, 2> kFar{0.5F, 2};

TEST(Familiarity, AModelWithoutARecordIsTrusted) {
  const Fleet fleet(1, "1");
  const nn::Model model;
  Familiarity familiarity(model);
  familiarity.begin(fleet.view);
  familiarity.look(kFar);
  EXPECT_EQ(familiarity.trust(), Trust::kYes);
}

TEST(Familiarity, ItTakesAFewLooksAndNearIsNearEnough) {
  const Fleet fleet(1, "1");
  const nn::Model model = recorded();
  Familiarity familiarity(model);
  familiarity.begin(fleet.view);
  for (std::uint32_t i = 0; i < Familiarity::kLooksMin; ++i) {
    EXPECT_EQ(familiarity.trust(), Trust::kUnknown);
    familiarity.look(i % 2 == 0 ? kInside : kNear);
  }
  EXPECT_EQ(familiarity.trust(), Trust::kYes);
}

TEST(Familiarity, TrustIsLostWhenMuchIsFarOutsideAndComesBackLater) {
  const Fleet fleet(1, "1");
  const nn::Model model = recorded();
  Familiarity familiarity(model);
  familiarity.begin(fleet.view);
  for (int i = 0; i < 100; ++i) familiarity.look(kInside);
  familiarity.look(kFar);
  EXPECT_EQ(familiarity.trust(), Trust::kYes) << "one look says nothing";
  for (int i = 0; i < 30; ++i) familiarity.look(kFar);
  EXPECT_EQ(familiarity.trust(), Trust::kNo);
  int looks = 0;
  for (; familiarity.trust() == Trust::kNo; ++looks) familiarity.look(kInside);
  EXPECT_GT(looks, 40) << "not before it is well below what lost the trust";
  EXPECT_LT(looks, 200);
}

TEST(Familiarity, OtherRulesOfPreemptionAreStrangeWhateverIsSeen) {
  Fleet fleet(1, "1");
  const nn::Model model = recorded("cost");
  Familiarity familiarity(model);
  fleet.view.preemption.mode = decide::Preemption::Mode::kNone;
  familiarity.begin(fleet.view);
  for (int i = 0; i < 100; ++i) familiarity.look(kInside);
  EXPECT_EQ(familiarity.trust(), Trust::kNo);
  fleet.view.preemption.mode = decide::Preemption::Mode::kCost;
  familiarity.begin(fleet.view);
  for (int i = 0; i < 10; ++i) familiarity.look(kInside);
  EXPECT_EQ(familiarity.trust(), Trust::kYes);
}

}  // namespace
}  // namespace partita::policies
