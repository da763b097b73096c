// What a job is and has, what it cannot reach, and that words of users stay words.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <set>
#include <thread>

#include "base/rng.h"
#include "base/text.h"
#include "live/live_fixture.h"
#include "live/raw_call.h"

namespace partita::live_test {
namespace {

using Numbers = std::vector<int>;

class Rights : public Live {
 protected:
  Json output(const std::string& id) {
    partita({"wait", id});
    return Json::parse(daemon_.ask("GET", "/v1/jobs/" + id + "/output").body);
  }
  // Submits as nobody; whether it was taken.
  bool submit_as_nobody(const std::string& body) {
    return as_nobody([&] {
             cli::DaemonClient client(daemon_.socket());
             return client.ask("POST", "/v1/jobs", body).good() ? 0 : 1;
           }) == 0;
  }
  bool has_cgroups() const { return daemon_.said().find("without cgroups") == std::string::npos; }
};

int number_in(const std::string& text) {
  return static_cast<int>(parse_int(trim(text)).value_or(0));
}

// Killed: perhaps nobody has asked after it yet.
bool is_gone(int pid) {
  for (int i = 0; i < 100; ++i) {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::string line;
    if (!std::getline(file, line) || line[line.rfind(')') + 2] == 'Z') return true;
    ::usleep(20'000);
  }
  return false;
}

// clang-format off
const std::vector<std::string> kKnownTricks{
    "", "$(id)", "`id`", "; id", "| id", "&& id", "|| id", "> /tmp/x", "< /dev/tty", "a\nb",
    "a\r\nb", "\t", "'", "\"", "\\", "--", "-n", "-rf", "*", "?", "~", "~root", "..",
    "../../etc/passwd", "/etc/shadow", "%s%n%x", "%00", "\x1b[2J", "\x7f",
    "<script>alert(1)</script>", "\"><img src=x>", "\u00e9", "\u202e", "\U0001f4a3", "{}",
    "${HOME}", "$HOME", "#", "!", "a b  c", " ", "\n", "' OR 1=1 --", "'); DROP TABLE jobs; --",
    "{\"uid\":0}", "[1,2]", "null", "true", "NaN", "1e999", "-1", "0", "9223372036854775808",
    "\u0001", "=", "A=B", "LD_PRELOAD", "nvidia-smi", "@/etc/passwd", "\u2028",
    "data: x\n\nevent: done", "Content-Length: 0\r\n\r\n", std::string(4'000, 'A'),
    std::string(300, '%'), "\xef\xbb\xbf", "a\u0300"};
// clang-format on

// 300 texts that a shell, a format, a path or a parser might take for more than a text.
std::vector<std::string> hostile_texts() {
  std::vector<std::string> texts = kKnownTricks;
  Rng rng(11, 7);
  constexpr std::string_view kAlphabet = "$`'\"\\;|&<>(){}[]*?~!#%^=+-,./: \t\n\r@aZ0_\x01\x1b\x7f";
  while (texts.size() < 300) {
    std::string text;
    const std::size_t size = 1 + rng.next() % 24;
    for (std::size_t i = 0; i < size; ++i) text += kAlphabet[rng.next() % kAlphabet.size()];
    texts.push_back(std::move(text));
  }
  return texts;
}

// As root only: there is no other user to become otherwise.
TEST_F(Rights, AJobHasItsOwnersIdsNoCapabilitiesAndNothingOpen) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: a job cannot be run as somebody else";
  if (::access(probe_program().c_str(), X_OK) != 0) GTEST_SKIP() << "needs a probe others can run";
  const int extra = ::open("/etc/passwd", O_RDONLY);  // inherited by the daemon, not by jobs
  ASSERT_TRUE(daemon_.start({}, {"SECRET=of-the-daemon"})) << daemon_.said();
  ::close(extra);
  ASSERT_TRUE(submit_as_nobody(submission({probe_program()}, "probe")));
  const Json probe = output("1");
  EXPECT_EQ(probe["uids"], Json(Numbers(3, kNobody)));
  EXPECT_EQ(probe["gids"], Json(Numbers(3, kNobody)));
  EXPECT_EQ(probe["groups"], Json(Numbers{kNobody}));
  EXPECT_EQ(probe["descriptors"], Json(Numbers{0, 1, 2}));
  for (const char* name : {"CapInh", "CapPrm", "CapEff", "CapAmb", "SigBlk", "SigIgn"}) {
    EXPECT_EQ(probe[name], "0000000000000000") << name;
  }
  EXPECT_EQ(probe["no_new_privs"], 1);
  EXPECT_EQ(probe["own_group"], true);
  EXPECT_TRUE(!has_cgroups() || probe["cgroup"].get<std::string>().ends_with("/1.1"));
  std::set<std::string> names;
  for (const Json& each : probe["environment"]) {
    const std::string entry = each.get<std::string>();
    names.insert(entry.substr(0, entry.find('=')));
  }
  EXPECT_FALSE(names.contains("SECRET"));
  for (const std::string& name : names) {
    const bool known = name == "PATH" || name == "LANG" || name == "HOME" || name == "USER" ||
                       name == "LOGNAME" || name == "SHELL" || name == "CUDA_VISIBLE_DEVICES" ||
                       name.starts_with("PARTITA_");
    EXPECT_TRUE(known) << name;
  }
}

TEST_F(Rights, RootAndNobodyAreRefusedWhereTheSystemsUsersAre) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: there is nobody else to be";
  ASSERT_TRUE(daemon_.start({"--min-uid", "1000"})) << daemon_.said();
  EXPECT_EQ(daemon_.ask("POST", "/v1/jobs", submission({"/bin/true"}, "root")).status, 403);
  EXPECT_FALSE(submit_as_nobody(submission({"/bin/true"}, "nobody")));
  EXPECT_EQ(daemon_.get("/v1/status")["jobs"]["queued"], 0);
}

TEST_F(Rights, HostileArgumentsAndVariablesArriveByteForByte) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::vector<std::string> texts = hostile_texts();
  ASSERT_EQ(texts.size(), 300U);
  Json body = Json::parse(submission({probe_program()}, "arguments"));
  for (const std::string& text : texts) body["argv"].push_back(text);
  ASSERT_EQ(daemon_.ask("POST", "/v1/jobs", body.dump()).status, 201);
  Json arguments = output("1")["arguments"];
  arguments.erase(0);
  EXPECT_EQ(arguments, Json(texts));
  for (std::size_t half = 0; half < 2; ++half) {
    Json with = Json::parse(submission({probe_program()}, fmt::format("variables {}", half)));
    std::set<std::string> wanted;
    for (std::size_t i = half * 150; i < half * 150 + 150; ++i) {
      wanted.insert(fmt::format("V{}={}", i, texts[i]));
      with["env"].push_back(fmt::format("V{}={}", i, texts[i]));
    }
    ASSERT_EQ(daemon_.ask("POST", "/v1/jobs", with.dump()).status, 201);
    const Json found = output(std::to_string(2 + half))["environment"];
    for (const Json& each : found) wanted.erase(each.get<std::string>());
    EXPECT_TRUE(wanted.empty()) << *wanted.begin();
  }
}

TEST_F(Rights, HostileNamesKeysAndFoldersAreKeptAsTheyAreOrRefused) {
  ASSERT_TRUE(daemon_.start({"--shadow"})) << daemon_.said();
  const auto post = [&](const char* field, const std::string& text) {
    Json body = Json::parse(submission({"/bin/true"}, ""));
    body[field] = text;
    return daemon_.ask("POST", "/v1/jobs", body.dump());
  };
  for (const std::string& text : hostile_texts()) {
    const bool is_name =
        !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
          return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' ||
                 c == '-';
        });
    // Nothing is called "job".
    EXPECT_EQ(post("name", text).status, is_name || text.empty() ? 201 : 400) << text;
    const cli::DaemonAnswer first = post("key", text);
    ASSERT_EQ(first.status, text.size() <= 64 ? 201 : 400) << text;
    if (first.good() && !text.empty()) {
      EXPECT_EQ(post("key", text).body, first.body) << text;
    }
    const bool is_folder = text.starts_with('/') && text.size() <= 4096;
    const cli::DaemonAnswer folder = post("directory", text);
    ASSERT_EQ(folder.status, is_folder ? 201 : 400) << text;
    if (folder.good()) {
      const std::string id = folder.json()["jobs"][0].dump();
      EXPECT_EQ(daemon_.get("/v1/jobs/" + id)["directory"], text);
    }
  }
  EXPECT_TRUE(daemon_.ask("GET", "/v1/status").good());
}

