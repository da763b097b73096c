#include "device/simulated/simulated.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "base/text.h"
#include "device/open.h"

namespace partita::device {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "partita-simulated-test-XXXXXX").string();
    CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::unique_ptr<SimulatedBackend> opened(const std::string& text, Clock& clock) {
  Result<SimulatedOptions> options = parse_simulated(text);
  CHECK(options.ok());
  auto backend = SimulatedBackend::open(*options, clock);
  EXPECT_TRUE(backend.ok()) << (backend.ok() ? "" : backend.error().message);
  return std::move(*backend);
}

mig::Placement placed(const GpuInfo& gpu, const char* text) {
  return mig::parse_layout(*gpu.model, text)->instances().front();
}

TEST(Simulated, OptionsAreReadFromText) {
  const auto options = parse_simulated("2xa100-40gb,H100,seed=7,change-time=0,mig=off,state=a b");
  ASSERT_TRUE(options.ok());
  ASSERT_EQ(options->gpus.size(), 3U);
  EXPECT_EQ(options->gpus[1]->key, "a100-40gb");
  EXPECT_EQ(options->gpus[2]->key, "h100-80gb");
  EXPECT_EQ(options->seed, 7U);
  EXPECT_EQ(options->change_time, 0);
  EXPECT_FALSE(options->mig_enabled);
  EXPECT_EQ(options->state_file, "a b");
}

TEST(Simulated, BadOptionsAreRefusedWithASentence) {
  for (const char* text : {"", "0xa100-40gb", "-1xa100-40gb", "5000xa100-40gb", "2xvoodoo",
                           "a30-24gb,seed=x", "a30-24gb,colour=red", "a30-24gb,mig=maybe",
                           "a30-24gb,change-time=-1", "seed=1", "a30-24gb,state="}) {
    const auto options = parse_simulated(text);
    ASSERT_FALSE(options.ok()) << text;
    EXPECT_NE(options.error().message.find("simulated:"), std::string::npos);
  }
}

TEST(Simulated, UnknownBackendsAreAnsweredWithTheKnownOnes) {
  ManualClock clock;
  const auto backend = open_backend("cuda", clock);
  ASSERT_FALSE(backend.ok());
  EXPECT_NE(backend.error().message.find("simulated:"), std::string::npos);
}

TEST(Simulated, TheSameSeedGivesTheSameUuids) {
  ManualClock clock;
  const auto uuid_with = [&](const std::string& text) {
    const auto backend = opened(text, clock);
    const GpuInfo gpu = backend->gpus()->front();
    return backend->create(gpu.id, placed(gpu, "1g.5gb:3"))->key.uuid;
  };
  EXPECT_EQ(uuid_with("a100-40gb,seed=5"), uuid_with("a100-40gb,seed=5"));
  EXPECT_NE(uuid_with("a100-40gb,seed=5"), uuid_with("a100-40gb,seed=6"));
  EXPECT_TRUE(uuid_with("a100-40gb").starts_with("MIG-"));
}

TEST(Simulated, ChangesTakeTheModelsTimeOnTheClock) {
  ManualClock clock;
  const auto backend = opened("a100-40gb", clock);
  const GpuInfo gpu = backend->gpus()->front();
  const Answer<Instance> made = backend->create(gpu.id, placed(gpu, "7g.40gb:0"));
  ASSERT_TRUE(made.ok());
  const mig::ChangeSeconds seconds = gpu.model->change_seconds[made->placement.profile];
  EXPECT_EQ(clock.now(), micros_from_seconds(seconds.create));
  ASSERT_TRUE(backend->destroy(made->key).ok());
  EXPECT_EQ(clock.now(),
            micros_from_seconds(seconds.create) + micros_from_seconds(seconds.destroy));
}

