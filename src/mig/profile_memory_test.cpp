#include "mig/profile_memory.h"

#include <gtest/gtest.h>

namespace partita::mig {
namespace {

std::uint16_t mask_of(const GpuModel& model, std::initializer_list<std::string_view> names) {
  unsigned mask = 0;
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    for (const std::string_view name : names) {
      if (model.profiles[i].name == name) mask |= 1U << i;
    }
  }
  return static_cast<std::uint16_t>(mask);
}

TEST(ProfileMemory, TheNextLargerIsOfTheProfilesAskedAboutOnly) {
  const GpuModel& model = **find_gpu("a100-40gb");
  const std::uint16_t some = mask_of(model, {"1g.5gb", "3g.20gb"});
  const double small = *next_larger_memory(model, some, 0);
  const double large = *next_larger_memory(model, some, small);
  EXPECT_GT(small, 4);
  EXPECT_LT(small, 5.1);
  EXPECT_GT(large, 19);
  EXPECT_LT(large, 20.1);
  EXPECT_EQ(next_larger_memory(model, some, large), std::nullopt);
  EXPECT_EQ(largest_memory(model, some), large);
  const auto between = next_larger_memory(model, mask_of(model, {"1g.5gb", "2g.10gb"}), small);
  EXPECT_GT(*between, small);
  EXPECT_LT(*between, large);
}

TEST(ProfileMemory, NoProfilesHaveNone) {
  const GpuModel& model = **find_gpu("a100-40gb");
  EXPECT_EQ(next_larger_memory(model, 0, 0), std::nullopt);
  EXPECT_EQ(largest_memory(model, 0), 0);
}

}  // namespace
}  // namespace partita::mig
