#include "cluster/layout_stepper.h"

#include <gtest/gtest.h>

#include <random>

#include "mig/enumerate.h"

namespace partita::cluster {
namespace {

constexpr GpuId kGpu{0};

bool in_target(SliceId, bool is) {
  return is;
}
bool any(SliceId) {
  return true;
}
void nothing(SliceId) {}

class LayoutStepperTest : public testing::Test {
 protected:
  const mig::GpuModel& model_ = **mig::find_gpu("a100-40gb");
  ClusterState state_{model_, 1};
  LayoutStepper stepper_{state_};

  const mig::Layout& present() const { return state_.gpus[0].layout; }
  // Steps until none can begin; gives how many were taken.
  int run() {
    int steps = 0;
    while (const auto step = stepper_.next_step(kGpu, any)) {
      stepper_.begin(kGpu, *step);
      stepper_.finish(kGpu);
      ++steps;
    }
    return steps;
  }
};

TEST_F(LayoutStepperTest, ReachesEveryLayoutFromEveryOtherInTheSmallestNumberOfSteps) {
  const std::vector<mig::Layout> layouts = mig::maximal_layouts(model_, {});
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    const mig::Layout& next = layouts[random() % layouts.size()];
    if (next == present()) continue;
    const auto expected = mig::smallest_change(model_, present(), next).steps.size();
    stepper_.turn_to(kGpu, next, in_target, nothing);
    EXPECT_EQ(run(), static_cast<int>(expected));
    EXPECT_EQ(present(), next);
    EXPECT_FALSE(stepper_.target(kGpu));
  }
}

TEST_F(LayoutStepperTest, WaitsForABusyInstanceAndClosesIt) {
  const mig::Layout whole = *mig::parse_layout(model_, "7g.40gb:0");
  const mig::Layout halves = *mig::parse_layout(model_, "4g.20gb:0,3g.20gb:4");
  place_layout(state_, kGpu, whole);
  start_job(state_, slice_id(kGpu, 0), JobHandle{5});
  std::vector<SliceId> unwanted;
  EXPECT_TRUE(
      stepper_.turn_to(kGpu, halves, in_target, [&](SliceId slice) { unwanted.push_back(slice); }));
  EXPECT_EQ(unwanted, std::vector<SliceId>{slice_id(kGpu, 0)});
  EXPECT_TRUE(state_.slice(slice_id(kGpu, 0)).closing);
  EXPECT_EQ(run(), 0);
  stop_job(state_, slice_id(kGpu, 0));
  EXPECT_EQ(run(), 3);
  EXPECT_EQ(present(), halves);
}

TEST_F(LayoutStepperTest, AnInstanceThatIsNotFreeIsLeftAlone) {
  place_layout(state_, kGpu, *mig::parse_layout(model_, "7g.40gb:0"));
  const mig::Layout halves = *mig::parse_layout(model_, "4g.20gb:0,3g.20gb:4");
  stepper_.turn_to(kGpu, halves, in_target, nothing);
  EXPECT_FALSE(stepper_.next_step(kGpu, [](SliceId) { return false; }));
}

TEST_F(LayoutStepperTest, AStepThatFailedLeavesWhatWasThere) {
  const mig::Layout whole = *mig::parse_layout(model_, "7g.40gb:0");
  stepper_.turn_to(kGpu, whole, in_target, nothing);
  stepper_.begin(kGpu, *stepper_.next_step(kGpu, any));
  stepper_.revert(kGpu);
  EXPECT_TRUE(present().empty());
  EXPECT_EQ(run(), 1);
  const mig::Layout halves = *mig::parse_layout(model_, "4g.20gb:0,3g.20gb:4");
  stepper_.turn_to(kGpu, halves, in_target, nothing);
  stepper_.begin(kGpu, *stepper_.next_step(kGpu, any));
  stepper_.revert(kGpu);
  EXPECT_EQ(present(), whole);
}

TEST_F(LayoutStepperTest, WhatWasBeingMadeClosesWhenTheTargetHasMovedOn) {
  stepper_.turn_to(kGpu, *mig::parse_layout(model_, "7g.40gb:0"), in_target, nothing);
  stepper_.begin(kGpu, *stepper_.next_step(kGpu, any));
  const mig::Layout halves = *mig::parse_layout(model_, "4g.20gb:0,3g.20gb:4");
  stepper_.turn_to(kGpu, halves, in_target, nothing);
  stepper_.finish(kGpu);
  EXPECT_TRUE(state_.slice(slice_id(kGpu, 0)).closing);
  run();
  EXPECT_EQ(present(), halves);
}

}  // namespace
}  // namespace partita::cluster
