// Every fault of the faulty backend: what a caller sees, and that the rest goes on working.
#include "device/simulated/faulty.h"

#include <gtest/gtest.h>

#include "device/open.h"
#include "device/simulated/simulated.h"
#include "device_world.h"

namespace partita::conformance {
namespace {

using device::Answer;
using device::Fault;
using device::FaultRule;
using device::FaultyBackend;
using device::FaultyOptions;
using device::Instance;
using device::SimulatedBackend;

class Faulty : public testing::Test {
 protected:
  Faulty() {
    auto simulated = SimulatedBackend::open(*device::parse_simulated("2xa100-40gb"), clock_);
    simulated_ = simulated->get();
    backend_ = std::make_unique<FaultyBackend>(std::move(*simulated), FaultyOptions{}, clock_);
    CHECK(backend_->gpus().ok());
  }

  void plan(const std::string& rules) {
    const auto parsed = device::parse_fault_rules(rules);
    CHECK(parsed.ok());
    for (const FaultRule& rule : *parsed) backend_->add(rule);
  }
  mig::Placement placed(const char* text) {
    const auto model = mig::find_gpu("a100-40gb");
    return mig::parse_layout(**model, text)->instances().front();
  }

  ManualClock clock_;
  SimulatedBackend* simulated_ = nullptr;
  std::unique_ptr<FaultyBackend> backend_;
};

TEST_F(Faulty, RulesAreReadFromText) {
  const auto rules =
      device::parse_fault_rules("F1,gpu=1,after=2,times=3; F3,pid=4,pid=5;F2,orphan");
  ASSERT_TRUE(rules.ok());
  ASSERT_EQ(rules->size(), 3U);
  EXPECT_EQ((*rules)[0].gpu, kSecond);
  EXPECT_EQ((*rules)[0].after, 2);
  EXPECT_EQ((*rules)[0].times, 3);
  EXPECT_EQ((*rules)[1].pids, (std::vector{4, 5}));
  EXPECT_TRUE((*rules)[2].orphan);
  for (const char* bad : {"F0", "F20", "1", "F1,gpu=x", "F1,colour=2", "F1,times=-2",
                          "F5,seconds=a", "F1,gpu", "F99999999999999999999"}) {
    EXPECT_FALSE(device::parse_fault_rules(bad).ok()) << bad;
  }
  EXPECT_TRUE(device::parse_fault_rules("")->empty());
}

TEST_F(Faulty, IsOpenedByText) {
  EXPECT_TRUE(device::open_backend("faulty:F6,gpu=0@simulated:2xa30-24gb", clock_).ok());
  EXPECT_TRUE(device::open_backend("faulty:seed=3,rate=0.1@simulated", clock_).ok());
  for (const char* bad : {"faulty:F6", "faulty:F0@simulated", "faulty:F1@cuda",
                          "faulty:seed=1@simulated", "faulty:seed=1,rate=2@simulated"}) {
    EXPECT_FALSE(device::open_backend(bad, clock_).ok()) << bad;
  }
}

TEST_F(Faulty, AfterAndTimesCountTheCallsAFaultCouldStrike) {
  plan("F1,gpu=0,after=1,times=2");
  const auto make = [&](GpuId gpu, const char* where) {
    return backend_->create(gpu, placed(where)).ok();
  };
  EXPECT_TRUE(make(kFirst, "1g.5gb:0"));
  EXPECT_TRUE(make(kSecond, "1g.5gb:0"));
  EXPECT_FALSE(make(kFirst, "1g.5gb:1"));
  EXPECT_TRUE(make(kSecond, "1g.5gb:1"));
  EXPECT_FALSE(make(kFirst, "1g.5gb:1"));
  EXPECT_TRUE(make(kFirst, "1g.5gb:1"));
}

TEST_F(Faulty, F1CreatesAreRefused) {
  plan("F1");
  EXPECT_EQ(backend_->create(kFirst, placed("1g.5gb:0")).fault(), Fault::kInsufficientResources);
  EXPECT_TRUE(backend_->instances(kFirst)->empty());
}

TEST_F(Faulty, F2AHalfMadeSliceIsTakenBackOrLeftInTheWay) {
  plan("F2;F2,orphan");
  EXPECT_EQ(backend_->create(kFirst, placed("2g.10gb:0")).fault(), Fault::kUnknown);
  EXPECT_TRUE(backend_->instances(kFirst)->empty());
  EXPECT_EQ(backend_->create(kFirst, placed("2g.10gb:0")).fault(), Fault::kUnknown);
  const auto left = *backend_->instances(kFirst);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_TRUE(left[0].orphan());
  EXPECT_EQ(backend_->create(kFirst, placed("1g.5gb:1")).fault(), Fault::kInsufficientResources);
  ASSERT_TRUE(backend_->destroy(left[0].key).ok());
  EXPECT_TRUE(backend_->create(kFirst, placed("1g.5gb:1")).ok());
}

TEST_F(Faulty, F3AndF4DestroysAreRefusedWithAndWithoutAHolder) {
  const Instance made = *backend_->create(kFirst, placed("1g.5gb:0"));
  plan("F3,pid=7,pid=8;F4,times=2");
  EXPECT_EQ(backend_->destroy(made.key).error().pids, (std::vector{7, 8}));
  for (int i = 0; i < 2; ++i) {
    const auto refused = backend_->destroy(made.key);
    EXPECT_EQ(refused.fault(), Fault::kInUse);
    EXPECT_TRUE(refused.error().pids.empty());
  }
  EXPECT_TRUE(backend_->destroy(made.key).ok());
}

TEST_F(Faulty, F5AHungCallCostsTheDeadlineOnceAndOnlyItsGpu) {
  plan("F5,gpu=0,times=3");
  EXPECT_EQ(backend_->power_mw(kFirst).fault(), Fault::kTimeout);
  EXPECT_EQ(clock_.now(), Micros::seconds(30));
  EXPECT_EQ(backend_->instances(kFirst).fault(), Fault::kTimeout);
  EXPECT_TRUE(backend_->power_mw(kSecond).ok());
  EXPECT_EQ(backend_->memory({kFirst, 1, "MIG-x"}).fault(), Fault::kTimeout);
  EXPECT_EQ(clock_.now(), Micros::seconds(30));
  EXPECT_TRUE(backend_->power_mw(kFirst).ok());
}

TEST_F(Faulty, F6ALostGpuStaysLostUntilItIsReset) {
  const Instance made = *backend_->create(kFirst, placed("1g.5gb:0"));
  plan("F6,gpu=0");
  EXPECT_EQ(backend_->memory(made.key).fault(), Fault::kGpuLost);
  EXPECT_EQ(backend_->create(kFirst, placed("1g.5gb:1")).fault(), Fault::kGpuLost);
  EXPECT_EQ(backend_->gpus()->front().trouble->fault, Fault::kGpuLost);
  EXPECT_FALSE(backend_->gpus()->back().trouble.has_value());
  const auto events = *backend_->poll_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(device::class_of_xid(events[0].xid), device::XidClass::kGpuLost);
  backend_->reset(kFirst);
  EXPECT_TRUE(backend_->instances(kFirst)->empty());
}

TEST_F(Faulty, F7ToF10EventsComeAsPlanned) {
  const Instance made = *backend_->create(kSecond, placed("3g.20gb:4"));
  plan("F7,gpu=1;F7,gpu=1,xid=48;F8,gpu=1;F9,gpu=1;F10,gpu=1");
  const auto events = *backend_->poll_events();
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0].xid, 95);
  EXPECT_FALSE(events[0].gi.has_value());
  EXPECT_EQ(events[1].xid, 48);
  EXPECT_EQ(device::class_of_xid(events[2].xid), device::XidClass::kContained);
  EXPECT_EQ(events[2].gi, made.key.gi);
  EXPECT_EQ(events[2].generation, made.generation);
  EXPECT_EQ(device::class_of_xid(events[3].xid), device::XidClass::kApplication);
  EXPECT_EQ(device::class_of_xid(events[4].xid), device::XidClass::kResetPending);
  // What runs goes on, nothing new is made.
  EXPECT_TRUE(backend_->memory(made.key).ok());
  EXPECT_EQ(backend_->create(kSecond, placed("1g.5gb:0")).fault(), Fault::kResetRequired);
  EXPECT_TRUE(backend_->poll_events()->empty());
  backend_->reset(kSecond);
  EXPECT_TRUE(backend_->create(kSecond, placed("1g.5gb:0")).ok());
}

