// Limits of the running daemon, each at its figure and beyond it.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "live/live_fixture.h"
#include "live/raw_call.h"

namespace partita::live_test {
namespace {

class Limits : public Live {
 protected:
  std::string output(const std::string& id) {
    return daemon_.ask("GET", "/v1/jobs/" + id + "/output").body;
  }
};

TEST_F(Limits, OutputIsKeptToTheLimitAndTheJobGoesOnBeyondIt) {
  ASSERT_TRUE(daemon_.start({"--output-max", "1000"})) << daemon_.said();
  const std::string at = submit({"--", "/usr/bin/head", "-c", "1000", "/dev/zero"});
  const std::string beyond = submit({"--", "/usr/bin/head", "-c", "1001", "/dev/zero"});
  const std::string much = submit({"--", "/usr/bin/head", "-c", "50000000", "/dev/zero"});
  partita({"wait", at + "," + beyond + "," + much});
  const std::string whole(1000, '\0');
  const std::string cut = whole + "\n[partita: output cut at 1000 bytes]\n";
  EXPECT_EQ(output(at), whole);
  EXPECT_EQ(output(beyond), cut);
  EXPECT_EQ(output(much), cut);
  EXPECT_EQ(job(much)["state"], "done") << "all of it was read";
}

TEST_F(Limits, OutputOfEndedJobsIsKeptToATotalAndTheOldestGoesFirst) {
  ASSERT_TRUE(daemon_.start({"--output-total-max", "100k"})) << daemon_.said();
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) {
    ids.push_back(submit({"--", "/usr/bin/head", "-c", "40000", "/dev/zero"}));
    partita({"wait", ids.back()});
  }
  EXPECT_EQ(output(ids[0]),
            "[partita: the output is no longer kept: it was too old or there was too much]\n");
  EXPECT_EQ(output(ids[1]).size(), 40'000U);
  EXPECT_EQ(output(ids[2]).size(), 40'000U);
  daemon_.kill_now();
  ASSERT_TRUE(daemon_.start({"--output-total-max", "50k"})) << daemon_.said();
  partita({"wait", submit({"--", "/bin/true"})});
  EXPECT_TRUE(output(ids[1]).starts_with("[partita: ")) << "the limit holds for what was there";
  EXPECT_EQ(output(ids[2]).size(), 40'000U);
}

TEST_F(Limits, WhyAJobFailedIsKnownThoughItsOutputWasCut) {
  ASSERT_TRUE(daemon_.start({"--output-max", "10"})) << daemon_.said();
  const std::string id =
      submit({"--mem", "3G", "--", "/bin/sh", "-c", "seq 1000; echo CUDA out of memory; exit 1"});
  partita({"wait", id}, 1);
  EXPECT_TRUE(has_event(job(id), "out-of-memory")) << job(id).dump(1);
  EXPECT_GT(job(id)["attempts"].size(), 1U);
}

TEST_F(Limits, OutputIsThereAtOnceAndGoesOnThroughAKilledDaemon) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string id =
      submit({"--", "/bin/sh", "-c",
              "echo first; sleep 1; echo second; sleep 1; head -c 300000 /dev/zero"});
  for (int i = 0; i < 500 && output(id).empty(); ++i) ::usleep(5'000);
  EXPECT_TRUE(output(id).starts_with("first\n"));
  daemon_.kill_now();
  ::sleep(2);
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  partita({"wait", id});
  EXPECT_EQ(partita({"logs", id}), "first\nsecond\n" + std::string(300'000, '\0'));
  EXPECT_EQ(job(id)["attempts"].size(), 1U);
}

TEST_F(Limits, AJobEndsAtItsTimeLimitAndSaysSo) {
  ASSERT_TRUE(daemon_.start({"--time-limit-max", "10"})) << daemon_.said();
  const std::string brief = submit({"--time-limit", "5", "--", "/bin/true"});
  const std::string over = submit({"--time-limit", "1", "--", "/bin/sleep", "600"});
  const std::string polite =
      submit({"--time-limit", "1", "--", "/bin/sh", "-c", "trap 'exit 0' TERM; sleep 600 & wait"});
  EXPECT_NE(partita({"submit", "--time-limit", "11", "--", "/bin/true"}, 2).find("at most 10 s"),
            std::string::npos);
  partita({"wait", brief});
  partita({"wait", over + "," + polite}, 1);
  for (const std::string& id : {over, polite}) {
    EXPECT_EQ(job(id)["state"], "failed");
    EXPECT_EQ(job(id)["reason"], "stopped at its time limit of 1 s");
    EXPECT_EQ(job(id)["attempts"].size(), 1U);
  }
}

TEST_F(Limits, TheTimeLimitHoldsWhileThereIsNoDaemon) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string id = submit({"--time-limit", "1", "--", "/bin/sleep", "600"});
  for (int i = 0; i < 500 && job(id)["state"] != "running"; ++i) ::usleep(20'000);
  daemon_.kill_now();
  ::sleep(2);
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  partita({"wait", id}, 1);
  EXPECT_EQ(job(id)["reason"], "stopped at its time limit of 1 s");
}

TEST_F(Limits, SubmissionsOfAUserFlowAtTheirRateAndThoseAcceptedAreKept) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: everybody else here is the daemon's own user";
  ASSERT_TRUE(daemon_.start({"--shadow", "--submit-burst", "30", "--submit-rate", "0.01"}));
  const int accepted = as_nobody([&] {
    int count = 0;
    for (int i = 0; i < 300; ++i) {  // ten times what is allowed
      const RawAnswer answer = raw_call(
          daemon_.socket(),
          request_text("POST", "/v1/jobs", {}, submission({"/bin/true"}, std::to_string(i))));
      if (answer.status == 201) ++count;
      const bool told = answer.head.find("Retry-After: ") != std::string::npos;
      if (answer.status != 201 && (answer.status != 429 || !told)) return 255;
    }
    return count;
  });
  EXPECT_EQ(accepted, 30);
  EXPECT_EQ(daemon_.get("/v1/status")["jobs"]["queued"], 30);
  EXPECT_EQ(daemon_.ask("POST", "/v1/jobs", submission({"/bin/true"}, "root")).status, 201);
}

TEST_F(Limits, JobsOfAUserInTheQueueAreCounted) {
  ASSERT_TRUE(daemon_.start({"--shadow", "--jobs-per-user", "20"})) << daemon_.said();
  const auto array = [&](int count) {
    return daemon_.ask("POST", "/v1/jobs", submission({"/bin/true"}, "", 3, count)).status;
  };
  EXPECT_EQ(array(19), 201);
  EXPECT_EQ(array(2), 429);
  EXPECT_EQ(array(1), 201);
  EXPECT_EQ(array(1), 429);
}

TEST_F(Limits, OfJobsThatHaveEndedTheLatestAreKeptWithTheirOutput) {
  ASSERT_TRUE(daemon_.start({"--jobs-kept", "2"})) << daemon_.said();
  std::vector<std::string> ids;
  for (int i = 0; i < 4; ++i) {
    ids.push_back(submit({"--mem", "3G", "--", "/bin/echo", "here"}));
    partita({"wait", ids.back()});
  }
  const auto output_of = [&](const std::string& id) {
    return daemon_.folder() + "/state/output/" + id;
  };
  for (const std::string& id : {ids[0], ids[1]}) {
    partita({"job", id}, 1);
    EXPECT_FALSE(std::filesystem::exists(output_of(id)));
  }
  EXPECT_EQ(job(ids[3])["state"], "done");
  EXPECT_TRUE(std::filesystem::exists(output_of(ids[3])));
  // Fewer at the next start.
  EXPECT_EQ(daemon_.stop(), 0);
  ASSERT_TRUE(daemon_.start({"--jobs-kept", "1"})) << daemon_.said();
  partita({"job", ids[2]}, 1);
  EXPECT_EQ(partita({"logs", ids[3]}), "here\n");
}

TEST_F(Limits, ConnectionsOfAUserAreCountedAndOthersStillServed) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: everybody else here is the daemon's own user";
  ASSERT_TRUE(daemon_.start({"--connections-per-user", "5"})) << daemon_.said();
  const std::string ask = request_text("GET", "/v1/status", {});
  const int served = as_nobody([&] {
    int count = 0;
    for (int i = 0; i < 8; ++i) {  // none is closed
      const RawAnswer answer = raw_call(connect_to(daemon_.socket()), ask);
      if (answer.status == 200) ++count;
      if (answer.status != 200 && answer.status != 503) return 255;
    }
    return count;
  });
  EXPECT_EQ(served, 5);
  EXPECT_EQ(raw_call(daemon_.socket(), ask).status, 200);
}

TEST_F(Limits, AThousandHalfOpenConnectionsHoldUpNobody) {
  ASSERT_TRUE(daemon_.start({"--listen", "tcp:127.0.0.1:0"})) << daemon_.said();
  const std::string said = daemon_.said();
  const auto at = said.rfind("tokens on tcp:") + 10;
  const std::string tcp = said.substr(at, said.find('\n', at) - at);
  std::vector<int> open;
  for (int i = 0; i < 1'000; ++i) {
    const int fd = connect_to(i % 2 == 0 ? tcp : daemon_.socket());
    if (fd < 0) continue;
    if (::send(fd, "GET /v1/st", 10, MSG_NOSIGNAL) < 0) errno = 0;
    open.push_back(fd);
  }
  EXPECT_GT(open.size(), 500U);
  // 500 of root's own are open; 256 on TCP; the rest was refused.
  EXPECT_TRUE(daemon_.ask("GET", "/v1/status").good());
  partita({"wait", submit({"--", "/bin/true"})});
  for (const int fd : open) ::close(fd);
}

TEST_F(Limits, WhereThereAreNoControllersLimitsThatNeedThemAreRefusedAtTheStart) {
  const bool began = daemon_.start({"--job-processes", "100"});
  if (began) GTEST_SKIP() << "needs a machine without the controllers of cgroups of version 2";
  EXPECT_NE(daemon_.said().find("limits that were asked for"), std::string::npos) << daemon_.said();
}

}  // namespace
}  // namespace partita::live_test
