#include "device/layouts/profile_table.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

namespace partita::device {
namespace {

DriverProfile row(unsigned argument, unsigned id, unsigned slices, unsigned mib, unsigned size,
                  std::vector<unsigned> starts, const char* name) {
  DriverProfile profile;
  profile.argument = argument;
  profile.info.id = id;
  profile.info.slice_count = slices;
  profile.info.instance_count = static_cast<unsigned>(starts.size());
  profile.info.multiprocessor_count = 16 * slices;
  profile.info.memory_size_mb = mib;
  std::strncpy(profile.info.name, name, sizeof(profile.info.name) - 1);
  for (const unsigned start : starts) profile.placements.push_back({start, size});
  return profile;
}

std::vector<DriverProfile> table() {
  return {row(4, 0, 7, 143360, 8, {0}, "MIG 7g.141gb"),
          row(0, 19, 1, 16384, 1, {6, 5, 4, 3, 2, 1, 0}, "MIG 1g.18gb"),
          row(7, 20, 1, 16384, 1, {0, 1, 2, 3, 4, 5, 6}, "MIG 1g.18gb+me"),
          row(2, 9, 3, 71424, 4, {0, 4}, "MIG 3g.71gb")};
}

TEST(ProfileTable, IsSortedAsTheCatalogueAndKeepsTheDriversNumbers) {
  const auto model = model_from_driver("NVIDIA H200", 143771, table());
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->key, "h200-141gb");
  ASSERT_EQ(model->profiles.size(), 4U);
  EXPECT_EQ(model->profiles[0].name, "1g.18gb");
  EXPECT_EQ(model->profiles[1].name, "1g.18gb+me");
  EXPECT_TRUE(model->profiles[1].media);
  EXPECT_EQ(model->profiles[2].nvml_id, 9);
  EXPECT_EQ(model->profiles[0].starts.front(), 0);
  EXPECT_EQ(model->memory_slices, 8);
  EXPECT_EQ(model->change_confidence, mig::Confidence::kAssumed);  // as the catalogue's H200
}

TEST(ProfileTable, AnUnknownPartGetsItsSiblingsFiguresMarkedAsAssumed) {
  const auto model = model_from_driver("NVIDIA Z9000", 143771, table());
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->key, "nvidia-z9000");
  EXPECT_EQ(model->change_confidence, mig::Confidence::kAssumed);
  EXPECT_EQ(model->power_curves.front().confidence, mig::Confidence::kAssumed);
  EXPECT_EQ(model->power_curves.front().watts.size(), 8U);
  EXPECT_EQ(model->change_seconds.size(), 4U);
}

// The field's rule, checked against names that drivers give.
TEST(ProfileTable, NamesAreComputedWhereTheDriverGivesNone) {
  auto profiles = table();
  for (DriverProfile& profile : profiles) profile.info.name[0] = '\0';
  const auto model = model_from_driver("NVIDIA H200", 143771, profiles);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->profiles[0].name, "1g.18gb");
  EXPECT_EQ(model->profiles[1].name, "1g.18gb+me");
  EXPECT_EQ(model->profiles[2].name, "3g.71gb");
  EXPECT_EQ(model->profiles[3].name, "7g.141gb");
}

TEST(ProfileTable, TablesThatNoGpuHasAreRefused) {
  const std::vector<std::function<void(std::vector<DriverProfile>&)>> harms = {
      [](auto& t) { t.clear(); },
      [](auto& t) { t[0].placements.clear(); },
      [](auto& t) { t[0].placements[0].start = 1; },
      [](auto& t) { t[0].placements[0].size = 9; },
      [](auto& t) { t[0].placements[0].start = 0xFFFFFFFF; },
      [](auto& t) { t[3].placements[1].size = 3; },
      [](auto& t) { t[1].info.slice_count = 0; },
      [](auto& t) { t[1].info.slice_count = 8; },
      [](auto& t) { t[1].info.instance_count = 0; },
      [](auto& t) { t[1].info.memory_size_mb = 0; },
      [](auto& t) { t[1].info.memory_size_mb = ~0ULL; },
      [](auto& t) { t[1].info.id = t[0].info.id; },
      [](auto& t) { t[1].info.id = 0xFFFFFFFF; },
      [](auto& t) {
        for (unsigned i = 0; i < 20; ++i) {
          t.push_back(t[0]);
          t.back().info.id = 100 + i;
        }
      },
  };
  for (std::size_t i = 0; i < harms.size(); ++i) {
    auto harmed = table();
    harms[i](harmed);
    const auto model = model_from_driver("NVIDIA H200", 143771, harmed);
    ASSERT_FALSE(model.ok()) << i;
    EXPECT_NE(model.error().message.find("NVIDIA H200"), std::string::npos);
  }
}

TEST(ProfileTable, ANameThatIsNoNameIsReplaced) {
  auto profiles = table();
  std::memset(profiles[0].info.name, 0xFF, sizeof(profiles[0].info.name));
  const auto model = model_from_driver("NVIDIA H200", 143771, profiles);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->profiles[3].name, "7g.141gb");
}

}  // namespace
}  // namespace partita::device
