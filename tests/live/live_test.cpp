// The daemon as a user meets it: commands in, jobs run, stories told.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "live/live_fixture.h"

namespace partita::live_test {
namespace {

TEST_F(Live, AJobRunsAndItsStoryIsTold) {
  ASSERT_TRUE(daemon_.start({"--watch", "0.1"})) << daemon_.said();
  const std::string id = submit({"--name", "hello", "--mem", "3G", "--comment", "the first one",
                                 "--", "/bin/echo", "a  b", "$HOME"});
  partita({"wait", id});
  EXPECT_EQ(partita({"logs", id}), "a  b $HOME\n");
  const Json story = job(id);
  EXPECT_EQ(story["state"], "done");
  EXPECT_EQ(story["attempts"].size(), 1U);
  EXPECT_EQ(story["attempts"][0]["exit_code"], 0);
  EXPECT_TRUE(has_event(story, "submitted") && has_event(story, "running"));
  EXPECT_NE(partita({"job", id}).find("done"), std::string::npos);
  EXPECT_NE(partita({"job", id}).find("comment     the first one\n"), std::string::npos);
  EXPECT_EQ(Json::parse(partita({"queue", "--all", "--json"}))["jobs"][0]["comment"],
            "the first one");
}

TEST_F(Live, ExitCodesAndSignalsAreKept) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string code = submit({"--", "/bin/sh", "-c", "exit 7"});
  const std::string signal = submit({"--", "/bin/sh", "-c", "kill -11 $$"});
  const std::string nothing = submit({"--", "/no/such/program"});
  partita({"wait", code + "-" + nothing}, 1);
  EXPECT_EQ(job(code)["attempts"][0]["exit_code"], 7);
  EXPECT_EQ(job(signal)["attempts"][0]["signal"], 11);
  EXPECT_EQ(job(nothing)["state"], "failed");
  EXPECT_NE(job(nothing)["reason"].get<std::string>().find("/no/such/program"), std::string::npos);
}

TEST_F(Live, ACancelledJobIsStoppedWithItsChildren) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string id = submit({"--", "/bin/sh", "-c", "sleep 1000 & sleep 1000"});
  for (int i = 0; i < 200 && job(id)["state"] != "running"; ++i) ::usleep(20'000);
  partita({"cancel", id});
  partita({"wait", id}, 1);
  EXPECT_EQ(job(id)["state"], "cancelled");
  partita({"cancel", id});
}

TEST_F(Live, AJobThatGrowsIsRestartedEarlyOnALargerSliceBeforeItFails) {
  ASSERT_TRUE(daemon_.start({"--watch", "0.1"})) << daemon_.said();
  const std::string id = submit({"--mem", "auto", "--", grow_program(), "2G", "12G", "20"});
  partita({"wait", id});
  const Json story = job(id);
  EXPECT_EQ(story["state"], "done") << story.dump(1);
  EXPECT_TRUE(has_event(story, "early-restart")) << story.dump(1);
  EXPECT_FALSE(has_event(story, "out-of-memory")) << story.dump(1);
  ASSERT_GE(story["attempts"].size(), 2U);
  EXPECT_TRUE(story["attempts"][0]["slice"].get<std::string>().starts_with("1g.5gb"));
  EXPECT_GT(story["attempts"].back()["peak_gib"].get<double>(), 10);
  EXPECT_GT(story["energy_j_estimated"].get<double>(), 0);
  // What was learnt serves the next of that name.
  const std::string next = submit({"--mem", "auto", "--", grow_program(), "2G", "12G", "1"});
  partita({"wait", next});
  EXPECT_EQ(job(next)["attempts"].size(), 1U);
}

TEST_F(Live, AJobThatRunsOutOfMemoryBeginsAgainOneSizeUp) {
  ASSERT_TRUE(daemon_.start({"--watch", "0.1", "--no-early-restart"})) << daemon_.said();
  const std::string id = submit({"--", grow_program(), "2G", "7G", "0.5"});
  partita({"wait", id});
  const Json story = job(id);
  EXPECT_EQ(story["state"], "done") << story.dump(1);
  EXPECT_TRUE(has_event(story, "out-of-memory"));
  EXPECT_EQ(story["attempts"].size(), 2U);
}

TEST_F(Live, ACheckpointCommandRunsBeforeAnEarlyRestart) {
  ASSERT_TRUE(daemon_.start({"--watch", "0.1"})) << daemon_.said();
  const std::string saved = folder_.path() + "/saved";
  const std::string id =
      submit({"--checkpoint", "/usr/bin/touch " + saved, "--", grow_program(), "2G", "7G", "12"});
  partita({"wait", id});
  EXPECT_TRUE(std::filesystem::exists(saved)) << job(id).dump(1);
}

TEST_F(Live, ACheckpointCommandThatFailsIsToldInTheOutput) {
  ASSERT_TRUE(daemon_.start({"--watch", "0.05"}));
  const std::string id = submit({"--mem", "auto", "--checkpoint", "/no/such/program", "--",
                                 grow_program(), "2G", "12G", "3"});
  partita({"wait", id});
  EXPECT_TRUE(has_event(job(id), "early-restart"));
  EXPECT_NE(partita({"logs", id}).find("partita: the checkpoint command cannot be run"),
            std::string::npos);
}

TEST_F(Live, ACancelledJobDoesNotWaitForItsCheckpoint) {
  ASSERT_TRUE(daemon_.start({"--watch", "0.05"}));
  const std::string id = submit(
      {"--mem", "auto", "--checkpoint", "/bin/sleep 1000", "--", grow_program(), "2G", "12G", "3"});
  for (int i = 0; i < 1'000 && job(id)["state"] != "restarting"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ASSERT_EQ(job(id)["state"], "restarting");
  partita({"cancel", id});
  partita({"wait", id}, 1);
  EXPECT_EQ(job(id)["state"], "cancelled");
  EXPECT_NE(partita({"logs", id}).find("the job is stopped at once"), std::string::npos);
}

TEST_F(Live, AfterKillTheJobGoesOnAndIsAdopted) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string notes = folder_.path() + "/notes";
  const std::string id = submit({"--", job_program(), notes, "2"});
  const std::string short_one = submit({"--", job_program(), notes, "0.5"});
  for (int i = 0; i < 200 && job(short_one)["state"] != "running"; ++i) ::usleep(20'000);
  daemon_.kill_now();
  ::sleep(1);  // the short one ends meanwhile, and its end is found
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  partita({"wait", id + "," + short_one});
  EXPECT_EQ(job(id)["attempts"].size(), 1U);
  EXPECT_EQ(job(short_one)["attempts"].size(), 1U);
  EXPECT_TRUE(has_event(job(id), "adopted"));
}

TEST_F(Live, WhatTheDaemonDecidedIsTakenAgainFromItsStore) {
  ASSERT_TRUE(daemon_.start({"--watch", "0.05"}));
  const std::string id = submit({"--", "/bin/sleep", "1"});
  daemon_.kill_now();
  ASSERT_TRUE(daemon_.start({"--watch", "0.05"}));
  partita({"wait", id});
  daemon_.stop();
  const std::string printed = folder_.path() + "/replayed";
  const std::string state = folder_.path() + "/state";
  EXPECT_EQ(run_to_end({program(), "replay", "--state", state, "--json"}, printed), 0);
  const Json replay = Json::parse(read(printed));
  EXPECT_EQ(replay["starts"], 2);
  EXPECT_EQ(replay["different"], 0);
  EXPECT_GT(replay["turns"], 5);
  EXPECT_EQ(run_to_end({program(), "replay", "--state", state, "--job", id}, printed), 0);
  const std::string story = read(printed);
  for (const char* part : {"submitted", "launch 1.1", "attempt 1.1 ended with status 0",
                           "job 1 done", "each gave what it gave then"}) {
    EXPECT_NE(story.find(part), std::string::npos) << part << "\n" << story;
  }
  // A store that somebody has is not opened a second time.
  ASSERT_TRUE(daemon_.start());
  EXPECT_EQ(run_to_end({program(), "replay", "--state", state}, printed), 2);
  EXPECT_EQ(run_to_end({program(), "replay", "--state", folder_.path() + "/none"}, printed), 2);
}

TEST_F(Live, LookingAheadItRunsJobsAndCanBeTakenAgain) {
  const std::vector<std::string> words{
      "--watch", "0.05", "--policy",
      "mdd+slowest/lookahead:start=12,every=5,rest=0,horizon=600,screen=600"};
  ASSERT_TRUE(daemon_.start(words)) << daemon_.said();
  std::string ids;
  for (int i = 1; i <= 33; ++i) ids += (i > 1 ? "," : "") + std::to_string(i);
  for (int i = 0; i < 8; ++i) {
    partita({"submit", "--mem", "3G", "--time", "7g=1s", "--deadline", "+20s", "--array", "4", "--",
             "/bin/sleep", "0.2"});
  }
  // No slice of the layouts it began with holds this one.
  EXPECT_EQ(submit({"--mem", "30G", "--time", "7g=1s", "--", "/bin/true"}), "33");
  partita({"wait", ids});
  daemon_.stop();
  const std::string printed = folder_.path() + "/replayed";
  const std::string state = folder_.path() + "/state";
  EXPECT_EQ(run_to_end({program(), "replay", "--state", state, "--json"}, printed), 0);
  const Json replay = Json::parse(read(printed));
  EXPECT_EQ(replay["different"], 0);
  EXPECT_GT(replay["turns"], 40);
}

TEST_F(Live, AJobThatWaitsIsToldWhoHoldsTheSpace) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string first = submit({"--mem", "30G", "--", "/bin/sleep", "1000"});
  const std::string second = submit({"--mem", "30G", "--", "/bin/sleep", "1000"});
  const std::string third = submit({"--mem", "30G", "--", "/bin/true"});
  for (int i = 0; i < 500 && job(second)["state"] != "running"; ++i) ::usleep(20'000);
  const std::string waits = job(third)["waits"].dump();
  EXPECT_NE(waits.find("needs 30.00 GiB: a 7g.40gb"), std::string::npos) << waits;
  EXPECT_NE(waits.find("job " + first + " on 7g.40gb:0"), std::string::npos) << waits;
  partita({"cancel", first + "," + second});
  partita({"wait", third});
}

TEST_F(Live, InShadowModeItDecidesAndTouchesNothing) {
  ASSERT_TRUE(daemon_.start({"--shadow"})) << daemon_.said();
  const std::string id = submit({"--mem", "3G", "--", "/bin/true"});
  ::usleep(500'000);
  EXPECT_EQ(job(id)["state"], "queued");
  const Json gpus = daemon_.get("/v1/gpus")["gpus"];
  for (const Json& gpu : gpus) EXPECT_TRUE(gpu["slices"].empty());
  EXPECT_NE(daemon_.said().find("would cut GPU"), std::string::npos);
}

TEST_F(Live, WhatWasAskedForIsShown) {
  ASSERT_TRUE(daemon_.start({"--shadow"})) << daemon_.said();
  const std::string id =
      submit({"--mem", "3G", "--deadline", "+2h", "--time", "1g=20m,7g=5m", "--time-limit", "90m",
              "--checkpoint", "save 'a b'", "--", "/bin/true"});
  const Json json = job(id);
  EXPECT_EQ(json["times_s"], (Json{{"1", 1200.0}, {"7", 300.0}}));
  EXPECT_EQ(json["checkpoint"], (Json{"save", "a b"}));
  const std::string story = partita({"job", id});
  for (const char* line : {"memory      3 GiB as given\n", "(+2h 0m)\n", "time limit  1h 30m\n",
                           "takes       1g 20m 0s, 7g 5m 0s\n", "checkpoint  save a b\n",
                           "waits: the daemon is in shadow mode"}) {
    EXPECT_NE(story.find(line), std::string::npos) << line << "\n" << story;
  }
  EXPECT_NE(partita({"submit", "--deadline", "2020-01-01T00:00:00Z", "--", "/bin/true"}, 2)
                .find("--deadline: 2020-01-01T00:00:00Z has passed"),
            std::string::npos);
}

TEST_F(Live, AJobThatEndedWhileThereWasNoDaemonEndedThen) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string id = submit({"--mem", "3G", "--deadline", "+1s", "--", "/bin/sleep", "1.5"});
  for (int i = 0; i < 500 && job(id)["state"] != "running"; ++i) ::usleep(20'000);
  daemon_.kill_now();
  ::usleep(4'000'000);
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  partita({"wait", id});
  const Json attempt = job(id)["attempts"][0];
  const double ran = attempt["ended_s"].get<double>() - attempt["started_s"].get<double>();
  EXPECT_GE(ran, 1.4);
  EXPECT_LT(ran, 4);
  EXPECT_GT(job(id)["late_s"].get<double>(), 0);
  EXPECT_NE(partita({"job", id}).find(", missed by "), std::string::npos);
}

// What was shown before the end of a daemon does not go down with it.
TEST_F(Live, EnergyAndPeaksAreWrittenDownAsTimeGoesBy) {
  ASSERT_TRUE(daemon_.start({"--watch", "0.2"})) << daemon_.said();
  const std::string id =
      submit({"--mem", "4G", "--time", "1g=1h", "--", grow_program(), "1G", "1.1G"});
  const auto first = [&](const char* name) {
    const Json attempts = job(id)["attempts"];
    return attempts.empty() ? 0.0 : attempts[0][name].get<double>();
  };
  for (int i = 0; i < 500 && first("energy_j_estimated") < 100; ++i) ::usleep(20'000);
  EXPECT_GT(first("peak_gib"), 0.9);
  ::usleep(2'500'000);
  daemon_.kill_now();
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  EXPECT_GE(first("energy_j_estimated"), 100);
  EXPECT_GT(first("peak_gib"), 0.9);
  partita({"cancel", id});
}

TEST_F(Live, AProgramThatIsNotFoundIsNamedWithWhereItWasLookedFor) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string bare = submit({"--mem", "3G", "--", "no-such-program"});
  partita({"wait", bare}, 1);
  EXPECT_EQ(job(bare)["reason"],
            "no-such-program in /usr/local/bin:/usr/bin:/bin: No such file or directory");
  const std::string name(3000, 'x');
  const std::string longest = submit({"--mem", "3G", "--name", "x", "--", "/" + name});
  partita({"wait", longest}, 1);
  EXPECT_LT(job(longest)["reason"].get<std::string>().size(), 512U);
}

TEST_F(Live, WaitNamesTheJobsThatWereNotDone) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string good = submit({"--mem", "3G", "--", "/bin/true"});
  const std::string bad = submit({"--mem", "3G", "--", "/bin/false"});
  EXPECT_EQ(partita({"wait", good + "," + bad}, 1), "job " + bad + " failed: exit status 1\n");
  EXPECT_EQ(partita({"wait", good}), "");
}

TEST_F(Live, WhoMayNotAndWhoMustWaitAreToldApartByStatus) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: everybody else here is the daemon's own user";
  ASSERT_TRUE(daemon_.start({"--shadow", "--jobs-per-user", "1"})) << daemon_.said();
  const std::string id = submit({"--mem", "3G", "--", "/bin/true"});
  partita({"submit", "--mem", "3G", "--", "/bin/true"}, 5);
  EXPECT_EQ(
      as_nobody([&] {
        return run_to_end({program(), "cancel", id, "--socket", daemon_.socket()}, "/dev/null");
      }),
      4);
}

TEST_F(Live, LinesOfItsLogCanBeJson) {
  ASSERT_TRUE(daemon_.start({"--json"})) << daemon_.said();
  std::istringstream lines(daemon_.said());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const Json json = Json::parse(line);
    EXPECT_TRUE(json["at_s"].is_number() && json["text"].is_string()) << line;
  }
  EXPECT_GT(count, 0);
}

