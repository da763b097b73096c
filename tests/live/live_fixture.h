// Live: the fixture of tests that run the built daemon and its commands as a user would.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "live/daemon_process.h"
#include "store/test_support.h"

namespace partita::live_test {

using Json = nlohmann::ordered_json;

constexpr uid_t kNobody = 65534;

class Live : public testing::Test {
 protected:
  explicit Live(const std::string& backend = "simulated:2xa100-40gb,change-time=0.1")
      : daemon_(folder_.path(), backend) {}

  // Runs `partita WORDS --socket ...`; what it printed.
  std::string partita(std::vector<std::string> words, int status = 0) {
    const auto dashes = std::find(words.begin(), words.end(), "--");
    words.insert(dashes, {"--socket", daemon_.socket()});
    return printed(std::move(words), status);
  }
  // Runs `partita WORDS` as they stand.
  std::string printed(std::vector<std::string> words, int status = 0) {
    words.insert(words.begin(), program());
    const std::string path = folder_.path() + "/printed";
    std::filesystem::remove(path);
    EXPECT_EQ(run_to_end(words, path), status) << read(path);
    return read(path);
  }
  static std::string read(const std::string& path) {
    std::ifstream in(path);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  Json job(const std::string& id) { return Json::parse(partita({"job", id, "--json"})); }
  std::string submit(std::vector<std::string> words) {
    words.insert(words.begin(), "submit");
    std::string id = partita(std::move(words));
    if (!id.empty()) id.pop_back();
    return id;
  }

  // Runs `what` as somebody who is no admin; its exit status.
  int as_nobody(const std::function<int()>& what) { return as_user(kNobody, what); }
  // REQUIRES: the test runs as root.
  int as_user(uid_t user, const std::function<int()>& what) {
    ::chmod(folder_.path().c_str(), 0755);
    ::chmod(daemon_.socket().c_str(), 0666);
    const pid_t child = ::fork();
    if (child == 0) {
      const bool other = ::setresgid(user, user, user) == 0 && ::setresuid(user, user, user) == 0;
      ::_exit(other ? what() : 255);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status_of(status);
  }

  store::test::TemporaryFolder folder_;
  DaemonProcess daemon_;
};

inline bool has_event(const Json& job, const std::string& kind) {
  return std::ranges::any_of(job["events"],
                             [&](const Json& event) { return event["kind"] == kind; });
}

}  // namespace partita::live_test
