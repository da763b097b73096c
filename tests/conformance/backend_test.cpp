// What every backend promises, tried on each of them with each GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/rng.h"
#include "device_world.h"
#include "mig/enumerate.h"

namespace partita::conformance {
namespace {

using device::Answer;
using device::Backend;
using device::Done;
using device::Fault;
using device::GpuInfo;
using device::HealthEvent;
using device::Instance;
using device::InstanceKey;
using device::MemoryUse;
using device::MigMode;
using device::ProcessUse;

class BackendSuite : public testing::TestWithParam<WorldKind> {
 protected:
  BackendSuite() : world_(make_world(GetParam())) {
    auto gpus = backend().gpus();
    CHECK(gpus.ok());
    gpus_ = *gpus;
  }

  Backend& backend() { return world_->backend(); }
  const mig::GpuModel& model() { return *gpus_.front().model; }
  const mig::GpuModel& catalogue_model() { return **mig::find_gpu(GetParam().gpu); }

  Instance made(GpuId gpu, mig::Placement placement) {
    Answer<Instance> answer = backend().create(gpu, placement);
    EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : answer.error().message);
    CHECK(answer.ok());
    return *answer;
  }
  mig::Layout present(GpuId gpu) {
    const auto instances = backend().instances(gpu);
    CHECK(instances.ok());
    return device::layout_of(*instances);
  }
  std::vector<mig::Placement> placements() {
    std::vector<mig::Placement> all;
    for (std::size_t i = 0; i < model().profiles.size(); ++i) {
      for (const std::uint8_t start : model().profiles[i].starts) {
        all.push_back({static_cast<mig::ProfileIndex>(i), start});
      }
    }
    return all;
  }
  mig::Placement smallest() { return {0, model().profiles.front().starts.front()}; }