TEST_F(Live, TheSameKeyIsTheSameJob) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string body = submission({"/bin/true"}, "once");
  const Json first = daemon_.ask("POST", "/v1/jobs", body).json();
  const Json second = daemon_.ask("POST", "/v1/jobs", body).json();
  EXPECT_EQ(first, second);
}

TEST_F(Live, NoDaemonIsExitStatusThreeAndBadRequestsAreRefusedWithASentence) {
  EXPECT_NE(partita({"queue"}, 3).find("partita serve"), std::string::npos);
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  partita({"job", "99"}, 1);
  EXPECT_NE(partita({"submit", "--mem", "500G", "--", "/bin/true"}, 2).find("GiB"),
            std::string::npos);
  EXPECT_NE(partita({"submit"}, 2).find("--"), std::string::npos);
}

TEST_F(Live, ACancelledJobIsNamedInTheAnswer) {
  ASSERT_TRUE(daemon_.start({"--shadow"})) << daemon_.said();
  const std::string first = submit({"--mem", "3G", "--", "/bin/true"});
  const std::string second = submit({"--mem", "3G", "--", "/bin/true"});
  EXPECT_EQ(Json::parse(partita({"cancel", first + "," + second, "--json"})),
            (Json{{"cancelled", {std::stoi(first), std::stoi(second)}}}));
  EXPECT_EQ(daemon_.ask("DELETE", "/v1/jobs/" + first).status, 200);
}