TEST_F(Faulty, F11ThePollFailsAndLaterWorks) {
  plan("F11");
  EXPECT_FALSE(backend_->poll_events().ok());
  EXPECT_TRUE(backend_->poll_events().ok());
}

TEST_F(Faulty, F12ARestartMovesIdsChangesTheBootIdAndTakesTheSlices) {
  const auto before = *backend_->gpus();
  const Instance made = *backend_->create(kFirst, placed("1g.5gb:0"));
  plan("F12");
  const auto after = *backend_->gpus();
  EXPECT_NE(after[0].boot_id, before[0].boot_id);
  EXPECT_EQ(after[0].uuid, before[1].uuid);
  EXPECT_EQ(after[1].uuid, before[0].uuid);
  EXPECT_EQ(after[0].id, kFirst);
  for (const GpuId gpu : {kFirst, kSecond}) EXPECT_TRUE(backend_->instances(gpu)->empty());
  EXPECT_EQ(backend_->memory(made.key).fault(), Fault::kNotFound);
  const Instance fresh = *backend_->create(kSecond, placed("1g.5gb:0"));
  EXPECT_EQ(*backend_->instances(kSecond), std::vector{fresh});
  EXPECT_EQ(simulated_->instances(kFirst)->size(), 1U);
}

TEST_F(Faulty, F13AForeignSliceComesAndOneOfOursGoes) {
  const Instance made = *backend_->create(kFirst, placed("1g.5gb:0"));
  plan("F13,gpu=0");
  EXPECT_EQ(backend_->instances(kFirst)->size(), 2U);
  plan("F13,gpu=0,vanish");
  const auto left = *backend_->instances(kFirst);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_NE(left[0].key, made.key);
}

