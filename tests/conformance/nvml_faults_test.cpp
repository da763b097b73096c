// The faults of real GPUs, played to the real nvml backend by the fake library.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <thread>

#include "device/nvml/nvml.h"
#include "device/open.h"
#include "device_world.h"

namespace partita::conformance {
namespace {

using device::Answer;
using device::Done;
using device::Fault;
using device::Instance;
using device::NvmlBackend;
using device::NvmlOptions;
using std::chrono::milliseconds;
namespace nvml = device::nvml;

NvmlOptions quick() {
  NvmlOptions options;
  options.library = fake_nvml_path();
  options.pauses = {milliseconds(1), milliseconds(1), milliseconds(1)};
  return options;
}

class NvmlFaults : public testing::Test {
 protected:
  NvmlFaults() { tell_fake_nvml("reset gpus=a100-40gb,a100-40gb"); }
  ~NvmlFaults() override { tell_fake_nvml("reset"); }

  mig::Placement placed(const char* text) {
    return mig::parse_layout(*backend_.gpus()->front().model, text)->instances().front();
  }

  NvmlBackend backend_{quick()};
};

TEST_F(NvmlFaults, F1ARefusedCreateIsInsufficientResources) {
  tell_fake_nvml("fail nvmlDeviceCreateGpuInstanceWithPlacement 23 times=1");
  const auto refused = backend_.create(kFirst, placed("3g.20gb:4"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.fault(), Fault::kInsufficientResources);
  EXPECT_NE(refused.error().message.find("3g.20gb:4"), std::string::npos);
  EXPECT_TRUE(backend_.instances(kFirst)->empty());
  EXPECT_TRUE(backend_.create(kFirst, placed("3g.20gb:4")).ok());
}

TEST_F(NvmlFaults, F2AFailedComputeInstanceTakesTheGpuInstanceBack) {
  tell_fake_nvml("fail nvmlGpuInstanceCreateComputeInstance 999 times=1");
  const auto failed = backend_.create(kFirst, placed("2g.10gb:2"));
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().message.find("taken back"), std::string::npos);
  EXPECT_TRUE(backend_.instances(kFirst)->empty());
}

TEST_F(NvmlFaults, F2WhenTheRollbackFailsTooTheOrphanIsFoundByGpuInstances) {
  tell_fake_nvml(
      "fail nvmlGpuInstanceCreateComputeInstance 999 times=1; fail nvmlGpuInstanceDestroy 19 "
      "times=1");
  const auto failed = backend_.create(kFirst, placed("2g.10gb:2"));
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().message.find("is left"), std::string::npos);
  const auto left = *backend_.instances(kFirst);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_TRUE(left[0].orphan());
  EXPECT_EQ(left[0].placement, placed("2g.10gb:2"));
  EXPECT_TRUE(backend_.destroy(left[0].key).ok());
  EXPECT_TRUE(backend_.instances(kFirst)->empty());
}

TEST_F(NvmlFaults, F3TheProcessesInTheWayAreNamed) {
  const Instance instance = *backend_.create(kFirst, placed("3g.20gb:0"));
  tell_fake_nvml(fmt::format("process 0 {} 812 4000", instance.key.gi));
  const Done refused = backend_.destroy(instance.key);
  EXPECT_EQ(refused.fault(), Fault::kInUse);
  EXPECT_EQ(refused.error().pids, std::vector{812});
  EXPECT_NE(refused.error().message.find("812"), std::string::npos);
}

TEST_F(NvmlFaults, F4InUseByNobodyVisibleEndsWithAnAnswerAndAdvice) {
  const Instance instance = *backend_.create(kFirst, placed("3g.20gb:0"));
  tell_fake_nvml(fmt::format("leak 0 {} on", instance.key.gi));
  const Done refused = backend_.destroy(instance.key);
  EXPECT_EQ(refused.fault(), Fault::kInUse);
  EXPECT_TRUE(refused.error().pids.empty());
  EXPECT_NE(refused.error().message.find("/dev/nvidia-caps"), std::string::npos);
  EXPECT_EQ(*backend_.instances(kFirst), std::vector{instance});
  tell_fake_nvml(fmt::format("leak 0 {} off", instance.key.gi));
  EXPECT_TRUE(backend_.destroy(instance.key).ok());
}

TEST_F(NvmlFaults, F4ASliceThatLingersAMomentIsDestroyedAllTheSame) {
  const Instance instance = *backend_.create(kFirst, placed("3g.20gb:0"));
  tell_fake_nvml(fmt::format("linger 0 {} 2", instance.key.gi));
  EXPECT_TRUE(backend_.destroy(instance.key).ok());
}

TEST_F(NvmlFaults, F4OneThatLingersTooLongIsLeftAsAnOrphanThatCanBeDestroyedLater) {
  const Instance instance = *backend_.create(kFirst, placed("3g.20gb:0"));
  tell_fake_nvml(fmt::format("linger 0 {} 5", instance.key.gi));
  EXPECT_EQ(backend_.destroy(instance.key).fault(), Fault::kInUse);
  const auto left = *backend_.instances(kFirst);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_TRUE(left[0].orphan());
  EXPECT_TRUE(backend_.destroy(left[0].key).ok());
}

TEST_F(NvmlFaults, F5AHungCallKeepsNoOneElse) {
  NvmlOptions options = quick();
  options.deadline = milliseconds(60);
  NvmlBackend backend(options);
  ASSERT_EQ(backend.gpus()->size(), 2U);
  ASSERT_TRUE(backend.instances(kSecond).ok());
  tell_fake_nvml("delay nvmlDeviceGetPowerUsage 1000 times=1");
  EXPECT_EQ(backend.power_mw(kFirst).fault(), Fault::kTimeout);
  // Suspect: no further call is made on it, and the others are served.
  EXPECT_EQ(backend.instances(kFirst).fault(), Fault::kTimeout);
  EXPECT_TRUE(backend.power_mw(kSecond).ok());
  const auto gpus = backend.gpus();
  ASSERT_TRUE(gpus.ok());
  ASSERT_TRUE((*gpus)[0].trouble.has_value());
  EXPECT_EQ((*gpus)[0].trouble->fault, Fault::kTimeout);
  EXPECT_TRUE((*gpus)[0].uuid.starts_with("GPU-"));  // what was last known
  EXPECT_FALSE((*gpus)[1].trouble.has_value());
  // The call returns, and the GPU is served again.
  for (int i = 0; i < 500 && !backend.instances(kFirst).ok(); ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_TRUE(backend.instances(kFirst).ok());
}

TEST_F(NvmlFaults, F5AHungGpuIsTriedAgainByAFreshWorker) {
  NvmlOptions options = quick();
  options.deadline = milliseconds(60);
  options.retry_after = milliseconds(0);
  NvmlBackend backend(options);
  ASSERT_EQ(backend.gpus()->size(), 2U);
  tell_fake_nvml("delay nvmlDeviceGetPowerUsage 600 times=1");
  EXPECT_EQ(backend.power_mw(kFirst).fault(), Fault::kTimeout);
  EXPECT_TRUE(backend.power_mw(kFirst).ok());
}

TEST_F(NvmlFaults, F6ALostGpuIsListedWithItsTroubleAndTheOthersWork) {
  ASSERT_EQ(backend_.gpus()->size(), 2U);
  tell_fake_nvml("fail nvmlDeviceGetUUID 15 times=1");
  EXPECT_EQ(backend_.power_mw(kFirst).fault(), Fault::kGpuLost);
  tell_fake_nvml("fail nvmlDeviceGetUUID 15 times=1; event 0 79");
  const auto gpus = *backend_.gpus();
  ASSERT_TRUE(gpus[0].trouble.has_value());
  EXPECT_EQ(gpus[0].trouble->fault, Fault::kGpuLost);
  EXPECT_FALSE(gpus[1].trouble.has_value());
  const auto events = *backend_.poll_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(device::class_of_xid(events[0].xid), device::XidClass::kGpuLost);
}

TEST_F(NvmlFaults, F7ToF10XidsHaveTheirClass) {
  const Instance instance = *backend_.create(kSecond, placed("1g.5gb:3"));
  ASSERT_TRUE(backend_.poll_events()->empty());
  const auto class_of = [&](const std::string& event) {
    tell_fake_nvml(event);
    const auto events = *backend_.poll_events();
    CHECK(events.size() == 1);
    return device::class_of_xid(events[0].xid);
  };
  using device::XidClass;
  for (const int xid : {48, 95}) {
    EXPECT_EQ(class_of(fmt::format("event 1 {}", xid)), XidClass::kUncontained);
  }
  for (const int xid : {13, 31, 43, 45, 68, 109}) {
    EXPECT_EQ(class_of(fmt::format("event 1 {} {}", xid, instance.key.gi)), XidClass::kApplication);
  }
  for (const int xid : {63, 64}) {
    EXPECT_EQ(class_of(fmt::format("event 1 {}", xid)), XidClass::kResetPending);
  }
  tell_fake_nvml(fmt::format("event 1 94 {}", instance.key.gi));
  const auto contained = *backend_.poll_events();
  ASSERT_EQ(contained.size(), 1U);
  EXPECT_EQ(device::class_of_xid(94), XidClass::kContained);
  EXPECT_EQ(contained[0].gpu, kSecond);
  EXPECT_EQ(contained[0].gi, instance.key.gi);
  EXPECT_EQ(contained[0].generation, instance.generation);
  EXPECT_EQ(device::class_of_xid(7), XidClass::kOther);
}

TEST_F(NvmlFaults, F10ResetRequiredHasItsName) {
  tell_fake_nvml("fail nvmlDeviceCreateGpuInstanceWithPlacement 16 times=1");
  EXPECT_EQ(backend_.create(kFirst, placed("1g.5gb:0")).fault(), Fault::kResetRequired);
  tell_fake_nvml("activation 16");
  EXPECT_EQ(backend_.set_mig_mode(kFirst, false).fault(), Fault::kResetRequired);
}

TEST_F(NvmlFaults, F11AFailedWaitIsAnErrorAndTheGpusAreUnmonitored) {
  ASSERT_TRUE(backend_.poll_events().ok());
  EXPECT_TRUE(backend_.gpus()->front().monitored);
  tell_fake_nvml("fail nvmlEventSetWait_v2 999 times=1");
  EXPECT_EQ(backend_.poll_events().fault(), Fault::kUnknown);
  EXPECT_FALSE(backend_.gpus()->front().monitored);
  ASSERT_TRUE(backend_.poll_events().ok());  // watches anew
  EXPECT_TRUE(backend_.gpus()->front().monitored);
}

TEST_F(NvmlFaults, F12AfterARestartTheOldSlicesAreUnknown) {
  const Instance old = *backend_.create(kFirst, placed("1g.5gb:0"));
  tell_fake_nvml("reboot 0 now");
  EXPECT_TRUE(backend_.instances(kFirst)->empty());
  EXPECT_EQ(backend_.memory(old.key).fault(), Fault::kNotFound);
  EXPECT_NE(backend_.create(kFirst, placed("1g.5gb:0"))->key.uuid, old.key.uuid);
  EXPECT_FALSE(backend_.gpus()->front().boot_id.empty());
}

TEST_F(NvmlFaults, F13ForeignSlicesAreListedAndVanishedOnesAreNot) {
  const Instance ours = *backend_.create(kFirst, placed("1g.5gb:0"));
  tell_fake_nvml("make 0 9 4");
  const auto both = *backend_.instances(kFirst);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0], ours);
  EXPECT_EQ(both[1].placement, placed("3g.20gb:4"));
  tell_fake_nvml(fmt::format("vanish 0 {}", ours.key.gi));
  EXPECT_EQ(*backend_.instances(kFirst), std::vector{both[1]});
}

