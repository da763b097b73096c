// The queue as its users steer it: what waits for what, and who may change it.
#include "live/live_fixture.h"

namespace partita::live_test {
namespace {

// One GPU, which a job of 30 GiB takes as a whole.
class Queue : public Live {
 protected:
  Queue() : Live("simulated:1xa100-40gb,change-time=0.1") {}

  void SetUp() override { ASSERT_TRUE(daemon_.start()) << daemon_.said(); }

  bool reaches(const std::string& id, const std::string& state) {
    for (int i = 0; i < 500; ++i) {
      if (job(id)["state"] == state) return true;
      ::usleep(20'000);
    }
    return false;
  }
  // A job that runs until the file is there.
  std::string submit_until(const std::string& file, std::vector<std::string> words = {}) {
    const std::string wait = "while [ ! -e " + file + " ]; do sleep 0.05; done";
    for (const char* word : {"--", "/bin/sh", "-c"}) words.emplace_back(word);
    words.push_back(wait);
    return submit(std::move(words));
  }
  void touch(const std::string& file) { std::ofstream(file) << "\n"; }
};

TEST_F(Queue, JobsRunAfterOthersAndOnlyIfThoseSucceeded) {
  const std::string go = folder_.path() + "/go";
  const std::string first = submit_until(go);
  const std::string bad = submit({"--after", first, "--", "/bin/false"});
  const std::string never = submit({"--after", bad + ":ok", "--", "/bin/true"});
  const std::string any = submit({"--after", bad + ":any," + first, "--", "/bin/true"});
  EXPECT_EQ(job(bad)["reason"], "waits for job 1 to succeed");
  EXPECT_EQ(job(bad)["after"], Json({"1:ok"}));
  EXPECT_NE(partita({"job", any}).find("after       2:any 1:ok\n"), std::string::npos);
  daemon_.kill_now();
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  EXPECT_EQ(job(never)["state"], "queued");
  touch(go);
  partita({"wait", any});
  EXPECT_EQ(job(bad)["state"], "failed");
  EXPECT_EQ(job(never)["state"], "cancelled");
  EXPECT_EQ(job(never)["reason"], "job 2, which had to succeed first, failed");
  EXPECT_NE(partita({"submit", "--after", "99", "--", "/bin/true"}, 2).find("there is none"),
            std::string::npos);
}

TEST_F(Queue, AHeldJobStartsWhenItIsReleased) {
  const std::string id = submit({"--hold", "--", "/bin/true"});
  EXPECT_EQ(job(id)["reason"], "held by its owner");
  EXPECT_NE(partita({"queue"}).find("held by its owner"), std::string::npos);
  daemon_.kill_now();
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  EXPECT_EQ(job(id)["state"], "queued");
  if (::getuid() == 0) {
    EXPECT_EQ(as_nobody([&] {
                return run_to_end({program(), "release", id, "--socket", daemon_.socket()});
              }),
              4);
  }
  EXPECT_EQ(partita({"release", id, "--json"}), "{\n  \"released\": [\n    1\n  ]\n}\n");
  partita({"wait", id});
  partita({"hold", id}, 1);
  partita({"hold", "99"}, 1);
}

TEST_F(Queue, OfAnArrayNoMoreRunThanItsLimitAndEachKnowsItsIndex) {
  const std::string log = folder_.path() + "/log";
  const std::string script = "echo $PARTITA_ARRAY_JOB.$PARTITA_ARRAY_INDEX begin >> " + log +
                             "; sleep 0.2; echo end >> " + log;
  submit({"--array", "4%1", "--mem", "2G", "--", "/bin/sh", "-c", script});
  EXPECT_EQ(job("4")["reason"], "of the array 1 at most 1 run at once");
  EXPECT_EQ(job("4")["array_index"], 3);
  EXPECT_NE(partita({"job", "4"}).find("index 3 of array 1, at most 1 at once"), std::string::npos);
  partita({"wait", "1-4"});
  EXPECT_EQ(read(log), "1.0 begin\nend\n1.1 begin\nend\n1.2 begin\nend\n1.3 begin\nend\n");
}

TEST_F(Queue, AJobBeginsAgainWhenSomebodyAsksForIt) {
  const std::string saved = folder_.path() + "/saved";
  const std::string go = folder_.path() + "/go";
  const std::string id = submit_until(go, {"--checkpoint", "/usr/bin/touch " + saved});
  ASSERT_TRUE(reaches(id, "running"));
  EXPECT_EQ(partita({"requeue", id, "--json"}), "{\n  \"requeued\": [\n    1\n  ]\n}\n");
  for (int i = 0; i < 500 && job(id)["attempts"].size() < 2; ++i) ::usleep(20'000);
  EXPECT_TRUE(std::filesystem::exists(saved));
  touch(go);
  partita({"wait", id});
  partita({"requeue", id});
  partita({"wait", id});
  EXPECT_EQ(job(id)["attempts"].size(), 3U);
  partita({"requeue", "99"}, 1);
}

TEST_F(Queue, AJobThatIsNotToBeStartedAgainIsLostWithItsProcess) {
  const std::string id =
      submit({"--no-requeue", "--", "/bin/sh", "-c", "kill -9 $PPID; sleep 100"});
  partita({"wait", id}, 1);
  EXPECT_EQ(job(id)["state"], "lost");
  EXPECT_EQ(job(id)["attempts"].size(), 1U);
}

TEST_F(Queue, OneJobMayGoWithoutTheEarlyRestart) {
  daemon_.stop();
  ASSERT_TRUE(daemon_.start({"--watch", "0.1"})) << daemon_.said();
  const std::string id = submit({"--no-early-restart", "--", grow_program(), "2G", "7G", "12"});
  partita({"wait", id});
  EXPECT_FALSE(has_event(job(id), "early-restart"));
  EXPECT_TRUE(has_event(job(id), "out-of-memory"));
}

TEST_F(Queue, APriorityIsKeptAndShown) {
  const std::string id = submit({"--priority", "-5", "--", "/bin/true"});
  partita({"wait", id});
  EXPECT_EQ(job(id)["priority"], -5);
  EXPECT_NE(partita({"job", id}).find("priority    -5\n"), std::string::npos);
  if (::getuid() == 0) {
    EXPECT_EQ(as_nobody([&] {
                return run_to_end({program(), "submit", "--priority", "1", "--socket",
                                   daemon_.socket(), "--", "/bin/true"});
              }),
              4);
  }
}

TEST_F(Queue, NoJobStartsOnAGpuThatIsDrained) {
  partita({"drain", "0", "--reason", "a new fan: Monday, 8 %"});
  daemon_.kill_now();
  ASSERT_TRUE(daemon_.start({"--watch", "0.1"})) << daemon_.said();
  const std::string id = submit({"--", "/bin/true"});
  ::usleep(300'000);
  EXPECT_EQ(job(id)["state"], "queued");
  EXPECT_NE(partita({"queue"}).find("GPU 0 is drained: a new fan: Monday, 8 %\n"),
            std::string::npos);
  EXPECT_NE(partita({"top", "--once"}).find("drained: a new fan"), std::string::npos);
  EXPECT_NE(partita({"job", id}).find("GPU 0 is drained: a new fan"), std::string::npos);
  if (::getuid() == 0) {
    EXPECT_EQ(as_nobody([&] {
                return run_to_end({program(), "resume", "0", "--socket", daemon_.socket()});
              }),
              4);
  }
  partita({"resume", "0"});
  partita({"wait", id});
  partita({"drain", "7"}, 1);
}

TEST_F(Queue, AJobThatFailedForWantOfMemoryIsQueuedAgainForALargerSlice) {
  const std::string id = submit({"--no-requeue", "--", grow_program(), "2G", "7G", "0.5"});
  partita({"wait", id}, 1);
  ASSERT_EQ(job(id)["attempts"][0]["slice"].get<std::string>().substr(0, 2), "1g");
  partita({"requeue", id});
  partita({"wait", id});
  EXPECT_EQ(job(id)["attempts"][1]["slice"].get<std::string>().substr(0, 2), "2g");
}

TEST_F(Queue, AJobThatCouldBeginNowhereElseIsNotStoppedForItsMemory) {
  const std::string id = submit({"--", grow_program(), "2G", "4.6G", "3"});
  for (int i = 0; i < 100 && job(id)["state"] != "running"; ++i) ::usleep(20'000);
  partita({"drain", "0"});
  partita({"wait", id});
  EXPECT_EQ(job(id)["attempts"].size(), 1U);
}

}  // namespace
}  // namespace partita::live_test
