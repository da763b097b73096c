// `partita layout`, as an operator runs it, on simulated GPUs that outlive the program.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>

#include "program.h"

namespace partita::cli_test {
namespace {

constexpr std::string_view kConfigs = R"(version: v1
mig-configs:
  off:
    - devices: all
      mig-enabled: false
  balanced:
    - devices: all
      mig-enabled: true
      mig-devices: {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1}
  second:
    - devices: [1]
      mig-enabled: true
      mig-devices: {"7g.40gb": 1}
  halves:
    - devices: [0]
      mig-enabled: true
      mig-devices: {"4g.20gb": 1, "3g.20gb": 1}
)";

class Layout : public ProgramTest {
 protected:
  Layout() { write("layouts.yaml", kConfigs); }

  static std::string command(std::string_view what, std::string_view label,
                             std::string_view more = "") {
    std::string line =
        "layout " + std::string(what) + " --journal journal.json --backend " + std::string(kGpus);
    if (!label.empty()) line += " -f layouts.yaml -c " + std::string(label);
    return line + " " + std::string(more);
  }
  static constexpr std::string_view kGpus =
      "simulated:2xa100-40gb,state=gpus.json,change-time=0.01";
};

TEST_F(Layout, ApplyMakesWhatPlanSaysAndAssertAgrees) {
  const auto plan = run(command("plan", "balanced", "--json"));
  ASSERT_EQ(plan.status, 0) << plan.err;
  EXPECT_EQ(plan.json()["steps"], 8);
  EXPECT_TRUE(plan.json()["possible"]);
  EXPECT_GT(plan.json()["seconds"], 1.0);
  EXPECT_EQ(run(command("assert", "balanced")).status, 1);
  EXPECT_NE(run(command("assert", "balanced")).err.find("there is no slice"), std::string::npos);
  const auto applied = run(command("apply", "balanced"));
  ASSERT_EQ(applied.status, 0) << applied.err;
  EXPECT_NE(applied.out.find("done, 8 steps"), std::string::npos);
  EXPECT_EQ(run(command("assert", "balanced")).status, 0);
  EXPECT_NE(out_of(command("apply", "balanced")).find("nothing to do"), std::string::npos);
  EXPECT_FALSE(exists("journal.json"));
}

TEST_F(Layout, ExportIsAFileThatApplyTakes) {
  out_of(command("apply", "balanced"));
  write("now.yaml", out_of(command("export", "", "--label mine")));
  EXPECT_NE(read("now.yaml").find("mine:"), std::string::npos);
  const std::string same = "layout assert -f now.yaml --backend " + std::string(kGpus);
  EXPECT_EQ(run(same).status, 0);
  out_of(command("apply", "second"));
  EXPECT_EQ(run(same).status, 1);
  const auto json = run(command("export", "", "--json")).json();
  EXPECT_EQ(json["version"], "v1");
  EXPECT_EQ(json["mig-configs"]["current"].size(), 2U);
}

TEST_F(Layout, ABusySliceStaysOrIsNamed) {
  out_of(command("apply", "balanced"));
  const auto now = run(command("plan", "balanced", "--json")).json();
  // The 3g is busy: this very process says that it holds memory on it.
  std::string uuid;
  for (const auto& slice : now["gpus"][0]["kept"]) {
    if (slice["profile"] == "3g.20gb") uuid = slice["uuid"];
  }
  std::filesystem::create_directories(path("gpus.json.memory"));
  write("gpus.json.memory/" + uuid, std::to_string(::getpid()) + " 1000\n");
  const auto keeps = run(command("plan", "halves"));
  EXPECT_EQ(keeps.status, 0) << keeps.out;
  EXPECT_NE(keeps.out.find("in use by process " + std::to_string(::getpid())), std::string::npos);
  const auto refused = run(command("apply", "off"));
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.err.find(uuid), std::string::npos);
  EXPECT_NE(refused.err.find(std::to_string(::getpid())), std::string::npos);
  EXPECT_EQ(run(command("assert", "balanced")).status, 0);
  const auto impossible = run(command("plan", "off", "--json"));
  EXPECT_EQ(impossible.status, 1);
  EXPECT_EQ(impossible.json()["gpus"][0]["blocked_by"][0]["uuid"], uuid);
}

TEST_F(Layout, AFailedStepIsTakenBack) {
  out_of(command("apply", "balanced"));
  const auto failed =
      run("layout apply --journal journal.json -f layouts.yaml -c halves --backend faulty:F1@" +
          std::string(kGpus));
  EXPECT_EQ(failed.status, 1);
  EXPECT_NE(failed.err.find("as it was before"), std::string::npos);
  EXPECT_EQ(run(command("assert", "balanced")).status, 0);
  EXPECT_FALSE(exists("journal.json"));
}