TEST_F(NvmlFaults, F14AMissingPermissionNamesTheCapabilityFile) {
  tell_fake_nvml("fail nvmlDeviceCreateGpuInstanceWithPlacement 4 times=1");
  const auto refused = backend_.create(kFirst, placed("1g.5gb:0"));
  EXPECT_EQ(refused.fault(), Fault::kNoPermission);
  EXPECT_NE(refused.error().message.find("/proc/driver/nvidia/capabilities/mig/config"),
            std::string::npos);
  NvmlBackend other(quick());
  tell_fake_nvml("fail nvmlDeviceGetGpuInstancePossiblePlacements_v2 4 times=1");
  EXPECT_EQ(other.gpus().fault(), Fault::kNoPermission);
  EXPECT_TRUE(other.gpus().ok());
}

TEST_F(NvmlFaults, F15WithoutALibraryTheBackendAnswersAndTriesAgain) {
  NvmlOptions options;
  options.library = "/nowhere/libnvidia-ml.so.1";
  NvmlBackend backend(options);
  EXPECT_EQ(backend.gpus().fault(), Fault::kDriverGone);
  EXPECT_EQ(backend.create(kFirst, {0, 0}).fault(), Fault::kDriverGone);
  EXPECT_EQ(backend.title(), "nvml");
}

