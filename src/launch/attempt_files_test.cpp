#include "launch/attempt_files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "base/check.h"
#include "launch/supervisor.h"

namespace partita::launch {
namespace {

namespace fs = std::filesystem;

class AttemptFilesTest : public testing::Test {
 protected:
  AttemptFilesTest() {
    std::string name = (fs::temp_directory_path() / "partita-XXXXXX").string();
    CHECK(::mkdtemp(name.data()) != nullptr);
    files_ = AttemptFiles(name);
    CHECK(files_.make_folders().ok());
  }
  ~AttemptFilesTest() override {
    std::error_code ignored;
    fs::remove_all(files_.folder(), ignored);
  }

  // With a bar for each null byte.
  std::string text(AttemptKey key, const char* ending) const {
    std::ifstream in(files_.path(key, ending), std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(in), {});
    for (char& c : bytes) c = c == '\0' ? '|' : c;
    return bytes;
  }
  void write(AttemptKey key, const char* ending, std::string bytes) const {
    for (char& c : bytes) c = c == '|' ? '\0' : c;
    std::ofstream(files_.path(key, ending), std::ios::binary | std::ios::trunc) << bytes;
  }

  AttemptFiles files_{""};
};

Start some_start() {
  Start start;
  start.key = {{12}, 1};
  start.argv = {"./train", "--fast", ""};
  start.environment = {"A=b", "C=d"};
  start.directory = "/tmp";
  start.owner = {1000, 100};
  start.checkpoint = {"save"};
  start.time_limit = Micros{60'000'000};
  start.output_bytes_max = 1 << 30;
  start.confinement.cgroup = "/sys/fs/cgroup/x";
  start.confinement.memory_max = 1ULL << 33U;
  start.confinement.pids_max = 64;
  start.confinement.devices.governed = {195, 511};
  start.confinement.devices.allowed = {{195, 0}, {195, 255}, {511, 3}};
  return start;
}

Report some_report() {
  Report report;
  report.kind = Report::Kind::kEnded;
  report.key = {{12}, 1};
  report.pid = 4711;
  report.exit_code = 3;
  report.signal = 9;
  report.at = Micros{1'700'000'000'000'000};
  report.message = "out of memory";
  report.over_time = true;
  return report;
}

TEST_F(AttemptFilesTest, WhatIsWrittenIsReadBackAndIsWhatOlderProgramsWrote) {
  const Start start = some_start();
  ASSERT_TRUE(files_.write_spec(start).ok());
  EXPECT_EQ(text(start.key, "spec"),
            "3|./train|--fast||2|A=b|C=d|/tmp|1000|100|1|save|60000000|1073741824|"
            "/sys/fs/cgroup/x|8589934592|64|2|195|511|6|195|0|195|255|511|3|");
  EXPECT_EQ(*files_.read_spec(start.key), start);
  const Report report = some_report();
  ASSERT_TRUE(files_.write_end(report).ok());
  EXPECT_EQ(text(report.key, "exit"), "2|4711|3|9|1700000000000000|out of memory|1|");
  EXPECT_EQ(*files_.read_end(report.key), report);
}

TEST_F(AttemptFilesTest, AnEndThatAnOlderSupervisorWroteIsRead) {
  write({12, 1}, "exit", "2|4711|3|9|1700000000000000|out of memory|");
  Report report = some_report();
  report.over_time = false;
  EXPECT_EQ(*files_.read_end({12, 1}), report);
}

TEST_F(AttemptFilesTest, WhatIsCutOrIsNoNumberIsRefused) {
  ASSERT_TRUE(files_.write_spec(some_start()).ok());
  const std::string whole = text({12, 1}, "spec");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write({12, 1}, "spec", whole.substr(0, size));
    EXPECT_FALSE(files_.read_spec({12, 1}).ok()) << size;
  }
  write({12, 1}, "exit", "2|x|3|9|17|m|0|");
  EXPECT_FALSE(files_.read_end({12, 1}));
  write({12, 1}, "exit", "2|1|3|9|17|m");
  EXPECT_FALSE(files_.read_end({12, 1}));
}

TEST_F(AttemptFilesTest, AllThatIsWrittenOfAnAttemptHasItsSpaceBeforeItBegins) {
  const AttemptKey key{12, 1};
  ASSERT_EQ(files_.reserve(key), 0);
  std::map<std::string, std::pair<std::uintmax_t, long>> before;
  const auto blocks = [&](const char* ending) {
    struct stat file {};
    EXPECT_EQ(::stat(files_.path(key, ending).c_str(), &file), 0) << ending;
    return std::pair{static_cast<std::uintmax_t>(file.st_ino), static_cast<long>(file.st_blocks)};
  };
  for (const char* ending : {"lock", "pid", "stop", "exit"}) before[ending] = blocks(ending);
  EXPECT_FALSE(files_.read_pid(key));
  EXPECT_FALSE(files_.read_end(key));
  EXPECT_FALSE(files_.read_stop(key));
  EXPECT_TRUE(fs::exists(files_.output_path(key.job)));

  const int lock = files_.lock(key);
  ASSERT_GE(lock, 0);
  EXPECT_EQ(files_.supervisor(key), ::getpid());
  ASSERT_TRUE(files_.write_pid(key, 4711, Micros{17}).ok());
  ASSERT_TRUE(files_.write_stop(key, true).ok());
  EXPECT_EQ(files_.read_stop(key), true);
  ASSERT_TRUE(files_.write_stop(key, false).ok());
  Report report = some_report();
  report.message = std::string(4096, 'x');
  ASSERT_TRUE(files_.write_end(report).ok());
  EXPECT_EQ(files_.read_pid(key)->pid, 4711);
  EXPECT_EQ(files_.read_stop(key), false);
  EXPECT_EQ(*files_.read_end(key), report);
  for (const auto& [ending, had] : before) EXPECT_EQ(blocks(ending.c_str()), had) << ending;
  ::close(lock);
}

TEST_F(AttemptFilesTest, AnEndWhoseWritingWasTornIsNone) {
  const AttemptKey key{12, 1};
  ASSERT_EQ(files_.reserve(key), 0);
  ASSERT_TRUE(files_.write_end(some_report()).ok());
  const std::string whole = text(key, "exit");
  const std::size_t used = whole.find("||");
  ASSERT_LT(used, whole.size());
  for (std::size_t size = 0; size < used; ++size) {
    std::string torn = whole;
    std::fill(torn.begin() + static_cast<long>(size), torn.end(), '|');
    write(key, "exit", torn);
    EXPECT_FALSE(files_.read_end(key)) << size;
  }
  std::string flipped = whole;
  flipped[used - 3] ^= 1;
  write(key, "exit", flipped);
  EXPECT_FALSE(files_.read_end(key));
}

TEST_F(AttemptFilesTest, WhatCannotBeReservedLeavesNothing) {
  ASSERT_EQ(::symlink("/dev/full", files_.path({12, 1}, "stop").c_str()), 0);
  EXPECT_NE(files_.reserve({12, 1}), 0);
  EXPECT_TRUE(fs::is_empty(files_.folder() + "/run"));
}

TEST_F(AttemptFilesTest, FilesOfAttemptsThatAreOverGoAndOthersStay) {
  for (const AttemptKey key : {AttemptKey{12, 1}, AttemptKey{12, 2}, AttemptKey{7, 1}}) {
    ASSERT_EQ(files_.reserve(key), 0);
  }
  write({7, 1}, "spec.new", "half");
  std::ofstream(files_.folder() + "/run/notes") << "not ours";
  files_.remove_except({AttemptKey{12, 2}});
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(files_.folder() + "/run")) {
    left.insert(entry.path().filename().string());
  }
  EXPECT_EQ(left,
            (std::set<std::string>{"12.2.exit", "12.2.lock", "12.2.pid", "12.2.stop", "notes"}));
}

// The limit on the size of files fails as a full disk does, and can be lifted from outside.
TEST_F(AttemptFilesTest, ASupervisorThatCannotWriteTheEndWaitsUntilItCan) {
  Start start = some_start();
  start.argv = {"/bin/sleep", "0.3"};
  start.environment = {"PATH=/bin"};
  start.directory = "/";
  start.owner = {::getuid(), ::getgid()};
  start.checkpoint = {};
  start.confinement = {};
  ASSERT_EQ(files_.reserve(start.key), 0);
  ASSERT_TRUE(files_.write_spec(start).ok());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(supervise(files_.folder(), start.key));
  for (int i = 0; i < 1000 && !files_.read_pid(start.key); ++i) ::usleep(5'000);
  ASSERT_TRUE(files_.read_pid(start.key));
  rlimit limit{0, RLIM_INFINITY};
  ASSERT_EQ(::prlimit(child, RLIMIT_FSIZE, &limit, nullptr), 0);
  constexpr int kSecondsItOnceGaveUpAfter = 11;
  ::sleep(kSecondsItOnceGaveUpAfter);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, WNOHANG), 0) << "it waits";
  EXPECT_FALSE(files_.read_end(start.key));
  limit.rlim_cur = RLIM_INFINITY;
  ASSERT_EQ(::prlimit(child, RLIMIT_FSIZE, &limit, nullptr), 0);
  ASSERT_EQ(::kill(child, SIGUSR1), 0);  // as who wants it stopped does
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(files_.read_end(start.key));
  EXPECT_EQ(files_.read_end(start.key)->exit_code, 0);
}

}  // namespace
}  // namespace partita::launch
