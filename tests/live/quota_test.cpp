// Quotas: what users may have at once and in a period, with the built daemon.
#include <sstream>

#include "live/live_fixture.h"

namespace partita::live_test {
namespace {

class QuotaDaemon : public Live {
 protected:
  QuotaDaemon() : Live("simulated:1xa100-40gb,change-time=0.1") {}

  // The daemon, with these lines in its file of quotas.
  bool start_with(const std::string& lines) {
    const std::string file = folder_.path() + "/quotas";
    std::ofstream(file) << lines;
    return daemon_.start({"--quotas", file});
  }
  std::string own() const { return "user " + std::to_string(::getuid()); }
  std::string sleeper(const char* seconds) {
    return submit({"--mem", "4G", "--", "/bin/sleep", seconds});
  }
  bool reaches(const std::string& id, const std::string& state) {
    for (int i = 0; i < 500; ++i) {
      if (job(id)["state"] == state) return true;
      ::usleep(20'000);
    }
    return false;
  }
  double used(const std::string& amount) {
    const Json quota = Json::parse(partita({"quota", "--json"}));
    for (const Json& each : quota["holders"][0]["amounts"]) {
      if (each["amount"] == amount) return each["used"];
    }
    return -1;
  }
};

TEST_F(QuotaDaemon, OneSliceIsHeldAtOnceAlsoAfterAKill) {
  ASSERT_TRUE(start_with(own() + " slices=1 gpu-hours=100\n")) << daemon_.said();
  const std::string first = sleeper("1");
  const std::string second = sleeper("1");
  const std::string third = sleeper("1");
  ASSERT_TRUE(reaches(first, "running"));
  EXPECT_EQ(job(second)["state"], "queued");
  EXPECT_EQ(job(second)["reason"], "quota: " + own() + " holds 1 of 1 slices");
  const std::string shown = partita({"quota"});
  std::istringstream line(shown.substr(std::min(shown.size(), shown.find(" slices "))));
  std::string amount, used_now, most;
  line >> amount >> used_now >> most;
  EXPECT_EQ(amount + " " + used_now + " " + most, "slices 1 1") << shown;
  daemon_.kill_now();
  ASSERT_TRUE(daemon_.start({"--quotas", folder_.path() + "/quotas"})) << daemon_.said();
  partita({"wait", first + "," + second + "," + third});
  // One after the other: none began before the one before it had ended.
  double last_end = 0;
  for (const std::string& id : {first, second, third}) {
    const Json attempt = job(id)["attempts"][0];
    EXPECT_GE(attempt["started_s"].get<double>(), last_end) << "job " << id;
    last_end = attempt["ended_s"].get<double>();
  }
  EXPECT_EQ(used("slices"), 0);
  EXPECT_GT(used("gpu-hours"), 3.0 / 7 / 3600);
  EXPECT_LT(used("gpu-hours"), 60.0 / 7 / 3600);
}

TEST_F(QuotaDaemon, WhatIsUsedUpLetsNothingStartAndIsKeptOverARestart) {
  ASSERT_TRUE(start_with("period month\n" + own() + " gpu-hours=0.0000001\n")) << daemon_.said();
  const std::string first = sleeper("0.5");
  partita({"wait", first});
  const std::string second = sleeper("0.1");
  const std::string why = job(second)["reason"];
  const std::string front = "quota: " + own() + " used ";
  ASSERT_TRUE(why.starts_with(front)) << why;
  EXPECT_GT(std::stod(why.substr(front.size())), 0.0000001) << why;
  EXPECT_NE(why.find(" of 1e-07 GPU-hours until 20"), std::string::npos) << why;
  EXPECT_EQ(partita({"quota"}).find(" 0.00 "), std::string::npos) << partita({"quota"});
  daemon_.kill_now();
  ASSERT_TRUE(daemon_.start({"--quotas", folder_.path() + "/quotas"})) << daemon_.said();
  EXPECT_EQ(job(second)["state"], "queued");
  daemon_.kill_now();
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  partita({"wait", second});
  EXPECT_EQ(job(second)["state"], "done") << "without quotas";
}

TEST_F(QuotaDaemon, OthersHaveTheirOwnAndSeeOnlyThat) {
  if (::getuid() != 0) GTEST_SKIP() << "needs another user";
  ASSERT_TRUE(start_with(own() + " jobs=50\ndefault jobs=1 7g=0\n")) << daemon_.said();
  EXPECT_EQ(as_nobody([&] {
              return run_to_end({program(), "submit", "--socket", daemon_.socket(), "--mem", "30G",
                                 "--", "/bin/true"});
            }),
            2)
      << "it could never start";
  EXPECT_EQ(as_nobody([&] {
              return run_to_end({program(), "submit", "--socket", daemon_.socket(), "--", "/bin/sh",
                                 "-c", "sleep 60"});
            }),
            0);
  EXPECT_EQ(
      as_nobody([&] {
        return run_to_end({program(), "submit", "--socket", daemon_.socket(), "--", "/bin/true"});
      }),
      5)
      << "429: later";
  EXPECT_EQ(
      as_nobody([&] {
        return run_to_end({program(), "quota", "--user", "root", "--socket", daemon_.socket()});
      }),
      4);
  const Json all = Json::parse(partita({"quota", "--json"}));
  EXPECT_EQ(all["holders"].size(), 2U);
  EXPECT_EQ(all["holders"][1]["id"], kNobody);
  EXPECT_EQ(all["holders"][1]["amounts"][0]["used"], 1);
  partita({"cancel", "1"});
}

TEST_F(QuotaDaemon, AFileThatIsWrongIsRefusedAtStart) {
  EXPECT_FALSE(start_with("user no-such-user slices=1\n"));
  EXPECT_NE(daemon_.said().find("/quotas:1: this machine has no user 'no-such-user'"),
            std::string::npos)
      << daemon_.said();
}

}  // namespace
}  // namespace partita::live_test