TEST_F(NvmlFaults, F15ADriverThatGoesAndComesBackIsFoundAgain) {
  ASSERT_TRUE(backend_.gpus().ok());
  tell_fake_nvml("fail nvmlDeviceGetCount_v2 9 times=1; fail nvmlInit_v2 9 times=1");
  EXPECT_EQ(backend_.gpus().fault(), Fault::kDriverGone);
  EXPECT_EQ(backend_.gpus().fault(), Fault::kDriverGone);
  EXPECT_EQ(backend_.gpus()->size(), 2U);
  NvmlBackend other(quick());
  tell_fake_nvml("fail nvmlInit_v2 18 times=1");
  EXPECT_EQ(other.gpus().fault(), Fault::kVersionMismatch);
  EXPECT_TRUE(other.gpus().ok());
}

TEST_F(NvmlFaults, F16EachGpuHasItsOwnProfileIds) {
  tell_fake_nvml("profile-ids 1 40");
  const auto gpus = *backend_.gpus();
  const auto placement = placed("2g.10gb:2");
  EXPECT_EQ(gpus[0].model->profiles[placement.profile].nvml_id, 14);
  EXPECT_EQ(gpus[1].model->profiles[placement.profile].nvml_id, 54);
  EXPECT_EQ(backend_.create(kFirst, placement)->placement, placement);
  EXPECT_EQ(backend_.create(kSecond, placement)->placement, placement);
}

