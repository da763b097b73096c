#include "policies/balanced_mix.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "mig/gpu_model.h"

namespace partita::policies {
namespace {

std::string text_of(const mig::GpuModel& model, std::uint32_t gpus) {
  std::string text;
  for (const mig::Layout& layout : balanced_mix(model, gpus)) {
    text += (text.empty() ? "" : "/") + mig::format_layout(model, layout);
  }
  return text;
}

TEST(BalancedMix, HasAQuarterWholeHalfInTwoAndAQuarterInThree) {
  const mig::GpuModel& a100 = **mig::find_gpu("a100-40gb");
  std::vector<mig::Layout> wanted;
  for (const int number : {1, 1, 2, 2, 2, 2, 6, 6}) {
    wanted.push_back(*mig::numbered_layout(a100, number));
  }
  EXPECT_EQ(balanced_mix(a100, 8), wanted);
}

TEST(BalancedMix, OfOneGpuIsTheWholeGpu) {
  EXPECT_EQ(text_of(**mig::find_gpu("a100-40gb"), 1), "7g.40gb:0");
}

TEST(BalancedMix, RunsEveryJobOnEveryModelAndFleet) {
  for (const mig::GpuModel* model : mig::catalogue()) {
    std::size_t largest = 0;
    for (std::size_t i = 0; i < model->profiles.size(); ++i) {
      if (model->profiles[i].memory_gib > model->profiles[largest].memory_gib) largest = i;
    }
    for (const std::uint32_t gpus : {1U, 2U, 3U, 4U, 5U, 8U, 100U}) {
      const std::vector<mig::Layout> mix = balanced_mix(*model, gpus);
      ASSERT_EQ(mix.size(), gpus);
      const bool whole = std::ranges::any_of(mix, [&](const mig::Layout& layout) {
        return layout.instances().size() == 1 &&
               model->profiles[layout.instances()[0].profile].memory_gib ==
                   model->profiles[largest].memory_gib;
      });
      EXPECT_TRUE(whole) << model->key << " " << gpus;
    }
  }
}

}  // namespace
}  // namespace partita::policies
