// What users and operators see of the daemon: lists, many jobs at once, environments, refusals.
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <sstream>
#include <thread>

#include "base/text.h"
#include "live/live_fixture.h"
#include "live/raw_call.h"

namespace partita::live_test {
namespace {

using Steady = std::chrono::steady_clock;

double seconds_since(Steady::time_point begun) {
  return std::chrono::duration<double>(Steady::now() - begun).count();
}

std::size_t count_lines(const std::string& text, const std::string& front) {
  std::size_t count = 0;
  for (const std::string_view line : split(text, '\n')) count += line.starts_with(front) ? 1 : 0;
  return count;
}

class Api : public Live {
 protected:
  // Until the job is in that state, or half a minute has gone.
  bool reaches(const std::string& id, const std::string& state) {
    for (int i = 0; i < 300; ++i) {
      if (job(id)["state"] == state) return true;
      ::usleep(100'000);
    }
    return false;
  }
};

TEST_F(Api, TheQueueShowsNamesAndPlacesAndSaysWhatItLeavesOut) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string first = submit({"--", "/bin/sleep", "100"});
  ASSERT_TRUE(reaches(first, "running"));
  for (int i = 0; i < 20; ++i) submit({"--mem", "39G", "--", "/bin/sleep", "99"});
  const std::string all = partita({"queue"});
  EXPECT_NE(all.find(":1g.5gb:"), std::string::npos) << all;
  EXPECT_NE(all.find(" sleep "), std::string::npos) << all;
  EXPECT_EQ(all.find("not shown"), std::string::npos) << all;
  const std::string some = partita({"queue", "--limit", "3"});
  EXPECT_NE(some.find("3 of "), std::string::npos) << some;
  EXPECT_NE(some.find("are not shown, --limit"), std::string::npos) << some;
  EXPECT_NE(some.find(" running "), std::string::npos) << "those with a slice come first";
  const Json json = Json::parse(partita({"queue", "--state", "running", "--json"}));
  ASSERT_FALSE(json["jobs"].empty());
  EXPECT_EQ(json["jobs"][0]["id"].get<int>(), std::stoi(first));
  for (const Json& each : json["jobs"]) EXPECT_EQ(each["state"], "running");
  EXPECT_FALSE(json["more"].get<bool>());
  EXPECT_EQ(count_lines(partita({"queue", "--name", "sleep"}), "job"), 1U);
  partita({"queue", "--state", "wild"}, 2);
  partita({"queue", "--user", "no-such-user-here"}, 2);
  partita({"cancel", "--state", "active"});
}

TEST_F(Api, TenThousandJobsAreCancelledByOneRequest) {
  ASSERT_TRUE(daemon_.start({"--shadow"})) << daemon_.said();
  const auto many = submission({"/bin/true"}, "many", 3, 10'000);
  ASSERT_EQ(daemon_.ask("POST", "/v1/jobs", many).status, 201);
  const auto begun = Steady::now();
  partita({"cancel", "1-9000", "9001", "9002-10000"});
  // A tenth of a second; each by itself would be a commit of the store.
  EXPECT_LT(seconds_since(begun), 3.0);
  EXPECT_EQ(daemon_.get("/v1/status")["jobs"]["cancelled"], 10'000);
  EXPECT_NE(partita({"cancel", "10000", "10001"}, 1).find("there is no job 10001"),
            std::string::npos);
  partita({"cancel"}, 2);
  EXPECT_NE(partita({"cancel", "3", "--name", "x"}, 2).find("both numbers of jobs and --name"),
            std::string::npos);
  submit({"--name", "left", "--mem", "3G", "--", "/bin/true"});
  EXPECT_EQ(partita({"cancel", "--name", "left"}), "1 job cancelled\n");
}

TEST_F(Api, AListOfMoreThanAPageIsWhole) {
  ASSERT_TRUE(daemon_.start({"--shadow"})) << daemon_.said();
  for (const char* key : {"a", "b"}) {
    const auto many = submission({"/bin/true"}, key, 3, 10'000);
    ASSERT_EQ(daemon_.ask("POST", "/v1/jobs", many).status, 201);
  }
  const Json whole = Json::parse(partita({"queue", "--limit", "20000", "--json"}));
  EXPECT_EQ(whole["jobs"].size(), 20'000U);
  EXPECT_FALSE(whole["more"].get<bool>());
  const std::string text = partita({"queue"});
  EXPECT_NE(text.find("10000 of 20000 jobs; 10000 are not shown"), std::string::npos);
}

// The job sees what its owner gave it; the supervisor, which has more rights, does not.
TEST_F(Api, LibraryPathsAreTheJobsAndPlacesAreTheDaemons) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string id =
      submit({"--env", "LD_LIBRARY_PATH=/opt/mine", "--env", "A=1", "--env", "A=2", "--", "/bin/sh",
              "-c", "env; echo supervisor; tr '\\0' '\\n' < /proc/$PPID/environ"});
  partita({"wait", id});
  const std::string said = daemon_.ask("GET", "/v1/jobs/" + id + "/output").body;
  const std::string own = said.substr(0, said.find("supervisor\n"));
  EXPECT_EQ(count_lines(own, "LD_LIBRARY_PATH=/opt/mine"), 1U) << said;
  EXPECT_EQ(count_lines(own, "A=2"), 1U) << said;
  EXPECT_EQ(count_lines(own, "A=1"), 0U) << said;
  EXPECT_EQ(count_lines(own, "PARTITA_JOB=" + id), 1U) << said;
  EXPECT_EQ(count_lines(said, "LD_LIBRARY_PATH="), 1U) << "not the supervisor's";
  for (const char* ours : {"PARTITA_JOB=99", "CUDA_VISIBLE_DEVICES=0", "NVIDIA_VISIBLE_DEVICES=all",
                           "PARTITA_ATTEMPT=1"}) {
    const std::string refused = partita({"submit", "--env", ours, "--", "/bin/true"}, 2);
    EXPECT_NE(refused.find("is not the job's to set"), std::string::npos) << refused;
  }
}

TEST_F(Api, DeepBodiesOfEightClientsHoldNobodyUp) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string deep =
      request_text("POST", "/v1/jobs", {"Host: x"}, std::string(1U << 20U, '['));
  std::vector<std::thread> clients;
  std::atomic<int> refused = 0;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back(
        [&] { refused += raw_call(daemon_.socket(), deep).status == 400 ? 1 : 0; });
  }
  double worst = 0;
  for (int i = 0; i < 100; ++i) {
    const auto begun = Steady::now();
    ASSERT_TRUE(daemon_.ask("GET", "/v1/status").good());
    worst = std::max(worst, seconds_since(begun));
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(refused, 8);
  EXPECT_LT(worst, 0.5) << "it was 0.9 s and more when they were built as trees";
}

TEST_F(Api, HeadIsAnsweredWithoutABodyAndTheConnectionGoesOn) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const int fd = connect_to(daemon_.socket());
  ASSERT_GE(fd, 0);
  const std::string both = request_text("HEAD", "/v1/gpus", {"Host: x"});
  ASSERT_EQ(::write(fd, both.data(), both.size()), static_cast<ssize_t>(both.size()));
  std::string head;
  std::array<char, 4096> piece{};
  while (head.find("\r\n\r\n") == std::string::npos) {
    const ssize_t size = ::read(fd, piece.data(), piece.size());
    ASSERT_GT(size, 0);
    head.append(piece.data(), static_cast<std::size_t>(size));
  }
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 ")) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
  EXPECT_EQ(head.find("Content-Length: 0\r\n"), std::string::npos) << head;
  EXPECT_EQ(raw_call(fd, request_text("GET", "/v1/gpus", {"Host: x"})).status, 200);
  ::close(fd);
}

TEST_F(Api, SharesNameUsersAndHaveDigitsToTellThemApart) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  partita({"wait", submit({"--mem", "4G", "--", "/bin/sleep", "0.2"})});
  const Json share = Json::parse(partita({"share", "--json"}));
  ASSERT_EQ(share["users"].size(), 1U);
  EXPECT_EQ(share["users"][0]["user"], job("1")["user"]);
  const std::string text = partita({"share"});
  std::istringstream row(text.substr(text.find('\n') + 1));
  std::string user;
  double part = 0, recent = 0, total = 0, rate = 0, level = 0;
  row >> user >> part >> recent >> total >> rate >> level;
  EXPECT_GT(recent, 0) << text;
  EXPECT_GT(total, 0) << text;
  EXPECT_GT(level, 0) << text;
  EXPECT_NE(text.find("those with the lowest level go first"), std::string::npos) << text;
  EXPECT_EQ(daemon_.stop(), 0);
  ASSERT_TRUE(daemon_.start({"--fair-share", "priority"})) << daemon_.said();
  EXPECT_EQ(partita({"share"}).find("lowest level"), std::string::npos) << partita({"share"});
}

TEST_F(Api, TheQueueShowsPrioritiesAndNoMemoryOfOthersJobs) {
  ASSERT_TRUE(daemon_.start({"--shadow"})) << daemon_.said();
  submit({"--name", "plain", "--", "/bin/true"});
  EXPECT_EQ(partita({"queue"}).find("priority"), std::string::npos);
  submit({"--name", "low", "--priority", "-3", "--", "/bin/true"});
  const std::string own = partita({"queue"});
  EXPECT_NE(own.find("priority"), std::string::npos) << own;
  EXPECT_NE(own.find("-3"), std::string::npos) << own;
  EXPECT_NE(own.find(" auto "), std::string::npos) << own;
  if (::getuid() != 0) GTEST_SKIP() << "needs another user to be";
  const std::string path = folder_.path() + "/seen";
  ::chmod(folder_.path().c_str(), 0755);
  ::chmod(daemon_.socket().c_str(), 0666);
  std::ofstream(path) << "";
  ::chmod(path.c_str(), 0666);
  EXPECT_EQ(as_nobody([&] {
              return run_to_end({program(), "queue", "--socket", daemon_.socket()}, path);
            }),
            0);
  EXPECT_EQ(count_lines(read(path), "  "), 2U) << read(path);
  EXPECT_EQ(read(path).find("auto"), std::string::npos) << read(path);
  EXPECT_EQ(read(path).find("priority"), std::string::npos) << read(path);
}

TEST_F(Api, AFolderThatIsNotThereIsNamed) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string id = submit({"--chdir", "/no/such/folder", "--", "/bin/true"});
  partita({"wait", id}, 1);
  const std::string text = partita({"job", id});
  EXPECT_NE(text.find("the folder of the job, /no/such/folder: No such file or directory"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("folder      /no/such/folder\n"), std::string::npos) << text;
}

TEST_F(Api, WhoMayNotUseTheSocketIsToldWhichGroupToJoin) {
  if (::getuid() != 0) GTEST_SKIP() << "needs another user to be";
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string path = folder_.path() + "/said";
  std::ofstream(path) << "";
  ::chmod(path.c_str(), 0666);
  ::chmod(folder_.path().c_str(), 0755);
  const auto ask_through = [&](mode_t mode) {
    ::chmod(daemon_.socket().c_str(), mode);
    const pid_t child = ::fork();
    if (child == 0) {
      const bool other = ::setgroups(0, nullptr) == 0 &&
                         ::setresgid(kNobody, kNobody, kNobody) == 0 &&
                         ::setresuid(kNobody, kNobody, kNobody) == 0;
      ::dup2(::open(path.c_str(), O_WRONLY | O_TRUNC), STDERR_FILENO);
      if (!other) ::_exit(255);
      cli::DaemonClient client(daemon_.socket());
      const cli::DaemonAnswer answer = client.ask("GET", "/v1/status");
      ::_exit(answer.good() ? 0 : cli::fail(answer));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status_of(status);
  };
  EXPECT_EQ(ask_through(0660), cli::kForbidden);
  EXPECT_NE(read(path).find("is of the group root"), std::string::npos) << read(path);
  EXPECT_EQ(read(path).find("usermod"), std::string::npos) << read(path);
  constexpr gid_t kNameless = 4'242'424;
  ASSERT_EQ(::chown(daemon_.socket().c_str(), 0, kNameless), 0);
  EXPECT_EQ(ask_through(0660), cli::kForbidden);
  EXPECT_NE(read(path).find("usermod -aG 4242424 nobody"), std::string::npos) << read(path);
  EXPECT_EQ(ask_through(0600), cli::kForbidden);
  EXPECT_NE(read(path).find("admits no group"), std::string::npos) << read(path);
  EXPECT_EQ(ask_through(0666), 0);
}

// promtool knows more rules than we do, and reads its standard input only.
TEST_F(Api, PromtoolFindsNothingInTheMetricsButTheSpellingOfDcgm) {
  if (run_to_end({"/bin/sh", "-c", "command -v promtool"}) != 0) GTEST_SKIP() << "no promtool";
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  partita({"wait", submit({"--", "/bin/true"})});
  ASSERT_TRUE(reaches(submit({"--", "/bin/sleep", "99"}), "running"));
  const std::string text = daemon_.ask("GET", "/metrics").body;
  EXPECT_NE(text.find("job_id="), std::string::npos) << text;
  const std::string path = folder_.path() + "/metrics";
  std::ofstream(path) << text;
  run_to_end({"/bin/sh", "-c", "promtool check metrics < " + path}, path + ".said");
  const std::string said = read(path + ".said");
  for (const std::string_view line : split(said, '\n')) {
    const bool of_dcgm = line.empty() || line.find("camelCase") != std::string_view::npos;
    EXPECT_TRUE(of_dcgm) << line;
  }
  partita({"cancel", "--state", "active"});
}

TEST_F(Api, SimulatedGpusAreSaidToBeSo) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  EXPECT_NE(daemon_.said().find("SIMULATED GPUs"), std::string::npos) << daemon_.said();
  EXPECT_EQ(daemon_.get("/v1/status")["simulated"], true);
  EXPECT_NE(partita({"top", "--once"}).find("SIMULATED GPUs"), std::string::npos);
}

TEST_F(Api, WithoutABackendTheGpusAreThoseOfTheMachineAsForLayout) {
  if (::access("/dev/nvidiactl", F_OK) == 0) GTEST_SKIP() << "there is a driver";
  const std::string hint = "--backend simulated:2xa100-40gb works without a GPU";
  const std::string served = printed({"serve", "--state", folder_.path() + "/other", "--listen",
                                      "unix:" + folder_.path() + "/other.sock"},
                                     2);
  EXPECT_NE(served.find(hint), std::string::npos) << served;
  const std::string laid = printed({"layout", "export"}, 1);
  EXPECT_NE(laid.find(hint), std::string::npos) << laid;
}

}  // namespace
}  // namespace partita::live_test