TEST_F(NvmlFaults, F17MemoryInUseReachesTheSlicesTotal) {
  const Instance instance = *backend_.create(kFirst, placed("1g.5gb:0"));
  tell_fake_nvml(fmt::format("process 0 {} 99 4864", instance.key.gi));
  const device::MemoryUse use = *backend_.memory(instance.key);
  EXPECT_EQ(use.used_mib, use.total_mib);
}

TEST_F(NvmlFaults, F18SlowIsNotLost) {
  tell_fake_nvml("delay nvmlDeviceCreateGpuInstanceWithPlacement 300 times=1");
  EXPECT_TRUE(backend_.create(kFirst, placed("1g.5gb:0")).ok());
}

TEST_F(NvmlFaults, HolesInTheNumbersOfMigDevicesHideNothing) {
  tell_fake_nvml("ci-device parent");  // slices must be looked for one by one
  std::vector<Instance> made;
  for (const char* where : {"1g.5gb:0", "1g.5gb:1", "1g.5gb:2", "1g.5gb:3"}) {
    made.push_back(*backend_.create(kFirst, placed(where)));
  }
  ASSERT_TRUE(backend_.destroy(made[1].key).ok());
  ASSERT_TRUE(backend_.destroy(made[0].key).ok());
  EXPECT_EQ(*backend_.instances(kFirst), (std::vector{made[2], made[3]}));
  tell_fake_nvml(fmt::format("process 0 {} 5 77", made[3].key.gi));
  EXPECT_EQ(backend_.memory(made[3].key)->used_mib, 77);
}

TEST_F(NvmlFaults, ASliceOfSeveralComputeInstancesIsOneInstanceAndCanBeDestroyed) {
  const Instance whole = *backend_.create(kFirst, placed("1g.5gb:0"));
  ASSERT_EQ(whole.compute_instances, 1);
  tell_fake_nvml("make 0 9 4 bare");
  auto found = *backend_.instances(kFirst);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].compute_instances, 0);
  EXPECT_TRUE(backend_.destroy(found[1].key).ok());
}

TEST_F(NvmlFaults, EveryFailingCallIsAnswered) {
  // Torture: each call of the backend's functions fails once in turn; nothing crashes, and what is
  // answered is an error or the truth.
  int failures = 0;
  for (int after = 0; after < 400; ++after) {
    tell_fake_nvml("reset gpus=a100-40gb");
    NvmlBackend backend(quick());
    tell_fake_nvml(fmt::format("fail * 999 times=1 after={}", after));
    const auto gpus = backend.gpus();
    const auto made = backend.create(kFirst, {4, 4});
    const auto listed = backend.instances(kFirst);
    failures += (!gpus.ok() || !made.ok() || !listed.ok()) ? 1 : 0;
    tell_fake_nvml("calm");
    const auto truth = backend.instances(kFirst);
    ASSERT_TRUE(truth.ok());
    EXPECT_TRUE(!made.ok() || !listed.ok() || *listed == *truth);
    for (const Instance& instance : *truth) ASSERT_TRUE(backend.destroy(instance.key).ok());
    ASSERT_TRUE(backend.instances(kFirst)->empty());
  }
  EXPECT_GT(failures, 20);
}

// ---- The fake's own answers, beside those of a real H200 (driver 580.159.04, MIG mode off).