TEST_F(Layout, AnInterruptedChangeIsFinishedFirst) {
  out_of(command("apply", "balanced"));
  const auto stuck =
      run("layout apply --journal journal.json -f layouts.yaml -c halves --backend "
          "faulty:F1,times=2@" +
          std::string(kGpus));
  EXPECT_EQ(stuck.status, 1);
  EXPECT_TRUE(exists("journal.json"));
  EXPECT_NE(run(command("plan", "halves")).err.find("a change to halves was interrupted"),
            std::string::npos);
  const auto resumed = run(command("apply", ""));
  EXPECT_EQ(resumed.status, 0);
  EXPECT_NE(resumed.out.find("GPU 0: taking back: create"), std::string::npos) << resumed.out;
  EXPECT_NE(resumed.out.find("halves: taken back, "), std::string::npos) << resumed.out;
  EXPECT_EQ(run(command("assert", "balanced")).status, 0);
  EXPECT_FALSE(exists("journal.json"));
}

// The file and the flags are right, so it is no mistake of whoever asks.
TEST_F(Layout, WhatIsRefusedIsStatusOne) {
  // Whoever has another journal changes the same GPUs.
  const int lock = ::open(path("gpus.json.layout-lock").c_str(), O_RDWR | O_CREAT, 0644);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  EXPECT_NE(complaint(command("apply", "balanced"), 1).find("is at work"), std::string::npos);
  ::close(lock);
  for (const char* what : {"plan", "apply", "assert", "export"}) {
    const std::string files = std::string(what) == "export" ? "" : " -f layouts.yaml -c balanced";
    const std::string line =
        "layout " + std::string(what) + files + " --backend faulty:F14@" + std::string(kGpus);
    EXPECT_NE(complaint(line, 1).find("not allowed"), std::string::npos) << what;
  }
}

TEST_F(Layout, WhoHasNoGpuIsToldWhatWorksWithout) {
  const std::string told = complaint("layout export --backend nvml:/nowhere/x.so", 1);
  EXPECT_NE(told.find("works without a GPU"), std::string::npos) << told;
}

TEST_F(Layout, AFolderInThePlaceOfAFileIsNamed) {
  std::filesystem::create_directories(path("folder"));
  EXPECT_NE(complaint("layout plan -f folder --backend simulated").find("folder: Is a directory"),
            std::string::npos);
  const std::string told = complaint("layout export --backend simulated:a100-40gb,state=folder");
  EXPECT_NE(told.find("Is a directory"), std::string::npos) << told;
}

TEST_F(Layout, AJournalThatIsNoneIsNamedAndLeft) {
  write("journal.json", "no json");
  EXPECT_NE(complaint(command("apply", "balanced")).find("is no journal of `partita layout apply`"),
            std::string::npos);
  EXPECT_EQ(read("journal.json"), "no json");
}

TEST_F(Layout, GeneratedConfigurationsAreReadBack) {
  write("generated.yaml", out_of(command("generate-config", "")));
  const auto applied =
      run("layout apply --journal j.json -f generated.yaml -c all-balanced --backend " +
          std::string(kGpus));
  EXPECT_EQ(applied.status, 0) << applied.err;
  EXPECT_EQ(run(command("assert", "balanced")).status, 0);
  EXPECT_NE(read("generated.yaml").find("mix-4g.20gb-3g.20gb"), std::string::npos);
}

TEST_F(Layout, TheGpusAreShownWithTheirSlicesAndHolders) {
  out_of(command("apply", "halves"));
  const auto gpus = run("gpus --live --json --backend " + std::string(kGpus)).json();
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0]["mig"], "on");
  EXPECT_EQ(gpus[0]["slices"].size(), 2U);
  EXPECT_EQ(gpus[0]["slices"][1]["profile"], "3g.20gb");
  EXPECT_EQ(gpus[0]["slices"][1]["memory_total_mib"], 19968);
  EXPECT_EQ(gpus[1]["slices"].size(), 0U);
  EXPECT_GT(gpus[0]["power_mw"], 1000);
  const std::string table = out_of("gpus --live --backend " + std::string(kGpus));
  EXPECT_NE(table.find("4g.20gb:0"), std::string::npos);
  EXPECT_NE(table.find(gpus[0]["slices"][0]["uuid"].get<std::string>()), std::string::npos);
}

TEST_F(Layout, MistakesGetOneSentence) {
  EXPECT_NE(complaint("layout").find("plan, apply"), std::string::npos);
  EXPECT_NE(complaint("layout plan --backend simulated").find("--config-file"), std::string::npos);
  EXPECT_NE(complaint(command("plan", "sideways")).find("known: off, balanced"), std::string::npos);
  EXPECT_NE(complaint("layout export --backend cuda").find("simulated:"), std::string::npos);
  write("bad.yaml", "version: v1\nmig-configs: {}\ncolour: red\n");
  EXPECT_NE(complaint("layout plan -f bad.yaml --backend simulated").find("bad.yaml: line 3"),
            std::string::npos);
  EXPECT_NE(complaint(command("plan", "second") + "--config-file nowhere.yaml").find("twice"),
            std::string::npos);
  EXPECT_NE(complaint(command("apply", "", "--rollback")).find("no change is under way"),
            std::string::npos);
}

}  // namespace
}  // namespace partita::cli_test
