// The daemon on a disk that fills up: a small one in memory, mounted where nobody else sees it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "live/live_fixture.h"

namespace partita::live_test {
namespace {

constexpr const char* kMountOptions = "size=24m,mode=0700";

bool write_text(const char* path, const std::string& text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool good = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(fd);
  return good;
}

// Mounts of this process are its own from now on. Why not, or nothing; once for all tests.
std::string own_mounts() {
  static const std::string trouble = []() -> std::string {
    const uid_t uid = ::getuid();
    const gid_t gid = ::getgid();
    const auto failed = [](const char* what) { return std::string(what) + std::strerror(errno); };
    if (::unshare(uid == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) {
      return failed("no namespace of mounts: ");
    }
    const bool mapped =
        uid == 0 || (write_text("/proc/self/setgroups", "deny") &&
                     write_text("/proc/self/uid_map", "0 " + std::to_string(uid) + " 1") &&
                     write_text("/proc/self/gid_map", "0 " + std::to_string(gid) + " 1"));
    if (!mapped) return failed("no namespace of users: ");
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      return failed("mounts cannot be made private: ");
    }
    return {};
  }();
  return trouble;
}

class FullDisk : public Live {
 protected:
  void SetUp() override {
    if (!own_mounts().empty()) GTEST_SKIP() << "needs a disk of its own: " << own_mounts();
    ASSERT_EQ(::mkdir(state_.c_str(), 0700), 0);
    if (::mount("tmpfs", state_.c_str(), "tmpfs", 0, kMountOptions) != 0) {
      GTEST_SKIP() << "needs a disk of its own: " << std::strerror(errno);
    }
    mounted_ = true;
  }
  void TearDown() override {
    daemon_.kill_now();
    if (mounted_) ::umount2(state_.c_str(), MNT_DETACH);
  }