TEST_F(Live, TheInterfaceServesMetricsAndItsOwnDescription) {
  ASSERT_TRUE(daemon_.start({"--watch", "0.1"})) << daemon_.said();
  EXPECT_EQ(daemon_.get("/v1/openapi.json")["openapi"], "3.0.3");
  ::usleep(400'000);
  const std::string metrics = daemon_.ask("GET", "/metrics").body;
  EXPECT_NE(metrics.find("partita_jobs{state=\"queued\"} 0"), std::string::npos);
  EXPECT_NE(metrics.find("partita_gpu_energy_joules_total{gpu=\"1\",UUID="), std::string::npos);
}

// In shadow mode no slice is made, so what waits fits nowhere on GPUs that are idle.
TEST_F(Live, TopTellsWhenQueuedWorkFitsNowhere) {
  ASSERT_TRUE(daemon_.start({"--shadow"})) << daemon_.said();
  EXPECT_EQ(partita({"top", "--once"}).find("fits nowhere"), std::string::npos);
  submit({"--mem", "3G", "--", "/bin/true"});
  EXPECT_NE(partita({"top", "--once"}).find("100.0 % of the queued work fits nowhere"),
            std::string::npos);
  EXPECT_EQ(Json::parse(partita({"top", "--once", "--json"}))["status"]["fragmentation"], 1.0);
}

TEST_F(Live, ASlowOrHalfOpenCallerHoldsUpNobody) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  std::vector<int> open;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  daemon_.socket().copy(address.sun_path, daemon_.socket().size());
  for (int i = 0; i < 300; ++i) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::send(fd, "GET /v1/st", 10, MSG_NOSIGNAL), 10);
    open.push_back(fd);
  }
  EXPECT_TRUE(daemon_.ask("GET", "/v1/status").good());
  partita({"wait", submit({"--", "/bin/true"})});
  for (const int fd : open) ::close(fd);
}