  std::unique_ptr<DeviceWorld> world_;
  std::vector<GpuInfo> gpus_;
};

TEST_P(BackendSuite, GpusAreListedInOrderWithDistinctUuids) {
  ASSERT_EQ(gpus_.size(), 2U);
  EXPECT_EQ(gpus_[0].id, kFirst);
  EXPECT_EQ(gpus_[1].id, kSecond);
  EXPECT_NE(gpus_[0].uuid, gpus_[1].uuid);
  for (const GpuInfo& gpu : gpus_) {
    EXPECT_TRUE(gpu.uuid.starts_with("GPU-"));
    EXPECT_EQ(gpu.mode, MigMode::kEnabled);
    EXPECT_FALSE(gpu.boot_id.empty());
    EXPECT_TRUE(gpu.monitored);
    EXPECT_FALSE(gpu.trouble.has_value());
    EXPECT_EQ(gpu.pci & 0xFFFFU, 0x10DEU);
    EXPECT_GT(gpu.memory_mib, 20000);
  }
  EXPECT_FALSE(backend().title().empty());
}

// The driver's table, however it came, describes the part the catalogue describes.
TEST_P(BackendSuite, ProfilesAgreeWithTheCatalogue) {
  const mig::GpuModel& wanted = catalogue_model();
  EXPECT_EQ(model().key, wanted.key);
  EXPECT_EQ(model().compute_slices, wanted.compute_slices);
  EXPECT_EQ(model().memory_slices, wanted.memory_slices);
  ASSERT_EQ(model().profiles.size(), wanted.profiles.size());
  ASSERT_EQ(model().change_seconds.size(), wanted.profiles.size());
  for (std::size_t i = 0; i < wanted.profiles.size(); ++i) {
    const mig::Profile& found = model().profiles[i];
    const mig::Profile& expected = wanted.profiles[i];
    EXPECT_EQ(found.name, expected.name);
    EXPECT_EQ(found.nvml_id, expected.nvml_id);
    EXPECT_EQ(found.nvml_enum, expected.nvml_enum);
    EXPECT_EQ(found.compute_slices, expected.compute_slices);
    EXPECT_EQ(found.memory_slices, expected.memory_slices);
    EXPECT_EQ(found.starts, expected.starts);
    EXPECT_EQ(found.sms, expected.sms);
    EXPECT_EQ(found.instances_max, expected.instances_max);
    EXPECT_EQ(found.media, expected.media);
    EXPECT_EQ(found.double_memory, expected.double_memory);
    EXPECT_NEAR(found.memory_gib, expected.memory_gib, 0.01);
    EXPECT_EQ(model().change_seconds[i].create, wanted.change_seconds[i].create);
    EXPECT_EQ(model().change_seconds[i].destroy, wanted.change_seconds[i].destroy);
  }
}

TEST_P(BackendSuite, EveryPlacementCanBeMadeListedAndDestroyed) {
  for (const mig::Placement placement : placements()) {
    const Instance instance = made(kFirst, placement);
    EXPECT_EQ(instance.placement, placement);
    EXPECT_EQ(instance.key.gpu, kFirst);
    EXPECT_TRUE(instance.key.uuid.starts_with("MIG-"));
    EXPECT_EQ(instance.compute_instances, 1);
    EXPECT_TRUE(instance.ci.has_value());
    EXPECT_GT(instance.generation, 0U);
    EXPECT_EQ(*backend().instances(kFirst), std::vector{instance});
    EXPECT_TRUE(backend().instances(kSecond)->empty());
    ASSERT_TRUE(backend().destroy(instance.key).ok());
    EXPECT_TRUE(backend().instances(kFirst)->empty());
  }
}

TEST_P(BackendSuite, EveryMaximalLayoutCanBeMadeInAnyOrder) {
  Rng rng(1);
  for (const mig::Layout& layout : mig::maximal_layouts(model(), {true, true})) {
    std::vector<mig::Placement> order(layout.instances().begin(), layout.instances().end());
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    std::vector<InstanceKey> keys;
    for (const mig::Placement placement : order) keys.push_back(made(kFirst, placement).key);
    ASSERT_EQ(present(kFirst), layout);
    for (const InstanceKey& key : keys) ASSERT_TRUE(backend().destroy(key).ok());
  }
  EXPECT_TRUE(present(kFirst).empty());
}

// A random walk against mig's rules: what fits is made, what does not is refused and changes
// nothing; no UUID and no generation comes twice.
TEST_P(BackendSuite, CreatesExactlyWhatFits) {
  Rng rng(7);
  const std::vector<mig::Placement> all = placements();
  mig::Layout expected;
  std::set<std::string> uuids;
  std::set<std::uint64_t> generations;
  for (int step = 0; step < 150; ++step) {
    if (rng.below(3) == 0 && !expected.empty()) {
      const auto instances = *backend().instances(kFirst);
      const Instance& victim = instances[rng.below(instances.size())];
      ASSERT_TRUE(backend().destroy(victim.key).ok());
      expected.remove(victim.placement);
    } else {
      const mig::Placement placement = all[rng.below(all.size())];
      const Answer<Instance> answer = backend().create(kFirst, placement);
      ASSERT_EQ(answer.ok(), mig::fits(model(), expected, placement));
      if (answer) {
        expected.add(placement);
        EXPECT_TRUE(uuids.insert(answer->key.uuid).second);
        EXPECT_TRUE(generations.insert(answer->generation).second);
      } else {
        EXPECT_EQ(answer.fault(), Fault::kInsufficientResources);
        EXPECT_FALSE(answer.error().message.empty());
      }
    }
    ASSERT_EQ(present(kFirst), expected);
  }
}

TEST_P(BackendSuite, ImpossiblePlacementsAreRefused) {
  const auto beyond = static_cast<mig::ProfileIndex>(model().profiles.size());
  EXPECT_EQ(backend().create(kFirst, {beyond, 0}).fault(), Fault::kInvalidArgument);
  for (std::size_t i = 0; i < model().profiles.size(); ++i) {
    for (std::uint8_t start = 0; start < 8; ++start) {
      const auto& starts = model().profiles[i].starts;
      if (std::ranges::count(starts, start) > 0) continue;
      const auto answer = backend().create(kFirst, {static_cast<mig::ProfileIndex>(i), start});
      ASSERT_FALSE(answer.ok());
      EXPECT_EQ(answer.fault(), Fault::kInvalidArgument);
    }
  }
  EXPECT_TRUE(present(kFirst).empty());
}

TEST_P(BackendSuite, AListingSeenTwiceIsTheSame) {
  made(kFirst, smallest());
  EXPECT_EQ(*backend().instances(kFirst), *backend().instances(kFirst));
}

TEST_P(BackendSuite, ASliceWithAProcessIsNotDestroyed) {
  const Instance instance = made(kFirst, smallest());
  world_->put_process(instance.key, 4001, 100);
  world_->put_process(instance.key, 4000, 50);
  const Done refused = backend().destroy(instance.key);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.fault(), Fault::kInUse);
  EXPECT_EQ(refused.error().pids, (std::vector{4000, 4001}));
  EXPECT_EQ(*backend().instances(kFirst), std::vector{instance});
  world_->end_process(instance.key, 4000);
  EXPECT_EQ(backend().destroy(instance.key).error().pids, std::vector{4001});
  world_->end_process(instance.key, 4001);
  EXPECT_TRUE(backend().destroy(instance.key).ok());
}

