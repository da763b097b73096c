// The daemon with schedulers that may move jobs that run: real processes, saved and resumed.
#include "live/live_fixture.h"

namespace partita::live_test {
namespace {

// One slice, so that whoever runs is in everybody's way.
class Preemption : public Live {
 protected:
  Preemption() : Live("simulated:1xa100-40gb,change-time=0.1") {}

  bool begin(const std::string& preemption) {
    return daemon_.start({"--policy", "mdd/static:1", "--preemption", preemption});
  }

  std::string now() const { return folder_.path() + "/now"; }
  std::string saved() const { return folder_.path() + "/saved"; }

  // A job that counts to `steps`, ten a second, from where its checkpoint has it.
  std::string submit_counting(int steps, bool checkpoint, const std::string& saves = "") {
    const std::string count =
        "n=$(cat saved 2>/dev/null || echo 0); echo from $n; while [ $n -lt " +
        std::to_string(steps) + " ]; do n=$((n+1)); echo $n > now; sleep 0.1; done; echo to $n";
    std::vector<std::string> words{"--mem", "4G", "--time", "7g=10m"};
    const std::string command = saves.empty() ? "/bin/cp " + now() + " " + saved() : saves;
    if (checkpoint) words.insert(words.end(), {"--checkpoint", command});
    words.insert(words.end(), {"--", "/bin/sh", "-c", "cd " + folder_.path() + "; " + count});
    return submit(words);
  }
  std::string submit_urgent() {
    return submit(
        {"--mem", "4G", "--time", "7g=1s", "--deadline", "+30s", "--", "/bin/sleep", "1"});
  }
  void wait_for(const std::string& id, const std::string& state) {
    for (int i = 0; i < 1'000 && job(id)["state"] != state; ++i) ::usleep(20'000);
    ASSERT_EQ(job(id)["state"], state) << job(id).dump(1);
  }
  int replays() {
    daemon_.stop();
    return run_to_end({program(), "replay", "--state", folder_.path() + "/state"});
  }
};

std::string text_of_event(const Json& job, const std::string& kind) {
  for (const Json& event : job["events"]) {
    if (event["kind"] == kind) return event["text"];
  }
  return "";
}

TEST_F(Preemption, AnUrgentJobDisplacesALongOneThatLaterGoesOnWhereItWas) {
  ASSERT_TRUE(begin("pays=1")) << daemon_.said();
  const std::string long_one = submit_counting(120, true);
  wait_for(long_one, "running");
  const std::string urgent = submit_urgent();
  partita({"wait", urgent + "," + long_one});
  const Json victim = job(long_one);
  const Json claimant = job(urgent);
  EXPECT_EQ(victim["attempts"].size(), 2U) << victim.dump(1);
  EXPECT_EQ(
      text_of_event(victim, "preempted"),
      "job " + urgent + " takes its slice; its checkpoint command is run, then it is stopped");
  EXPECT_NE(text_of_event(claimant, "claims").find("when job " + long_one + " has been stopped"),
            std::string::npos)
      << claimant.dump(1);
  // One after the other on the one slice.
  EXPECT_GE(claimant["attempts"][0]["started_s"], victim["attempts"][0]["ended_s"]);
  EXPECT_GE(victim["attempts"][1]["started_s"], claimant["attempts"][0]["ended_s"]);
  EXPECT_LT(claimant["late_s"], 0);
  const std::string output = partita({"logs", long_one});
  EXPECT_EQ(output.find("from 0"), 0U) << output;
  EXPECT_EQ(output.find("from 0", 1), std::string::npos) << output;
  EXPECT_NE(output.find("to 120"), std::string::npos) << output;
  EXPECT_EQ(replays(), 0);
}

TEST_F(Preemption, AJobWithoutACheckpointCommandIsLeftAlone) {
  ASSERT_TRUE(begin("pays=1")) << daemon_.said();
  const std::string long_one = submit_counting(60, false);
  wait_for(long_one, "running");
  const std::string urgent = submit_urgent();
  partita({"wait", long_one + "," + urgent});
  EXPECT_EQ(job(long_one)["attempts"].size(), 1U);
  EXPECT_FALSE(has_event(job(urgent), "claims"));
}

TEST_F(Preemption, WithoutTheFlagNobodyIsDisplaced) {
  ASSERT_TRUE(begin("none")) << daemon_.said();
  const std::string long_one = submit_counting(60, true);
  wait_for(long_one, "running");
  const std::string urgent = submit_urgent();
  partita({"wait", long_one + "," + urgent});
  EXPECT_EQ(job(long_one)["attempts"].size(), 1U);
}

// The checkpoint command hangs; meanwhile the one it is for is not wanted any more.
TEST_F(Preemption, AClaimantThatIsCancelledLeavesTheSliceToTheVictim) {
  ASSERT_TRUE(begin("pays=1")) << daemon_.said();
  const std::string long_one =
      submit_counting(60, true, "/bin/sh -c 'cp " + now() + " " + saved() + "; sleep 2'");
  wait_for(long_one, "running");
  const std::string urgent = submit_urgent();
  wait_for(long_one, "restarting");
  EXPECT_NE(partita({"job", urgent})
                .find("waits: starts on GPU 0 7g.40gb:0 when job " + long_one +
                      " has been stopped there"),
            std::string::npos)
      << partita({"job", urgent});
  partita({"cancel", urgent});
  partita({"wait", long_one});
  EXPECT_EQ(job(long_one)["attempts"].size(), 2U);
  EXPECT_EQ(job(urgent)["attempts"].size(), 0U);
  EXPECT_EQ(replays(), 0);
}

// Nobody knows of the claim after a crash; the victim still saves its work, and both end.
TEST_F(Preemption, ADaemonKilledBetweenTheStopAndTheStartLosesNothing) {
  ASSERT_TRUE(begin("pays=1")) << daemon_.said();
  const std::string long_one =
      submit_counting(60, true, "/bin/sh -c 'sleep 1; cp " + now() + " " + saved() + "'");
  wait_for(long_one, "running");
  const std::string urgent = submit_urgent();
  wait_for(long_one, "restarting");
  daemon_.kill_now();
  ASSERT_TRUE(begin("pays=1")) << daemon_.said();
  partita({"wait", long_one + "," + urgent});
  const std::string output = partita({"logs", long_one});
  EXPECT_EQ(output.find("from 0", 1), std::string::npos) << output;
  EXPECT_EQ(output.find("checkpoint command was ended"), std::string::npos) << output;
  EXPECT_EQ(job(urgent)["attempts"].size(), 1U);
  EXPECT_EQ(replays(), 0);
}

TEST_F(Preemption, OtherModesAreRefused) {
  const std::string said = printed({"serve", "--preemption", "free"}, 2);
  EXPECT_NE(said.find("wanted none or pays=SECONDS, for example pays=30"), std::string::npos)
      << said;
}

}  // namespace
}  // namespace partita::live_test
