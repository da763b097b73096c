// The daemon on GPUs that misbehave, and on the real NVML backend with the fake library behind it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include "live/daemon_process.h"
#include "store/test_support.h"

namespace partita::live_test {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kPatience = 60;
const std::vector<std::string> kQuick{"--watch", "0.05"};

// Waits until something holds.
template <typename Condition>
bool comes_true(Condition condition, double seconds = kPatience) {
  for (int i = 0; i < static_cast<int>(seconds * 50); ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return condition();
}

std::int64_t submit(const DaemonProcess& daemon, const std::vector<std::string>& argv,
                    const std::string& key, double memory_gib) {
  const auto answer = daemon.ask("POST", "/v1/jobs", submission(argv, key, memory_gib));
  EXPECT_EQ(answer.status, 201) << answer.body;
  return answer.good() ? answer.json()["jobs"][0].get<std::int64_t>() : 0;
}

Json job(const DaemonProcess& daemon, std::int64_t id) {
  return daemon.get(fmt::format("/v1/jobs/{}", id));
}

bool is_done(const DaemonProcess& daemon, std::int64_t id) {
  const Json json = job(daemon, id);
  return json.contains("state") && json["state"] == "done";
}

struct Trouble {
  const char* name;
  const char* rules;
  const char* said;  // what the operator is told
};

// Each strikes GPU 0 only; GPU 1 is well, so every job must be done in the end.
constexpr Trouble kTroubles[] = {
    {"F1_refused", "F1,gpu=0,times=3", "not-created"},
    {"F2_half_made", "F2,gpu=0,times=2,orphan", "half-made"},
    {"F2_taken_back", "F2,gpu=0,times=2", "not-created"},
    {"F3_process_lives", "F3,gpu=0,times=2", "not-destroyed"},
    {"F4_held_unseen", "F4,gpu=0,times=2", "not-destroyed"},
    {"F5_hangs", "F5,gpu=0,after=30,times=10,seconds=0.3", "gpu-out"},
    {"F6_lost", "F6,gpu=0,after=40", "gpu-out"},
    {"F7_uncontained", "F7,gpu=0,after=12", "gpu-out"},
    {"F9_application", "F9,gpu=0,after=8", "xid"},
    {"F10_reset_pending", "F10,gpu=0,after=8", "gpu-drains"},
    {"F11_unmonitored", "F11,after=3,times=2", "unmonitored"},
    {"F13_foreign", "F13,gpu=0,after=1", "foreign"},
    {"F14_no_permission", "F14,gpu=0,after=20,times=20", ""},
    {"F15_driver_gone", "F15,after=60,times=30", "gpu-out"},
    {"F15_mismatch_at_start", "F15,times=1,mismatch", "waiting for it"},
    {"F16_other_ids", "F16", ""},
    {"F18_slow", "F18,gpu=0,after=5,times=20,seconds=0.1", ""},
    {"F19_late_event", "F19,gpu=0,after=8", ""},
};

class Troubled : public testing::TestWithParam<Trouble> {};

TEST_P(Troubled, EveryJobIsDoneAndTheOperatorIsTold) {
  const store::test::TemporaryFolder folder;
  DaemonProcess daemon(folder.path(), fmt::format("faulty:{}@simulated:2xa100-40gb,change-time=0.1",
                                                  GetParam().rules));
  ASSERT_TRUE(daemon.start(kQuick)) << daemon.said();
  std::vector<std::int64_t> jobs;
  static constexpr double kSizes[] = {2, 30, 8, 2, 15, 2};
  for (int round = 0; round < 3; ++round) {
    for (const double gib : kSizes) {
      jobs.push_back(submit(daemon, {"/bin/sleep", "0.2"}, std::to_string(jobs.size()), gib));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  for (const std::int64_t id : jobs) {
    ASSERT_TRUE(comes_true([&] { return is_done(daemon, id); }))
        << job(daemon, id).dump(1) << daemon.said();
  }
  const std::string told = GetParam().said;
  EXPECT_TRUE(comes_true([&] { return daemon.said().find(told) != std::string::npos; }))
      << told << " is missing\n"
      << daemon.said();
  EXPECT_EQ(daemon.stop(), 0);
}

INSTANTIATE_TEST_SUITE_P(Device, Troubled, testing::ValuesIn(kTroubles),
                         [](const auto& info) { return std::string(info.param.name); });

// F8: what runs on the slice begins again, on a slice that was made anew.
TEST(Device, AContainedFaultEndsOneJobAndTheSliceIsRebuilt) {
  const store::test::TemporaryFolder folder;
  DaemonProcess daemon(folder.path(), "faulty:F8,gpu=0,after=20@simulated:a100-40gb,change-time=0");
  ASSERT_TRUE(daemon.start(kQuick)) << daemon.said();
  const std::int64_t id = submit(daemon, {"/bin/sleep", "3"}, "one", 2);
  ASSERT_TRUE(comes_true([&] { return job(daemon, id)["attempts"].size() > 1; })) << daemon.said();
  ASSERT_TRUE(comes_true([&] { return is_done(daemon, id); })) << daemon.said();
  const Json story = job(daemon, id);
  ASSERT_EQ(story["attempts"].size(), 2U);
  EXPECT_NE(story["attempts"][0]["instance"], story["attempts"][1]["instance"]);
  EXPECT_NE(daemon.said().find("slice-fault"), std::string::npos);
}

TEST(Device, AGpuThatHangsHoldsUpNobody) {
  const store::test::TemporaryFolder folder;
  DaemonProcess daemon(
      folder.path(),
      "faulty:F5,gpu=0,after=6,times=-1,seconds=30@simulated:2xa100-40gb,change-time=0");
  ASSERT_TRUE(daemon.start(kQuick)) << daemon.said();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // it hangs by now
  const std::int64_t id = submit(daemon, {"/bin/true"}, "one", 30);
  const std::int64_t other = submit(daemon, {"/bin/true"}, "two", 2);
  // One of them may have been meant for the GPU that hangs; the other is done long before the 30 s.
  EXPECT_TRUE(comes_true([&] { return is_done(daemon, id) || is_done(daemon, other); }, 15))
      << daemon.said();
  // The one that hangs is out long before its call returns, and what was meant for it goes on.
  EXPECT_TRUE(comes_true(
      [&] { return daemon.said().find("gpu-out: GPU 0: no answer for") != std::string::npos; }, 20))
      << daemon.said();
  EXPECT_TRUE(comes_true([&] { return is_done(daemon, id) && is_done(daemon, other); }, 10))
      << daemon.said();
  EXPECT_EQ(daemon.stop(), 0);
  EXPECT_NE(daemon.said().find("stopped while a GPU does not answer"), std::string::npos)
      << daemon.said();
}

class FakeNvml : public testing::TestWithParam<const char*> {
 protected:
  FakeNvml() : daemon_(folder_.path(), std::string("nvml:") + PARTITA_FAKE_NVML_LIBRARY) {}
  bool start(const std::string& more = "") {
    return daemon_.start(
        kQuick, {fmt::format("PARTITA_FAKE_NVML=reset gpus={0},{0} mig=on{1}", GetParam(), more)});
  }
  store::test::TemporaryFolder folder_;
  DaemonProcess daemon_;
};

TEST_P(FakeNvml, JobsRunOnSlicesOfTheDriver) {
  ASSERT_TRUE(start()) << daemon_.said();
  std::vector<std::int64_t> jobs;
  for (int i = 0; i < 6; ++i) {
    jobs.push_back(submit(daemon_, {"/usr/bin/env"}, std::to_string(i), i % 2 == 0 ? 2 : 10));
  }
  for (const std::int64_t id : jobs) {
    ASSERT_TRUE(comes_true([&] { return is_done(daemon_, id); })) << daemon_.said();
    const Json story = job(daemon_, id);
    const auto slice = story["attempts"][0]["instance"].get<std::string>();
    EXPECT_TRUE(slice.starts_with("MIG-")) << slice;
    const auto output = daemon_.ask("GET", fmt::format("/v1/jobs/{}/output", id));
    EXPECT_NE(output.body.find("CUDA_VISIBLE_DEVICES=" + slice + "\n"), std::string::npos);
  }
  const Json gpus = daemon_.get("/v1/gpus")["gpus"];
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_TRUE(gpus[0]["usable"].get<bool>());
  EXPECT_TRUE(gpus[0]["power_w"].is_number());
  EXPECT_EQ(daemon_.stop(), 0);
}

// The fake forgets its slices with the process, as a reboot does; the job's process does not end.
TEST_P(FakeNvml, AfterTheSlicesAreGoneTheJobBeginsAgain) {
  ASSERT_TRUE(start()) << daemon_.said();
  const std::int64_t id = submit(daemon_, {"/bin/sleep", "1"}, "one", 2);
  ASSERT_TRUE(comes_true([&] { return job(daemon_, id)["state"] == "running"; }));
  daemon_.kill_now();
  ASSERT_TRUE(start()) << daemon_.said();
  ASSERT_TRUE(comes_true([&] { return is_done(daemon_, id); })) << daemon_.said();
  EXPECT_NE(daemon_.said().find("vanished"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Device, FakeNvml,
                         testing::Values("a30-24gb", "a100-40gb", "h100-80gb", "h200-141gb"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

TEST(Device, ASliceOfSomebodyElseIsPlannedAround) {
  const store::test::TemporaryFolder folder;
  DaemonProcess daemon(folder.path(), std::string("nvml:") + PARTITA_FAKE_NVML_LIBRARY);
  // Profile 9 of the A100 is 3g.20gb: half of the only GPU is taken.
  ASSERT_TRUE(daemon.start(kQuick, {"PARTITA_FAKE_NVML=reset gpus=a100-40gb mig=on;make 0 9 4"}))
      << daemon.said();
  const std::int64_t id = submit(daemon, {"/bin/true"}, "small", 15);
  ASSERT_TRUE(comes_true([&] { return is_done(daemon, id); })) << daemon.said();
  EXPECT_NE(job(daemon, id)["attempts"][0]["slice"].get<std::string>().find(":0"),
            std::string::npos);
  const std::int64_t whole = submit(daemon, {"/bin/true"}, "whole", 35);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(job(daemon, whole)["state"], "queued");
  EXPECT_NE(daemon.said().find("foreign"), std::string::npos);
  bool foreign = false;
  const Json gpus = daemon.get("/v1/gpus")["gpus"];
  for (const Json& slice : gpus[0]["slices"]) {
    foreign = foreign || (slice["holder"] == "foreign" && slice["state"] == "held");
  }
  EXPECT_TRUE(foreign);
}

TEST(Device, AGpuThatIsOutIsShownAsSuchAndWithoutSlices) {
  const store::test::TemporaryFolder folder;
  DaemonProcess daemon(folder.path(), "faulty:F6,gpu=1,after=10@simulated:2xa100-40gb");
  ASSERT_TRUE(daemon.start(kQuick)) << daemon.said();
  const auto gpu = [&] { return daemon.get("/v1/gpus")["gpus"][1]; };
  ASSERT_TRUE(comes_true([&] { return gpu()["state"] == "out"; })) << gpu().dump(1);
  EXPECT_TRUE(gpu()["slices"].empty());
  // Its number is said once, and why.
  EXPECT_NE(daemon.said().find("gpu-out: GPU 1: "), std::string::npos) << daemon.said();
  EXPECT_EQ(daemon.said().find("GPU 1: GPU 1"), std::string::npos) << daemon.said();
}

TEST(Device, WhoChangesLayoutsBesideTheDaemonIsWarned) {
  const store::test::TemporaryFolder folder;
  const std::string backend = std::string("nvml:") + PARTITA_FAKE_NVML_LIBRARY;
  const std::string fake = "PARTITA_FAKE_NVML=reset gpus=a100-40gb mig=on";
  DaemonProcess daemon(folder.path(), backend);
  ASSERT_TRUE(daemon.start(kQuick, {fake})) << daemon.said();
  std::ofstream(folder.path() + "/l.yaml")
      << "version: v1\nmig-configs:\n  whole:\n    - devices: all\n      mig-enabled: true\n"
         "      mig-devices: {\"7g.40gb\": 1}\n";
  const std::vector<std::string> apply{"/usr/bin/env",
                                       fake,
                                       "PARTITA_SOCKET=" + daemon.socket(),
                                       program(),
                                       "layout",
                                       "apply",
                                       "-f",
                                       folder.path() + "/l.yaml",
                                       "--backend",
                                       backend,
                                       "--journal",
                                       folder.path() + "/j.json"};
  const std::string printed = folder.path() + "/printed";
  EXPECT_EQ(run_to_end(apply, printed), 0);
  std::ifstream in(printed);
  const std::string said(std::istreambuf_iterator<char>(in), {});
  EXPECT_NE(said.find("GPU 0 is served by a daemon"), std::string::npos) << said;
}

}  // namespace
}  // namespace partita::live_test
