#include "policies/learned/fleet_mix.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "policies/test_support.h"

namespace partita::policies {
namespace {

std::vector<mig::Layout> layouts(std::initializer_list<int> numbers) {
  std::vector<mig::Layout> all;
  for (const int number : numbers) {
    all.push_back(*mig::numbered_layout(**mig::find_gpu("a100-40gb"), number));
  }
  return all;
}

TEST(FleetMix, ChangesNoMoreGpusThanTheMixesDiffer) {
  const Fleet fleet(8, "1");
  FleetMix mix(layouts({1, 2, 10}));
  mix.begin(std::vector<std::uint32_t>{8, 0, 0});
  std::vector<decide::LayoutRequest> requests;
  mix.move_towards(fleet.view, std::vector<float>{0.5F, 0.375F, 0.125F}, 8, 0.5, requests);
  EXPECT_EQ(requests.size(), 4U);
  EXPECT_EQ(mix.count(0), 4U);
  EXPECT_EQ(mix.count(1), 3U);
  EXPECT_EQ(mix.count(2), 1U);
  requests.clear();
  mix.move_towards(fleet.view, std::vector<float>{0.5F, 0.375F, 0.125F}, 8, 0.5, requests);
  EXPECT_TRUE(requests.empty());
}

TEST(FleetMix, ChangesAtMostAsManyAsAllowed) {
  const Fleet fleet(8, "1");
  FleetMix mix(layouts({1, 2}));
  mix.begin(std::vector<std::uint32_t>{8, 0});
  std::vector<decide::LayoutRequest> requests;
  mix.move_towards(fleet.view, std::vector<float>{0, 1}, 3, 0.5, requests);
  EXPECT_EQ(requests.size(), 3U);
}

// A share that moves to and fro around a boundary must not change GPUs every time.
TEST(FleetMix, ReluctanceStopsChangingToAndFro) {
  const Fleet fleet(8, "1");
  FleetMix mix(layouts({1, 2}));
  mix.begin(std::vector<std::uint32_t>{4, 4});
  std::vector<decide::LayoutRequest> requests;
  for (int i = 0; i < 10; ++i) {
    const float share = i % 2 == 0 ? 0.57F : 0.43F;  // 4.56 and 3.44 GPUs
    mix.move_towards(fleet.view, std::vector<float>{share, 1 - share}, 8, 0.5, requests);
  }
  EXPECT_TRUE(requests.empty());
  mix.move_towards(fleet.view, std::vector<float>{0.62F, 0.38F}, 8, 0.2, requests);
  EXPECT_EQ(requests.size(), 1U);
}

TEST(FleetMix, TheIdlestGpuChanges) {
  Fleet fleet(3, "1");
  for (const std::uint32_t gpu : {0U, 2U}) {
    cluster::start_job(fleet.cluster, cluster::slice_id(GpuId{gpu}, 0), cluster::JobHandle{gpu});
  }
  FleetMix mix(layouts({1, 2}));
  mix.begin(std::vector<std::uint32_t>{3, 0});
  std::vector<decide::LayoutRequest> requests;
  mix.move_one(fleet.view, 0, 1, requests);
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].gpu, GpuId{1});
}

TEST(FleetMix, EveryGpuKeepsExactlyOneLayout) {
  const Fleet fleet(20, "1");
  FleetMix mix(layouts({1, 2, 3}));
  mix.begin(std::vector<std::uint32_t>{20, 0, 0});
  std::vector<mig::Layout> shown = mix.present();
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    const auto a = static_cast<float>(rng.uniform());
    const auto b = static_cast<float>(rng.uniform(0, 1 - static_cast<double>(a)));
    std::vector<decide::LayoutRequest> requests;
    mix.move_towards(fleet.view, std::vector<float>{a, b, 1 - a - b}, 8, 0.5, requests);
    for (const auto& request : requests) shown[request.gpu.value] = request.layout;
    ASSERT_EQ(shown, mix.present());
    ASSERT_EQ(mix.count(0) + mix.count(1) + mix.count(2), 20U);
  }
}

TEST(FleetMix, AGpuThatHasChangedRests) {
  Fleet fleet(2, "1");
  FleetMix mix({*mig::numbered_layout(*fleet.cluster.model, 1),
                *mig::numbered_layout(*fleet.cluster.model, 2)},
               Micros::seconds(600));
  mix.begin(std::vector<std::uint32_t>{2, 0});
  std::vector<decide::LayoutRequest> requests;
  mix.move_towards(fleet.view, std::vector<float>{0, 1}, 8, 0.5, requests);
  EXPECT_EQ(requests.size(), 2U);
  fleet.view.now = Micros::seconds(599);
  mix.move_towards(fleet.view, std::vector<float>{1, 0}, 8, 0.5, requests);
  EXPECT_EQ(requests.size(), 2U);
  fleet.view.now = Micros::seconds(600);
  mix.move_towards(fleet.view, std::vector<float>{1, 0}, 8, 0.5, requests);
  EXPECT_EQ(requests.size(), 4U);
}

}  // namespace
}  // namespace partita::policies