TEST_F(Rights, ATextThatIsNoUtf8IsRefusedAndNotMended) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  EXPECT_NE(partita({"submit", "--", "/bin/echo", "\xff\xfe"}, 2).find("UTF-8"), std::string::npos);
  const std::string body = "{\"argv\":[\"/bin/echo\",\"\xff\"],\"directory\":\"/\"}";
  EXPECT_EQ(daemon_.ask("POST", "/v1/jobs", body).status, 400);
}

TEST_F(Rights, WhatAJobLeavesBehindGoesWithIt) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  if (!has_cgroups()) GTEST_SKIP() << "needs cgroups of version 2: " << daemon_.said();
  const std::string id =
      submit({"--", "/bin/sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & echo $!"});
  partita({"wait", id});
  const int left = number_in(partita({"logs", id}));
  ASSERT_GT(left, 1);
  EXPECT_TRUE(is_gone(left));
}

TEST_F(Rights, WhatAKilledSupervisorLeavesBehindIsSwept) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  if (!has_cgroups()) GTEST_SKIP() << "needs cgroups of version 2: " << daemon_.said();
  const std::string id = submit(
      {"--", "/bin/sh", "-c", "setsid sleep 1000 & echo $!; [ $PARTITA_ATTEMPT = 2 ] || wait"});
  int left = 0;
  for (int i = 0; i < 500 && left == 0; ++i) {
    ::usleep(20'000);
    left = number_in(daemon_.ask("GET", "/v1/jobs/" + id + "/output").body);
  }
  ASSERT_GT(left, 1);
  const int supervisor = number_in(read(folder_.path() + "/state/run/" + id + ".1.lock"));
  ASSERT_GT(supervisor, 1);
  ::kill(supervisor, SIGKILL);
  partita({"wait", id});
  EXPECT_EQ(job(id)["attempts"].size(), 2U);
  EXPECT_TRUE(is_gone(left));
}