TEST_F(Faulty, F14AndF15HaveTheirNames) {
  plan("F14");
  EXPECT_EQ(backend_->gpus().fault(), Fault::kNoPermission);
  plan("F15");
  EXPECT_EQ(backend_->gpus().fault(), Fault::kDriverGone);
  plan("F15,mismatch");
  EXPECT_EQ(backend_->power_mw(kFirst).fault(), Fault::kVersionMismatch);
  EXPECT_TRUE(backend_->gpus().ok());
}

TEST_F(Faulty, F16TheSecondGpuHasOtherProfileIds) {
  plan("F16");
  const auto gpus = *backend_->gpus();
  EXPECT_NE(gpus[0].model->profiles[0].nvml_id, gpus[1].model->profiles[0].nvml_id);
  EXPECT_TRUE(backend_->create(kSecond, placed("1g.5gb:0")).ok());
}

TEST_F(Faulty, F17TheSliceIsFull) {
  const Instance made = *backend_->create(kFirst, placed("1g.5gb:0"));
  plan("F17");
  EXPECT_EQ(backend_->memory(made.key)->used_mib, 4864);
  EXPECT_EQ(backend_->memory(made.key)->used_mib, 0);
}

TEST_F(Faulty, F18CallsTakeLongerAndSucceed) {
  plan("F18,seconds=7,times=2");
  EXPECT_TRUE(backend_->power_mw(kFirst).ok());
  EXPECT_TRUE(backend_->gpus().ok());
  EXPECT_EQ(clock_.now(), Micros::seconds(14));
}

TEST_F(Faulty, F19ALateEventHasTheGenerationOfTheSliceThatWasThere) {
  const Instance old = *backend_->create(kFirst, placed("1g.5gb:0"));
  ASSERT_TRUE(backend_->destroy(old.key).ok());
  const Instance fresh = *backend_->create(kFirst, placed("1g.5gb:0"));
  ASSERT_EQ(fresh.key.gi, old.key.gi);
  plan("F19,gpu=0");
  const auto events = *backend_->poll_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].gi, fresh.key.gi);
  EXPECT_EQ(events[0].generation, old.generation);
}

// By chance: thousands of calls under every fault. Nothing crashes, errors have sentences, layouts
// stay legal, and the same seed gives the same answers.
std::string run_by_chance(std::uint64_t seed) {
  ManualClock clock;
  auto simulated = SimulatedBackend::open(*device::parse_simulated("3xa100-40gb"), clock);
  FaultyOptions options;
  options.rate = 0.1;
  options.seed = seed;
  FaultyBackend backend(std::move(*simulated), options, clock);
  const mig::GpuModel& model = **mig::find_gpu("a100-40gb");
  Rng rng(seed, 1);
  std::string story;
  const auto note = [&](const auto& answer) {
    story += answer.ok() ? "." : std::string(device::name_of(answer.fault()));
    EXPECT_TRUE(answer.ok() || !answer.error().message.empty());
  };
  for (int step = 0; step < 600; ++step) {
    const GpuId gpu{static_cast<std::uint32_t>(rng.below(3))};
    if (rng.below(50) == 0) backend.reset(gpu);
    if (rng.below(10) == 0) note(backend.gpus());
    if (rng.below(10) == 0) note(backend.poll_events());
    const auto profile = static_cast<mig::ProfileIndex>(rng.below(model.profiles.size()));
    const auto& starts = model.profiles[profile].starts;
    note(backend.create(gpu, {profile, starts[rng.below(starts.size())]}));
    const auto there = backend.instances(gpu);
    note(there);
    if (!there) continue;
    mig::Layout layout;
    for (const Instance& instance : *there) {
      EXPECT_TRUE(mig::fits(model, layout, instance.placement));
      layout.add(instance.placement);
    }
    if (there->empty()) continue;
    note(backend.memory(there->front().key));
    note(backend.destroy((*there)[rng.below(there->size())].key));
  }
  return story;
}

TEST(FaultyByChance, LayoutsStayLegalAndSeedsRepeat) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::string story = run_by_chance(seed);
    EXPECT_EQ(story, run_by_chance(seed));
    EXPECT_NE(story.find("timeout"), std::string::npos);
  }
}

}  // namespace
}  // namespace partita::conformance