TEST_P(BackendSuite, MemoryIsTheProfilesAndTheProcesses) {
  for (std::size_t i = 0; i < model().profiles.size(); ++i) {
    const mig::Profile& profile = model().profiles[i];
    const Instance instance =
        made(kFirst, {static_cast<mig::ProfileIndex>(i), profile.starts.front()});
    const MemoryUse idle = *backend().memory(instance.key);
    EXPECT_EQ(idle.used_mib, 0);
    EXPECT_NEAR(static_cast<double>(idle.total_mib), profile.memory_gib * 1024, 1);
    EXPECT_TRUE(backend().processes(instance.key)->empty());
    world_->put_process(instance.key, 71, 1000);
    world_->put_process(instance.key, 70, 234);
    EXPECT_EQ(backend().memory(instance.key)->used_mib, 1234);
    EXPECT_EQ(*backend().processes(instance.key), (std::vector<ProcessUse>{{70, 234}, {71, 1000}}));
    world_->end_process(instance.key, 70);
    world_->end_process(instance.key, 71);
    ASSERT_TRUE(backend().destroy(instance.key).ok());
  }
}

TEST_P(BackendSuite, AKeyOfTheDestroyedIsNotFound) {
  const Instance old = made(kFirst, smallest());
  ASSERT_TRUE(backend().destroy(old.key).ok());
  const auto expect_unknown = [&] {
    EXPECT_EQ(backend().destroy(old.key).fault(), Fault::kNotFound);
    EXPECT_EQ(backend().memory(old.key).fault(), Fault::kNotFound);
    EXPECT_EQ(backend().processes(old.key).fault(), Fault::kNotFound);
  };
  expect_unknown();
  // The same place and, on most drivers, the same GPU instance id; another slice all the same.
  const Instance fresh = made(kFirst, smallest());
  EXPECT_NE(fresh.key.uuid, old.key.uuid);
  EXPECT_NE(fresh.generation, old.generation);
  expect_unknown();
  EXPECT_EQ(*backend().instances(kFirst), std::vector{fresh});
}

TEST_P(BackendSuite, ThereIsNoThirdGpu) {
  constexpr GpuId kThird{2};
  EXPECT_EQ(backend().instances(kThird).fault(), Fault::kNotFound);
  EXPECT_EQ(backend().create(kThird, {0, 0}).fault(), Fault::kNotFound);
  EXPECT_EQ(backend().destroy({kThird, 1, "MIG-x"}).fault(), Fault::kNotFound);
  EXPECT_EQ(backend().memory({kThird, 1, "MIG-x"}).fault(), Fault::kNotFound);
  EXPECT_EQ(backend().power_mw(kThird).fault(), Fault::kNotFound);
  EXPECT_EQ(backend().energy_mj(kThird).fault(), Fault::kNotFound);
  EXPECT_EQ(backend().set_mig_mode(kThird, true).fault(), Fault::kNotFound);
}

TEST_P(BackendSuite, ABoardSaysHowWarmItIsAndHowMuchItMayDraw) {
  EXPECT_EQ(backend().board(GpuId{2}).fault(), Fault::kNotFound);
  const Instance instance = made(kFirst, smallest());
  const auto idle = backend().board(kFirst);
  ASSERT_TRUE(idle.ok());
  ASSERT_TRUE(idle->temperature_c && idle->power_limit_w);
  EXPECT_GT(*idle->temperature_c, 10);
  EXPECT_LT(*idle->temperature_c, 100);
  EXPECT_GT(*idle->power_limit_w * 1000, static_cast<double>(*backend().power_mw(kFirst)));
  EXPECT_EQ(idle->utilisation.value_or(0), 0);
  world_->put_process(instance.key, 4000, 100);
  const auto busy = backend().board(kFirst);
  ASSERT_TRUE(busy.ok());
  EXPECT_GT(*busy->temperature_c, *idle->temperature_c);
  EXPECT_EQ(*busy->power_limit_w, *idle->power_limit_w);
  if (busy->utilisation) {
    EXPECT_GT(*busy->utilisation, 0);
  }
  world_->end_process(instance.key, 4000);
}