// The folder is the daemon's alone; should a link be put there all the same, it is not followed.
TEST_F(Rights, ALinkInThePlaceOfTheOutputIsNeverFollowed) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  partita({"wait", submit({"--", "/bin/echo", "own"})});
  const std::string secret = folder_.path() + "/secret";
  std::ofstream(secret) << "secret";
  const std::string output = folder_.path() + "/state/output/1";
  const std::string link = folder_.path() + "/link";
  ASSERT_EQ(::symlink(secret.c_str(), link.c_str()), 0);
  std::atomic<bool> over = false;
  std::atomic<int> swaps = 0;
  std::thread swapper([&] {
    for (; !over; ++swaps) {
      ::syscall(SYS_renameat2, AT_FDCWD, link.c_str(), AT_FDCWD, output.c_str(), RENAME_EXCHANGE);
    }
  });
  cli::DaemonClient client(daemon_.socket());
  int own = 0;
  int escapes = 0;
  for (int i = 0; i < 200'000 && (swaps < 10'000 || own < 100); ++i) {
    const std::string body = client.ask("GET", "/v1/jobs/1/output").body;
    escapes += body.find("secret") != std::string::npos ? 1 : 0;
    own += body == "own\n" ? 1 : 0;
  }
  over = true;
  swapper.join();
  EXPECT_EQ(escapes, 0);
  EXPECT_GE(swaps, 10'000);
  EXPECT_GE(own, 100);
}

TEST_F(Rights, TheStateIsTheDaemonsAlone) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  partita({"wait", submit({"--", "/bin/echo", "x"})});
  printed({"token", "create", "--state", folder_.path() + "/state"});
  const std::string state = folder_.path() + "/state";
  struct stat found {};
  ASSERT_EQ(::stat(state.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0700U);
  std::size_t files = 0;
  for (const auto& each : std::filesystem::recursive_directory_iterator(state)) {
    ASSERT_EQ(::lstat(each.path().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0077U, 0U) << each.path();
    ++files;
  }
  EXPECT_GT(files, 5U);
  ASSERT_EQ(::stat(daemon_.socket().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0660U);
}

// Files of a process that may not be dumped belong to root, whoever runs it.
TEST_F(Rights, TheMemoryOfTheDaemonIsNotDumped) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: to run the daemon as somebody else";
  const std::string home = folder_.path() + "/home";
  std::filesystem::create_directory(home);
  ::chmod(folder_.path().c_str(), 0755);
  ASSERT_EQ(::chown(home.c_str(), kNobody, kNobody), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const int quiet = ::open("/dev/null", O_RDWR);
    ::dup2(quiet, STDERR_FILENO);
    const std::string listen = "unix:" + home + "/s";
    if (::setresgid(kNobody, kNobody, kNobody) != 0 ||
        ::setresuid(kNobody, kNobody, kNobody) != 0) {
      ::_exit(1);
    }
    ::execl(program().c_str(), "partita", "serve", "--backend", "simulated:1xa100-40gb", "--state",
            (home + "/state").c_str(), "--listen", listen.c_str(), nullptr);
    ::_exit(126);
  }
  int fd = -1;
  for (int i = 0; i < 500 && fd < 0; ++i) {
    ::usleep(20'000);
    fd = connect_to(home + "/s");
  }
  struct stat files {};
  const int found = ::stat(fmt::format("/proc/{}/environ", child).c_str(), &files);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status_of(status) == 126) GTEST_SKIP() << "needs a program that others can run";
  ASSERT_GE(fd, 0);
  ::close(fd);
  ASSERT_EQ(found, 0);
  EXPECT_EQ(files.st_uid, 0U);
}

}  // namespace
}  // namespace partita::live_test
