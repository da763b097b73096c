#include "control/jobs/memory_needs.h"

#include <gtest/gtest.h>

#include "control/jobs/test_support.h"

namespace partita::control {
namespace {

class MemoryNeedsTest : public testing::Test {
 protected:
  const mig::GpuModel& model_ = **mig::find_gpu("a100-40gb");
  MemoryNeeds needs_{model_};

  double memory_of(std::string_view profile) const {
    return model_.profiles[*mig::parse_profile(model_, profile)].memory_gib;
  }
  static JobSpec named(const std::string& name) {
    JobSpec spec;
    spec.name = name;
    return spec;
  }
};

TEST_F(MemoryNeedsTest, TheNextLargerMemoryIsThatOfAProfile) {
  EXPECT_EQ(needs_.next_larger(0), memory_of("1g.5gb"));
  EXPECT_EQ(needs_.next_larger(memory_of("1g.5gb")), memory_of("2g.10gb"));
  EXPECT_EQ(needs_.next_larger(memory_of("2g.10gb")), memory_of("3g.20gb"));
  EXPECT_EQ(needs_.next_larger(memory_of("3g.20gb")), memory_of("7g.40gb"));
  EXPECT_FALSE(needs_.next_larger(memory_of("7g.40gb")));
  EXPECT_EQ(needs_.largest(), memory_of("7g.40gb"));
}

TEST_F(MemoryNeedsTest, WhatLayoutsDoNotOfferDoesNotCount) {
  needs_.offer_only({{*mig::parse_layout(model_, "1g.5gb:0,3g.20gb:4")}});
  EXPECT_EQ(needs_.next_larger(memory_of("1g.5gb")), memory_of("3g.20gb"));
  EXPECT_EQ(needs_.largest(), memory_of("3g.20gb"));
  EXPECT_EQ(std::popcount(needs_.fitting(memory_of("1g.5gb"))), 2);
  EXPECT_EQ(std::popcount(needs_.fitting(memory_of("1g.5gb") + 0.1)), 1);
  EXPECT_EQ(needs_.fitting(21), 0);
}

TEST_F(MemoryNeedsTest, MemoryThatWasGivenIsBelieved) {
  JobSpec spec = named("a");
  spec.memory_gib = 7;
  needs_.learn(spec, kAnna, 30);
  EXPECT_EQ(needs_.first_need(spec, kAnna), 7);
}

TEST_F(MemoryNeedsTest, AUsersEarlierJobsOfTheNameAreTrustedWithAMargin) {
  EXPECT_EQ(needs_.first_need(named("a"), kAnna), 0);
  EXPECT_EQ(needs_.learn(named("a"), kAnna, 10).peak_gib, 10);
  EXPECT_EQ(needs_.learn(named("a"), kAnna, 4).peak_gib, 10) << "the largest stays";
  EXPECT_DOUBLE_EQ(needs_.first_need(named("a"), kAnna), 11);
  EXPECT_EQ(needs_.first_need(named("a"), kBen), 0);
  EXPECT_EQ(needs_.first_need(named("b"), kAnna), 0);
  needs_.learn(named("a"), kAnna, 39);
  EXPECT_EQ(needs_.first_need(named("a"), kAnna), needs_.largest())
      << "no more than the largest slice has";
}

}  // namespace
}  // namespace partita::control