  // To the last byte.
  void fill() const {
    const int fd = ::open(fill_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    for (std::size_t size = 65536; size > 0;) {
      const std::string zeros(size, '\0');
      if (::write(fd, zeros.data(), size) <= 0) size /= 2;
    }
    ::close(fd);
  }
  void make_space() const { std::filesystem::remove(fill_); }

  int status_of_submission() {
    return daemon_.ask("POST", "/v1/jobs", submission({"/bin/true"}, "")).status;
  }
  // Waits until the job is in that state; whether it came to be.
  bool comes_to(const std::string& id, const std::string& state) {
    for (int i = 0; i < 1'500; ++i) {
      if (daemon_.get("/v1/jobs/" + id)["state"] == state) return true;
      ::usleep(10'000);
    }
    return false;
  }
  bool is_full() { return daemon_.get("/v1/status")["disk"]["full"] == true; }
  void wait_until_full(bool full) {
    for (int i = 0; i < 1'500 && is_full() != full; ++i) ::usleep(10'000);
    EXPECT_EQ(is_full(), full) << daemon_.said();
  }
  std::size_t lines(const std::string& path) {
    const std::string text = read(path);
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
  }
  // A job that says in a file of another disk that it ran.
  std::string noting(const std::string& seconds) const {
    return "sleep " + seconds + "; echo ran >> " + ran_ + "; echo said";
  }
  void expect_same_in_replay() {
    EXPECT_EQ(daemon_.stop(), 0);
    EXPECT_NE(printed({"replay", "--state", state_, "--last", "3"}).find("each gave what it gave"),
              std::string::npos);
  }

  const std::string state_ = folder_.path() + "/state";
  const std::string fill_ = state_ + "/fill";
  const std::string ran_ = folder_.path() + "/ran";
  bool mounted_ = false;
};

TEST_F(FullDisk, OneJobsOutputStopsAtTheFloorAndAnothersEndIsKeptAndNeitherRunsTwice) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string large =
      submit({"--mem", "4G", "--", "/bin/sh", "-c", "head -c 60000000 /dev/zero; sleep 4"});
  const std::string other = submit({"--mem", "4G", "--", "/bin/sh", "-c", noting("2")});
  ASSERT_TRUE(comes_to(other, "running"));
  ASSERT_TRUE(comes_to(large, "running"));
  ::sleep(1);
  EXPECT_FALSE(is_full()) << "output alone does not come that far";
  fill();
  wait_until_full(true);
  EXPECT_NE(partita({"queue"}).find("no job is taken"), std::string::npos) << partita({"queue"});
  EXPECT_TRUE(comes_to(other, "done")) << daemon_.said();
  EXPECT_TRUE(comes_to(large, "done")) << "it goes on without its output";
  EXPECT_EQ(status_of_submission(), 507);
  EXPECT_NE(partita({"submit", "--", "/bin/true"}, 5).find("no job is taken or started until"),
            std::string::npos);
  EXPECT_NE(partita({"queue", "--all"}).find("done"), std::string::npos);
  EXPECT_NE(partita({"top", "--once"}).find("no job is taken or started"), std::string::npos);
  EXPECT_NE(daemon_.ask("GET", "/metrics").body.find("partita_disk_full 1\n"), std::string::npos);

  daemon_.kill_now();
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  EXPECT_EQ(job(other)["state"], "done");
  make_space();
  wait_until_full(false);
  partita({"wait", submit({"--", "/bin/true"})});
  for (const std::string& id : {large, other}) {
    EXPECT_EQ(job(id)["attempts"].size(), 1U) << job(id).dump(1);
  }
  EXPECT_EQ(lines(ran_), 1U);
  for (const std::string& id : {large, other}) {
    EXPECT_NE(partita({"logs", id}).find("MiB left: output from here on is dropped"),
              std::string::npos)
        << id;
  }
  EXPECT_TRUE(std::filesystem::is_empty(state_ + "/run"));
  EXPECT_NE(daemon_.said().find("disk-full: "), std::string::npos);
  EXPECT_NE(daemon_.said().find("disk-space: "), std::string::npos);
  expect_same_in_replay();
}

// Its log was taken away at the last stop, so not even the beginning can be written.
TEST_F(FullDisk, WithoutSpaceForACommitTheDaemonAnswersAndGoesOnByItself) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string ended = submit({"--mem", "4G", "--", "/bin/sh", "-c", noting("1")});
  const std::string runs = submit({"--mem", "4G", "--", "/bin/sh", "-c", noting("3; sleep 3")});
  ASSERT_TRUE(comes_to(ended, "running"));
  ASSERT_TRUE(comes_to(runs, "running"));
  ASSERT_EQ(daemon_.stop(), 0);
  fill();
  ::sleep(2);  // the first ends while nobody looks
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  EXPECT_NE(daemon_.said().find("nothing is taken or started until it can be"), std::string::npos)
      << daemon_.said();
  EXPECT_TRUE(is_full());
  EXPECT_EQ(status_of_submission(), 507);
  EXPECT_EQ(daemon_.ask("DELETE", "/v1/jobs/" + runs).status, 507) << "it could not be kept to";
  EXPECT_EQ(job(runs)["state"], "running");
  daemon_.kill_now();  // nothing was written, so nothing is lost
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  ::sleep(1);
  EXPECT_FALSE(daemon_.has_ended()) << daemon_.said();
  make_space();
  EXPECT_TRUE(comes_to(ended, "done")) << daemon_.said();
  wait_until_full(false);
  EXPECT_NE(daemon_.said().find("the store can be written again"), std::string::npos);
  EXPECT_TRUE(comes_to(runs, "done"));
  partita({"wait", submit({"--", "/bin/true"})});
  for (const std::string& id : {ended, runs}) EXPECT_EQ(job(id)["attempts"].size(), 1U);
  EXPECT_EQ(lines(ran_), 2U);
  EXPECT_TRUE(std::filesystem::is_empty(state_ + "/run"));
  expect_same_in_replay();
}

TEST_F(FullDisk, AJobThatWaitsIsNotStartedAndSaysWhyAndIsOnceThereIsSpace) {
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  const std::string first = submit({"--mem", "38G", "--", "/bin/sh", "-c",
                                    "while [ -e " + fill_ +
                                        " ]; do sleep 0.1; "
                                        "done; sleep 600"});
  const std::string second = submit({"--mem", "38G", "--", "/bin/sleep", "600"});
  const std::string waits = submit({"--mem", "38G", "--", "/bin/sh", "-c", noting("0")});
  ASSERT_TRUE(comes_to(first, "running"));
  ASSERT_TRUE(comes_to(second, "running"));
  fill();
  wait_until_full(true);
  partita({"cancel", first});  // what runs can be stopped
  EXPECT_TRUE(comes_to(first, "cancelled")) << daemon_.said();
  ::sleep(1);
  EXPECT_EQ(job(waits)["state"], "queued");
  EXPECT_NE(job(waits)["waits"].dump().find("no job is taken or started"), std::string::npos)
      << job(waits).dump(1);
  make_space();
  EXPECT_TRUE(comes_to(waits, "done")) << daemon_.said();
  EXPECT_EQ(lines(ran_), 1U);
}

// The operator's floor lets it come to the last bytes: an end has no space there, a commit has.
TEST_F(FullDisk, AJobWhoseEndHasNoSpaceIsPostponedAndStartsOnceThereIsSome) {
  ASSERT_TRUE(daemon_.start({"--disk-floor", "1"})) << daemon_.said();
  partita({"wait", submit({"--mem", "4G", "--", "/bin/true"})});  // makes the slice
  fill();
  constexpr std::uintmax_t kLeft = 8192;
  std::filesystem::resize_file(fill_, std::filesystem::file_size(fill_) - kLeft);
  wait_until_full(false);
  const std::string id = submit({"--mem", "4G", "--", "/bin/sh", "-c", noting("0")});
  for (int i = 0; i < 500 && !has_event(job(id), "postponed"); ++i) ::usleep(10'000);
  const Json waits = job(id);
  EXPECT_TRUE(has_event(waits, "postponed")) << waits.dump(1) << daemon_.said();
  EXPECT_EQ(waits["state"], "queued");
  EXPECT_NE(waits["reason"].dump().find("no space to write down how the job ends"),
            std::string::npos)
      << waits.dump(1);
  wait_until_full(true);
  ::sleep(3);  // it is found out by writing, not by starting the job again and again
  EXPECT_EQ(job(id)["attempts"].size(), 1U);
  EXPECT_EQ(lines(ran_), 0U);
  make_space();
  EXPECT_TRUE(comes_to(id, "done")) << daemon_.said();
  EXPECT_EQ(job(id)["attempts"].size(), 2U);
  EXPECT_EQ(lines(ran_), 1U);
}

}  // namespace
}  // namespace partita::live_test