TEST_F(Live, FollowersAreToldWhatHappens) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  daemon_.socket().copy(address.sun_path, daemon_.socket().size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::string request = "GET /v1/events HTTP/1.1\r\n\r\n";
  ASSERT_EQ(::send(fd, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  const std::string id = submit({"--", "/bin/true"});
  partita({"wait", id});
  std::string told;
  std::array<char, 4096> piece{};
  while (told.find("event: done") == std::string::npos) {
    const ssize_t size = ::recv(fd, piece.data(), piece.size(), 0);
    ASSERT_GT(size, 0) << told;
    told.append(piece.data(), static_cast<std::size_t>(size));
  }
  ::close(fd);
  EXPECT_LT(told.find("event: submitted"), told.find("event: running"));
}

// No shell, no format and no path of ours gets hold of what a user wrote.
TEST_F(Live, HostileWordsReachTheProgramByteForByte) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  std::vector<std::string> hostile{
      "",         "$(id)",  "`id`", "; id",  "| id", "&& id",    "a\nb",      "\t",   "'",
      "\"",       "\\",     "--",   "-n",    "*",    "~",        "../../etc", "%s%n", "\x1b[2J",
      "<script>", "\u00e9", "{}",   "$HOME", "#",    "\r\n\r\n", "a b  c"};
  for (char c = 1; c < 0x7f; ++c) hostile.emplace_back(3, c);
  std::vector<std::string> argv{"/usr/bin/printf", "%s\\001"};
  argv.insert(argv.end(), hostile.begin(), hostile.end());
  ASSERT_TRUE(daemon_.ask("POST", "/v1/jobs", submission(argv, "hostile")).good());
  partita({"wait", "1"});
  std::string wanted;
  for (const std::string& each : hostile) wanted += each + "\x01";
  EXPECT_EQ(daemon_.ask("GET", "/v1/jobs/1/output").body, wanted);
  EXPECT_EQ(job("1")["argv"].size(), argv.size());
}

// As root only: there is no other user to become otherwise.
TEST_F(Live, AJobHasItsOwnersRightsAndNoMore) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: a job cannot be run as somebody else";
  ::chmod(folder_.path().c_str(), 0755);
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  ::chmod(daemon_.socket().c_str(), 0666);

  const std::string body = submission({"/usr/bin/id", "-u"}, "id");
  ASSERT_EQ(as_nobody([&] {
              cli::DaemonClient client(daemon_.socket());
              const bool taken = client.ask("POST", "/v1/jobs", body).good() &&
                                 client.ask("GET", "/v1/jobs/1/output").good();
              return taken ? 0 : 1;
            }),
            0);
  partita({"wait", "1"});
  EXPECT_EQ(partita({"logs", "1"}), "65534\n");
}

}  // namespace
}  // namespace partita::live_test
