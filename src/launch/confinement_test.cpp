#include "launch/confinement.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>

namespace partita::launch {
namespace {

// Tests say by name what the machine lacks.
class Confined : public testing::Test {
 protected:
  void SetUp() override {
    const Result<std::string> opened = open_cgroups(testing::TempDir(), false);
    if (!opened) GTEST_SKIP() << "needs cgroups of version 2: " << opened.error().message;
    folder_ = *opened;
    confinement_.cgroup = folder_ + "/test-" + std::to_string(::getpid());
  }
  void TearDown() override {
    kill_cgroup(confinement_.cgroup);
    remove_cgroup(confinement_.cgroup);
  }

  // The exit status of `what` in a child in the cgroup; -1: it was killed.
  template <typename What>
  int status_in_cgroup(What what) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(enter_cgroup(confinement_.cgroup) ? what() : 99);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string folder_;
  Confinement confinement_;
};

bool opens(const char* path) {
  const int fd = ::open(path, O_RDWR | O_CLOEXEC);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

TEST_F(Confined, ThoseWhoLeftTheirGroupGoWithTheCgroup) {
  ASSERT_TRUE(make_cgroup(confinement_).ok());
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const int status = status_in_cgroup([&] {
    const pid_t escaped = ::fork();
    if (escaped == 0) {
      ::setsid();
      for (;;) ::pause();
    }
    return ::write(ends[1], &escaped, sizeof escaped) == sizeof escaped ? 0 : 1;
  });
  ASSERT_EQ(status, 0);
  pid_t escaped = 0;
  ASSERT_EQ(::read(ends[0], &escaped, sizeof escaped), static_cast<ssize_t>(sizeof escaped));
  EXPECT_EQ(::kill(escaped, 0), 0);
  kill_cgroup(confinement_.cgroup);
  remove_cgroup(confinement_.cgroup);
  EXPECT_NE(::access(confinement_.cgroup.c_str(), F_OK), 0) << "somebody is still in it";
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(Confined, OfGovernedDevicesOnlyTheAllowedOpen) {
  confinement_.devices.governed = {1};              // /dev/null, /dev/zero, /dev/full, ...
  confinement_.devices.allowed = {{1, 3}, {1, 7}};  // /dev/null and /dev/full
  const Status made = make_cgroup(confinement_);
  if (!made) GTEST_SKIP() << "needs the right to load programs: " << made.error().message;
  const int status = status_in_cgroup([] {
    int bits = 0;
    if (opens("/dev/null")) bits |= 1;
    if (opens("/dev/zero")) bits |= 2;
    if (opens("/dev/full")) bits |= 4;
    if (opens("/dev/urandom")) bits |= 8;
    if (opens("/dev/ptmx")) bits |= 16;  // of another major
    return bits;
  });
  EXPECT_EQ(status, 1 + 4 + 16);
  EXPECT_TRUE(opens("/dev/zero")) << "who is not in the cgroup is not held by its rules";
}

TEST_F(Confined, WithoutRulesAllOpen) {
  ASSERT_TRUE(make_cgroup(confinement_).ok());
  EXPECT_EQ(status_in_cgroup([] { return opens("/dev/zero") && opens("/dev/full") ? 1 : 0; }), 1);
}

TEST_F(Confined, TheLimitOfProcessesHoldsAtItsFigureAndNotBeyond) {
  const Result<std::string> limited = open_cgroups(testing::TempDir(), true);
  if (!limited) GTEST_SKIP() << "needs the controllers of version 2: " << limited.error().message;
  confinement_.pids_max = 3;
  ASSERT_TRUE(make_cgroup(confinement_).ok());
  const int made = status_in_cgroup([] {
    int children = 0;
    while (children < 10) {
      const pid_t child = ::fork();
      if (child == 0) {
        for (;;) ::pause();
      }
      if (child < 0) break;
      ++children;
    }
    return children;
  });
  EXPECT_EQ(made, 2);
}

TEST_F(Confined, TheLimitOfMemoryEndsWhoGoesBeyondIt) {
  const Result<std::string> limited = open_cgroups(testing::TempDir(), true);
  if (!limited) GTEST_SKIP() << "needs the controllers of version 2: " << limited.error().message;
  confinement_.memory_max = 64U << 20U;
  ASSERT_TRUE(make_cgroup(confinement_).ok());
  const auto fill = [](std::size_t bytes) {
    std::string memory(bytes, 'x');
    return memory[bytes / 2] == 'x' ? 0 : 1;
  };
  EXPECT_EQ(status_in_cgroup([&] { return fill(32U << 20U); }), 0);
  EXPECT_FALSE(ended_for_memory(confinement_.cgroup));
  EXPECT_EQ(status_in_cgroup([&] { return fill(128U << 20U); }), -1);
  EXPECT_TRUE(ended_for_memory(confinement_.cgroup));
}

// As the kernel writes it, for machines without the controller.
TEST(EndedForMemory, IsReadFromTheEventsOfACgroup) {
  const std::string folder = testing::TempDir();
  const auto told = [&](const char* events) {
    std::ofstream(folder + "/memory.events") << events;
    return ended_for_memory(folder);
  };
  EXPECT_TRUE(told("low 0\nhigh 0\nmax 12\noom 1\noom_kill 1\noom_group_kill 0\n"));
  EXPECT_FALSE(told("low 0\nhigh 0\nmax 12\noom 1\noom_kill 0\n"));
  EXPECT_FALSE(told(""));
  EXPECT_FALSE(ended_for_memory(folder + "/none"));
}

}  // namespace
}  // namespace partita::launch
