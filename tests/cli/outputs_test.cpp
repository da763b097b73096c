// Outputs are whole or not there, and a reader that goes away is no error.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "base/check.h"
#include "program.h"

namespace partita::cli_test {
namespace {

class Outputs : public ProgramTest {
 protected:
  // The program with `out` for stdout.
  pid_t start(const std::vector<std::string>& words, int out) const {
    const pid_t child = ::fork();
    CHECK(child >= 0);
    if (child != 0) return child;
    std::string program = program_path();
    std::vector<std::string> copies = words;
    std::vector<char*> arguments{program.data()};
    for (std::string& word : copies) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int err = ::open((folder() + "/err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    if (::chdir(path("").c_str()) != 0) ::_exit(126);
    ::execv(program.c_str(), arguments.data());
    ::_exit(127);
  }
};

TEST_F(Outputs, ABadRowLeavesTheOldFileAndNoTemporaryOne) {
  write("jobs.csv", "what was there\n");
  write("trace.csv", std::string(kHeader) + "a,0,10,c,0,5,4,3,2,1\nb,x,10,c,0,5,4,3,2,1\n");
  complaint("convert --jobs trace.csv --out jobs.csv");
  EXPECT_EQ(read("jobs.csv"), "what was there\n");
  EXPECT_EQ(files(), (std::vector<std::string>{"jobs.csv", "trace.csv"}));
}

TEST_F(Outputs, AllFilesOfARunAppearOrNone) {
  out_of("generate --hours 1 --out jobs.csv");
  std::filesystem::create_directory(path("folder"));
  EXPECT_NE(complaint("simulate --jobs jobs.csv --schedule s.csv --layouts folder")
                .find("Is a directory"),
            std::string::npos);
  EXPECT_NE(complaint("simulate --jobs jobs.csv --schedule s.csv --layouts none/l.csv")
                .find("cannot write none/l.csv: No such file"),
            std::string::npos);
  complaint("simulate --jobs none.csv --schedule s.csv --layouts l.csv");
  EXPECT_EQ(files(), (std::vector<std::string>{"folder", "jobs.csv"}));
}

TEST_F(Outputs, AFileKeepsItsLinkAndNewFilesFollowTheUmask) {
  write("real.csv", "old\n");
  std::filesystem::create_symlink("real.csv", path("link.csv"));
  out_of("generate --hours 1 --out link.csv");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.csv")));
  EXPECT_TRUE(read("real.csv").starts_with(kHeader));
  out_of("generate --hours 1 --out new.csv");
  struct stat made {};
  ASSERT_EQ(::stat(path("new.csv").c_str(), &made), 0);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  EXPECT_EQ(made.st_mode & 0777U, 0666U & ~mask);
}

TEST_F(Outputs, DevicesAreWrittenInPlace) {
  out_of("generate --hours 1 --out /dev/null");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_NE(complaint("generate --hours 1 --out /dev/full").find("No space left"),
            std::string::npos);
}

TEST_F(Outputs, AFullStandardOutputIsAnError) {
  const int full = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"gpus"}, {"generate", "--hours", "24"}}) {
    int waited = 0;
    ASSERT_GT(::waitpid(start(words, full), &waited, 0), 0);
    ASSERT_TRUE(WIFEXITED(waited));
    EXPECT_EQ(WEXITSTATUS(waited), 2);
    EXPECT_EQ(read_file(folder() + "/err"),
              "partita: cannot write standard output: No space left on device\n");
  }
  ::close(full);
}

TEST_F(Outputs, AReaderThatGoesAwayIsNoError) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"gpus"}, {"generate", "--hours", "2400"}}) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    ::close(ends[0]);
    const pid_t child = start(words, ends[1]);
    ::close(ends[1]);
    int waited = 0;
    ASSERT_EQ(::waitpid(child, &waited, 0), child);
    ASSERT_TRUE(WIFEXITED(waited));
    EXPECT_EQ(WEXITSTATUS(waited), 0);
    EXPECT_EQ(read_file(folder() + "/err"), "");
  }
}

TEST_F(Outputs, ASignalLeavesNoTemporaryFile) {
  const int sink = ::open("/dev/null", O_WRONLY);
  const pid_t child =
      start({"generate", "--hours", "1000000", "--rate", "1000", "--out", "huge.csv"}, sink);
  ::close(sink);
  int waited = 0;
  while (files().empty() && ::waitpid(child, &waited, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_EQ(::kill(child, SIGTERM), 0);
  ASSERT_EQ(::waitpid(child, &waited, 0), child);
  EXPECT_TRUE(WIFSIGNALED(waited));
  EXPECT_EQ(files(), std::vector<std::string>{});
}

TEST_F(Outputs, NothingButDataIsOnStandardOutput) {
  write("jobs.csv",
        std::string(kHeader.substr(0, kHeader.size() - 1)) + ",extra\na,0,10,c,0,5,4,3,2,1,x\n");
  const Ran ran = run("simulate --jobs jobs.csv --json");
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.json()["jobs"], 1);
  EXPECT_TRUE(ran.err.starts_with("partita: warning: ")) << ran.err;
  EXPECT_NE(ran.err.find("extra"), std::string::npos);
}

}  // namespace
}  // namespace partita::cli_test
