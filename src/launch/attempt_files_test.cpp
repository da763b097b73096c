#include "launch/attempt_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/check.h"

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

}  // namespace
}  // namespace partita::launch