TEST(Simulated, EnergyIsTheExactSumOfPowerTimesTime) {
  ManualClock clock;
  const auto backend = opened("a100-40gb,change-time=0", clock);
  const GpuInfo gpu = backend->gpus()->front();
  const auto& watts = gpu.model->power_curves.front().watts;
  const InstanceKey three = backend->create(gpu.id, placed(gpu, "3g.20gb:4"))->key;
  const InstanceKey one = backend->create(gpu.id, placed(gpu, "1g.5gb:0"))->key;
  double joules = 0;
  const auto pass = [&](std::int64_t seconds, std::size_t busy) {
    EXPECT_EQ(backend->power_mw(gpu.id).ok(), true);
    clock.advance(Micros::seconds(seconds));
    joules += watts[busy] * static_cast<double>(seconds);
    EXPECT_NEAR(static_cast<double>(*backend->energy_mj(gpu.id)), joules * 1000, 1.0);
  };
  pass(10, 0);
  backend->put_process(three, {11, 100});
  pass(7, 3);
  backend->put_process(one, {12, 100});
  backend->put_process(one, {13, 100});
  pass(3, 4);
  backend->end_process(one, 12);
  pass(3, 4);
  backend->end_process(one, 13);
  backend->end_process(three, 11);
  pass(100, 0);
}