class FakeH200 : public testing::Test {
 protected:
  FakeH200() {
    tell_fake_nvml("reset gpus=h200-141gb mig=off");
    auto loaded = device::NvmlLibrary::load(fake_nvml_path());
    CHECK(loaded.ok());
    library_ = *loaded;
    CHECK((*library_)->init() == nvml::kSuccess);
    CHECK((*library_)->device_by_index(0, &device_) == nvml::kSuccess);
  }
  ~FakeH200() override { (*library_)->shutdown(); }

  std::shared_ptr<const device::NvmlLibrary> library_;
  nvml::Device device_ = nullptr;
};

TEST_F(FakeH200, ProfileArgumentsAreAnsweredAsTheRealOneAnswersThem) {
  for (unsigned argument = 0; argument < 24; ++argument) {
    nvml::GpuInstanceProfile info = {};
    const nvml::Return code = (*library_)->gi_profile(device_, argument, &info);
    static const std::set<unsigned> kThere = {0, 1, 2, 3, 4, 7, 9};
    nvml::Return expected = argument < 17 ? nvml::kNotSupported : nvml::kInvalidArgument;
    if (kThere.contains(argument)) expected = nvml::kSuccess;
    EXPECT_EQ(code, expected) << argument;
  }
}

TEST_F(FakeH200, TheSmallestProfileIsTheRealOne) {
  nvml::GpuInstanceProfileV2 info = {};
  info.version = nvml::kGpuInstanceProfileV2;
  ASSERT_EQ((*library_)->gi_profile_v(device_, 0, &info), nvml::kSuccess);
  EXPECT_EQ(info.id, 19U);
  EXPECT_EQ(info.is_p2p_supported, 0U);
  EXPECT_EQ(info.memory_size_mb, 16384U);
  EXPECT_EQ(info.multiprocessor_count, 16U);
  EXPECT_EQ(info.instance_count, 7U);
  EXPECT_STREQ(info.name, "MIG 1g.18gb");
  info.version = 7;
  EXPECT_EQ((*library_)->gi_profile_v(device_, 0, &info), nvml::kInvalidArgument);
}

TEST_F(FakeH200, PlacementsAreAnsweredWithMigOff) {
  std::array<nvml::GpuInstancePlacement, 8> places = {};
  unsigned count = 0;
  ASSERT_EQ((*library_)->gi_placements(device_, 9, nullptr, &count), nvml::kSuccess);
  ASSERT_EQ(count, 2U);
  count = 1;  // the real one does not look at it
  ASSERT_EQ((*library_)->gi_placements(device_, 9, places.data(), &count), nvml::kSuccess);
  ASSERT_EQ(count, 2U);
  EXPECT_EQ(places[0].start, 0U);
  EXPECT_EQ(places[1].start, 4U);
  EXPECT_EQ(places[1].size, 4U);
  EXPECT_EQ((*library_)->gi_placements(device_, 77, places.data(), &count), nvml::kInvalidArgument);
  nvml::GpuInstance handle = nullptr;
  EXPECT_EQ((*library_)->gi_create(device_, 9, places.data(), &handle), nvml::kNotSupported);
}

TEST_F(FakeH200, WithMigOffListsAreEmptyAndNothingIsFound) {
  std::array<nvml::GpuInstance, 8> instances = {};
  unsigned count = 8;
  EXPECT_EQ((*library_)->gi_list(device_, 19, instances.data(), &count), nvml::kSuccess);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ((*library_)->gi_by_id(device_, 1, instances.data()), nvml::kNotFound);
  EXPECT_EQ((*library_)->mig_device_count(device_, &count), nvml::kSuccess);
  EXPECT_EQ(count, 0U);
  nvml::Device slice = nullptr;
  EXPECT_EQ((*library_)->mig_device_by_index(device_, 0, &slice), nvml::kNotFound);
  EXPECT_EQ((*library_)->mig_device_gi(device_, &count), nvml::kInvalidArgument);
  EXPECT_EQ((*library_)->device_by_index(99, &slice), nvml::kInvalidArgument);
}

TEST(OpenBackend, NvmlIsOpenedByPathAndByDefault) {
  tell_fake_nvml("reset gpus=h200-141gb,a30-24gb");
  const auto by_path = device::open_backend("nvml:" + fake_nvml_path(), real_clock());
  ASSERT_TRUE(by_path.ok());
  EXPECT_EQ((*by_path)->gpus()->size(), 2U);
  EXPECT_EQ((*by_path)->title(), "nvml, driver 580.159.04");
  const auto by_default = device::open_backend("nvml", real_clock(), {fake_nvml_path()});
  EXPECT_EQ((*by_default)->gpus()->at(1).model->key, "a30-24gb");
}

}  // namespace
}  // namespace partita::conformance