TEST_P(BackendSuite, PowerRisesWithWorkAndEnergyNeverFalls) {
  const Instance instance = made(kFirst, smallest());
  const std::int64_t idle = *backend().power_mw(kFirst);
  const std::int64_t energy = *backend().energy_mj(kFirst);
  EXPECT_GT(idle, 0);
  world_->put_process(instance.key, 4000, 100);
  EXPECT_GT(*backend().power_mw(kFirst), idle);
  EXPECT_EQ(*backend().power_mw(kSecond), idle);
  world_->pass(Micros::seconds(10));
  const std::int64_t later = *backend().energy_mj(kFirst);
  EXPECT_GE(later, energy);
  world_->end_process(instance.key, 4000);
  EXPECT_EQ(*backend().power_mw(kFirst), idle);
  EXPECT_GE(*backend().energy_mj(kFirst), later);
}

TEST_P(BackendSuite, OrphansAreListedAndCanBeDestroyed) {
  world_->put_orphan(kFirst, smallest());
  const auto left = *backend().instances(kFirst);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_TRUE(left[0].orphan());
  EXPECT_EQ(left[0].key.uuid, "");
  EXPECT_FALSE(left[0].ci.has_value());
  EXPECT_EQ(left[0].placement, smallest());
  EXPECT_EQ(backend().create(kFirst, smallest()).fault(), Fault::kInsufficientResources);
  EXPECT_EQ(backend().memory(left[0].key)->used_mib, 0);
  EXPECT_TRUE(backend().processes(left[0].key)->empty());
  ASSERT_TRUE(backend().destroy(left[0].key).ok());
  EXPECT_TRUE(backend().instances(kFirst)->empty());
  EXPECT_EQ(backend().destroy(left[0].key).fault(), Fault::kNotFound);
}

TEST_P(BackendSuite, EventsNameTheSliceTheyAroseOn) {
  ASSERT_TRUE(backend().poll_events()->empty());
  const Instance instance = made(kSecond, smallest());
  world_->add_event(instance, 94);
  const HealthEvent expected{kSecond, 94, instance.key.gi, instance.generation};
  EXPECT_EQ(*backend().poll_events(), std::vector{expected});
  EXPECT_TRUE(backend().poll_events()->empty());
}

// F19: the event was there when its slice was destroyed, and is read after another took its place.
TEST_P(BackendSuite, ALateEventHasTheGenerationOfTheSliceThatIsGone) {
  ASSERT_TRUE(backend().poll_events().ok());
  const Instance old = made(kFirst, smallest());
  world_->add_event(old, 31);
  ASSERT_TRUE(backend().destroy(old.key).ok());
  const Instance fresh = made(kFirst, smallest());
  const auto events = *backend().poll_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].generation, old.generation);
  EXPECT_NE(events[0].generation, fresh.generation);
}

TEST_P(BackendSuite, WithMigOffThereAreNoSlices) {
  ASSERT_TRUE(backend().set_mig_mode(kFirst, false).ok());
  EXPECT_EQ(backend().gpus()->front().mode, MigMode::kDisabled);
  EXPECT_NE(backend().gpus()->front().model, nullptr);
  EXPECT_TRUE(backend().instances(kFirst)->empty());
  EXPECT_EQ(backend().create(kFirst, smallest()).fault(), Fault::kNotSupported);
  EXPECT_EQ(backend().gpus()->back().mode, MigMode::kEnabled);
  ASSERT_TRUE(backend().set_mig_mode(kFirst, true).ok());
  EXPECT_TRUE(backend().create(kFirst, smallest()).ok());
}

TEST_P(BackendSuite, AModeChangeIsRefusedWhileSomethingRunsAndTakesIdleSlices) {
  const Instance instance = made(kFirst, smallest());
  world_->put_process(instance.key, 4000, 1);
  EXPECT_EQ(backend().set_mig_mode(kFirst, false).fault(), Fault::kInUse);
  EXPECT_EQ(backend().instances(kFirst)->size(), 1U);
  world_->end_process(instance.key, 4000);
  ASSERT_TRUE(backend().set_mig_mode(kFirst, false).ok());
  ASSERT_TRUE(backend().set_mig_mode(kFirst, true).ok());
  EXPECT_TRUE(backend().instances(kFirst)->empty());
}

TEST_P(BackendSuite, TheEnvironmentOfAJobHasNames) {
  const Instance instance = made(kFirst, smallest());
  for (const auto& variable : backend().job_environment(instance.key)) {
    EXPECT_FALSE(variable.name.empty());
    EXPECT_EQ(variable.name.find('='), std::string::npos);
    EXPECT_FALSE(variable.value.empty());
  }
}

std::string world_name(const testing::TestParamInfo<WorldKind>& info) {
  std::string name = info.param.backend + "_" + info.param.gpu;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Conformance, BackendSuite, testing::ValuesIn(all_worlds()), world_name);

}  // namespace
}  // namespace partita::conformance