TEST(Simulated, ManySmallReadingsAddUpToOneLargeOne) {
  ManualClock fine_clock;
  ManualClock coarse_clock;
  const auto fine = opened("h200-141gb", fine_clock);
  const auto coarse = opened("h200-141gb", coarse_clock);
  for (int i = 0; i < 1000; ++i) {
    fine_clock.advance(Micros{333});
    ASSERT_TRUE(fine->energy_mj({0}).ok());
  }
  coarse_clock.advance(Micros{333'000});
  EXPECT_EQ(*fine->energy_mj({0}), *coarse->energy_mj({0}));
}

TEST(Simulated, SlicesAndEnergyOutliveTheBackendInAStateFile) {
  const Folder folder;
  ManualClock clock;
  const std::string text = "2xa100-40gb,state=" + (folder / "gpus.json").string();
  Instance made;
  std::int64_t energy = 0;
  {
    const auto backend = opened(text, clock);
    const GpuInfo gpu = backend->gpus()->back();
    made = *backend->create(gpu.id, placed(gpu, "4g.20gb:0"));
    clock.advance(Micros::seconds(5));
    energy = *backend->energy_mj(gpu.id);
  }
  const auto again = opened(text, clock);
  EXPECT_EQ(*again->instances({1}), std::vector{made});
  EXPECT_TRUE(again->instances({0})->empty());
  EXPECT_EQ(*again->energy_mj({1}), energy);
  clock.advance(Micros::seconds(1));
  EXPECT_GT(*again->energy_mj({1}), energy);
}

TEST(Simulated, TwoProgramsSeeTheSameSlices) {
  const Folder folder;
  ManualClock clock;
  const std::string text = "a100-40gb,state=" + (folder / "gpus.json").string();
  const auto one = opened(text, clock);
  const auto other = opened(text, clock);
  const GpuInfo gpu = one->gpus()->front();
  const Instance made = *one->create(gpu.id, placed(gpu, "3g.20gb:0"));
  EXPECT_EQ(*other->instances(gpu.id), std::vector{made});
  EXPECT_EQ(other->create(gpu.id, placed(gpu, "1g.5gb:2")).fault(), Fault::kInsufficientResources);
  ASSERT_TRUE(other->destroy(made.key).ok());
  EXPECT_TRUE(one->instances(gpu.id)->empty());
}

// Ends the process at the first wait: between the GPU instance and its compute instance.
class KillingClock : public ManualClock {
 public:
  void sleep(Micros) override { ::raise(SIGKILL); }
};

TEST(Simulated, AKillWhileASliceIsMadeLeavesAnOrphan) {
  const Folder folder;
  const std::string text = "a100-40gb,state=" + (folder / "gpus.json").string();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    KillingClock clock;
    const auto backend = opened(text, clock);
    (void)backend->create({0}, placed(backend->gpus()->front(), "2g.10gb:2"));
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  ManualClock clock;
  const auto backend = opened(text, clock);
  const auto left = *backend->instances({0});
  ASSERT_EQ(left.size(), 1U);
  EXPECT_TRUE(left.front().orphan());
  EXPECT_EQ(left.front().key.uuid, "");
  ASSERT_TRUE(backend->destroy(left.front().key).ok());
  EXPECT_TRUE(backend->instances({0})->empty());
}

TEST(Simulated, AStateFileOfOtherGpusOrDamagedIsRefusedByName) {
  const Folder folder;
  ManualClock clock;
  const fs::path file = folder / "gpus.json";
  const auto backend = opened("a100-40gb,state=" + file.string(), clock);
  const GpuInfo gpu = backend->gpus()->front();
  ASSERT_TRUE(backend->create(gpu.id, placed(gpu, "1g.5gb:0")).ok());
  const auto refused = [&](const std::string& gpus) {
    auto options = parse_simulated(gpus + ",state=" + file.string());
    const auto backend = SimulatedBackend::open(*options, clock);
    return !backend.ok() && backend.error().message.find(file.string()) != std::string::npos;
  };
  EXPECT_TRUE(refused("a30-24gb"));
  EXPECT_FALSE(refused("a100-40gb"));
  std::ofstream(file) << "{\"format\": 3}";
  EXPECT_TRUE(refused("a100-40gb"));
}

TEST(Simulated, OtherGpusThatNobodyHasCutAreNoLoss) {
  const Folder folder;
  ManualClock clock;
  const std::string state = ",state=" + (folder / "gpus.json").string();
  opened("2xa100-40gb,h100-80gb" + state, clock);
  EXPECT_EQ(opened("2xa100-40gb" + state, clock)->gpus()->size(), 2U);
  EXPECT_EQ(opened("a30-24gb" + state, clock)->gpus()->size(), 1U);
}

TEST(Simulated, AProcessReportsItsMemoryThroughAFile) {
  ManualClock clock;
  const auto backend = opened("a100-40gb,change-time=0", clock);
  const GpuInfo gpu = backend->gpus()->front();
  const Instance made = *backend->create(gpu.id, placed(gpu, "1g.5gb:0"));
  const auto environment = backend->job_environment(made.key);
  ASSERT_EQ(environment.size(), 2U);
  EXPECT_EQ(environment[0].name, "PARTITA_SIM_MEMORY_FILE");
  EXPECT_EQ(environment[1].name, "PARTITA_SIM_MEMORY_MIB");
  EXPECT_EQ(environment[1].value, "4864");
  EXPECT_EQ(backend->memory(made.key)->used_mib, 0);

  const auto idle = *backend->power_mw(gpu.id);
  std::ofstream(environment[0].value) << ::getpid() << " 1000\n999999999 7\nnonsense\n";
  EXPECT_EQ(*backend->memory(made.key), (MemoryUse{1000, 4864}));
  EXPECT_EQ(*backend->processes(made.key), (std::vector<ProcessUse>{{::getpid(), 1000}}));
  EXPECT_GT(*backend->power_mw(gpu.id), idle);
  const Done refused = backend->destroy(made.key);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.fault(), Fault::kInUse);
  EXPECT_EQ(refused.error().pids, std::vector{static_cast<int>(::getpid())});

  std::ofstream(environment[0].value) << ::getpid() << " 6000\n";
  EXPECT_EQ(backend->memory(made.key)->used_mib, 4864);
  fs::remove(environment[0].value);
  EXPECT_TRUE(backend->destroy(made.key).ok());
}

TEST(Simulated, ARebootTakesEverySliceAndChangesTheBootId) {
  ManualClock clock;
  const auto backend = opened("a100-40gb", clock);
  const GpuInfo before = backend->gpus()->front();
  const Instance made = *backend->create(before.id, placed(before, "1g.5gb:0"));
  ASSERT_TRUE(backend->reboot().ok());
  EXPECT_NE(backend->gpus()->front().boot_id, before.boot_id);
  EXPECT_EQ(backend->gpus()->front().uuid, before.uuid);
  EXPECT_TRUE(backend->instances(before.id)->empty());
  EXPECT_EQ(backend->destroy(made.key).fault(), Fault::kNotFound);
}

TEST(Simulated, FaultNamesReadBack) {
  for (int i = 0; i <= static_cast<int>(Fault::kUnknown); ++i) {
    const auto fault = static_cast<Fault>(i);
    EXPECT_EQ(fault_of(name_of(fault)), fault);
  }
  EXPECT_FALSE(fault_of("mood").has_value());
}

}  // namespace
}  // namespace partita::device
