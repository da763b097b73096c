#include "control/slice_records.h"

#include <gtest/gtest.h>

namespace partita::control {
namespace {

constexpr mig::Placement kPlace{2, 4};

device::Instance whole(const std::string& uuid, mig::Placement placement = kPlace) {
  device::Instance instance;
  instance.placement = placement;
  instance.key.uuid = uuid;
  return instance;
}

// By what the books say of it and what is found: the four stages against its own UUID, another's,
// and half of an instance, which has none.
TEST(IsOurs, AWholeInstanceIsKnownByItsUuid) {
  const SetAside present{kPlace, "MIG-a", SliceStage::kPresent};
  EXPECT_TRUE(is_ours(present, whole("MIG-a")));
  EXPECT_FALSE(is_ours(present, whole("MIG-b")));
  EXPECT_FALSE(is_ours(present, whole("MIG-a", {2, 0})));
}

TEST(IsOurs, WhatWasBeingMadeIsKnownByItsPlace) {
  const SetAside creating{kPlace, "", SliceStage::kCreating};
  EXPECT_TRUE(is_ours(creating, whole("MIG-b")));
  EXPECT_FALSE(is_ours(creating, whole("MIG-b", {2, 0})));
}

TEST(IsOurs, HalfOfOneIsOursWhereOneWasBeingUnmadeOrCouldNotBeMade) {
  device::Instance half = whole("");
  half.compute_instances = 0;
  EXPECT_TRUE(is_ours({kPlace, "MIG-a", SliceStage::kDestroying}, half));
  EXPECT_TRUE(is_ours({kPlace, "MIG-a", SliceStage::kDoubtful}, half));
  EXPECT_FALSE(is_ours({kPlace, "MIG-a", SliceStage::kPresent}, half));
}

TEST(IsOurs, AWholeOneWhereOneCouldNotBeMadeMayBeSomebodyElses) {
  EXPECT_FALSE(is_ours({kPlace, "MIG-a", SliceStage::kDoubtful}, whole("MIG-b")));
}

}  // namespace
}  // namespace partita::control
