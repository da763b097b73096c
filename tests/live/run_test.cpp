// partita run and partita history: the output of a job in the terminal, and what jobs used.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <sstream>

#include "live/live_fixture.h"

namespace partita::live_test {
namespace {

using Interactive = Live;
using History = Live;

// What is said on stderr stands before it: "partita: job 1".
TEST_F(Interactive, ShowsTheOutputAndEndsAsTheJobDoes) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  EXPECT_EQ(partita({"run", "--", "/bin/echo", "hello"}), "partita: job 1\nhello\n");
  EXPECT_NE(partita({"run", "--", "/bin/sh", "-c", "echo a; exit 7"}, 7).find("a\n"),
            std::string::npos);
  partita({"run", "--", "/bin/sh", "-c", "kill -11 $$"}, 128 + 11);
  EXPECT_NE(partita({"run", "--", "/no/such/program"}, 1).find("/no/such/program"),
            std::string::npos);
  const std::string said = partita({"run", "--json", "--", "/bin/sh", "-c", "echo b; exit 3"}, 3);
  const Json json = Json::parse(said.substr(said.find('{')));
  EXPECT_EQ(json["exit_status"], 3);
  EXPECT_EQ(json["output"], "b\n");
}

TEST_F(Interactive, OutputComesWhileTheJobRunsAndCtrlCCancelsIt) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string path = folder_.path() + "/shown";
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(run_to_end({program(), "run", "--socket", daemon_.socket(), "--", "/bin/sh", "-c",
                        "echo first; sleep 1000"},
                       path));
  }
  for (int i = 0; i < 500 && read(path).find("first\n") == std::string::npos; ++i) {
    ::usleep(20'000);
  }
  EXPECT_NE(read(path).find("first\n"), std::string::npos);
  EXPECT_EQ(job("1")["state"], "running");
  // As a terminal does: to the program itself, which is the child of the child.
  std::istringstream children(read(fmt::format("/proc/{}/task/{}/children", child, child)));
  pid_t runner = 0;
  children >> runner;
  ASSERT_GT(runner, 0);
  ::kill(runner, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status_of(status), 130) << read(path);
  EXPECT_EQ(job("1")["state"], "cancelled");
}

TEST_F(History, AddsUpWhatEndedJobsUsedByUserNameAndJob) {
  ASSERT_TRUE(daemon_.start({"--watch", "0.05"})) << daemon_.said();
  for (const char* name : {"one", "two", "two"}) {
    submit({"--name", name, "--mem", "3G", "--", "/bin/sleep", "0.4"});
  }
  submit({"--name", "stays", "--mem", "3G", "--", "/bin/sleep", "100"});
  partita({"wait", "1-3"});
  const Json by_name = Json::parse(partita({"history", "--by", "name", "--json"}));
  ASSERT_EQ(by_name["usage"].size(), 2U) << by_name.dump(1);
  EXPECT_EQ(by_name["usage"][0]["name"], "one");
  EXPECT_EQ(by_name["usage"][1]["jobs"], 2);
  EXPECT_EQ(by_name["jobs"], 3);
  // 1g slices: three times 0.4 s, and what starting takes.
  const double seconds = by_name["slice_hours"].get<double>() * 3600;
  EXPECT_GT(seconds, 3 * 0.4);
  EXPECT_LT(seconds, 60);
  const Json by_job = Json::parse(partita({"history", "--by", "job", "--json"}));
  ASSERT_EQ(by_job["usage"].size(), 3U);
  double joules = 0;
  for (const Json& usage : by_job["usage"]) joules += usage["energy_j_estimated"].get<double>();
  EXPECT_DOUBLE_EQ(joules, by_job["energy_j_estimated"].get<double>());
  EXPECT_TRUE(by_job["kept_since_s"].is_number());
  const std::string csv = partita({"history", "--by", "name", "--csv"});
  EXPECT_TRUE(csv.starts_with("name,jobs,done,slice_hours,energy_j_estimated\none,1,1,")) << csv;
  EXPECT_NE(partita({"history"}).find("the daemon keeps those that ended since"),
            std::string::npos);
  EXPECT_EQ(Json::parse(partita({"history", "--until", "1h", "--json"}))["jobs"], 0);
  partita({"history", "--since", "1h", "--until", "2h"}, 2);
  partita({"cancel", "4"});
}

TEST_F(History, ComesInPagesAndShowsNobodyTheJobsOfOthers) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  submit({"--array", "5", "--", "/bin/true"});
  partita({"wait", "1-5"});
  Json page = daemon_.get("/v1/history?limit=2");
  EXPECT_EQ(page["jobs"].size(), 2U);
  EXPECT_EQ(page["next"], 2);
  page = daemon_.get("/v1/history?limit=2&after=4");
  EXPECT_EQ(page["jobs"].size(), 1U);
  EXPECT_TRUE(page["next"].is_null());
  for (const char* wrong :
       {"limit=0", "limit=10001", "limit=x", "since=-1", "until=x", "after=x"}) {
    EXPECT_EQ(daemon_.ask("GET", std::string("/v1/history?") + wrong).status, 400) << wrong;
  }
  if (::geteuid() != 0) return;
  EXPECT_EQ(as_nobody([&] {
              cli::DaemonClient client(daemon_.socket());
              return static_cast<int>(client.ask("GET", "/v1/history").json()["jobs"].size());
            }),
            0);
}

}  // namespace
}  // namespace partita::live_test
