// Eight users of one GPU, one of whom floods the queue: what each of them got.
#include <map>

#include "live/live_fixture.h"

namespace partita::live_test {
namespace {

class Fairness : public Live {
 protected:
  static constexpr uid_t kFirstUser = 3001;
  static constexpr int kUsers = 8;

  Fairness() : Live("simulated:1xa100-40gb,change-time=0.05") {}

  bool submit_as(uid_t user, int jobs) {
    const std::string body = submission({"/bin/sleep", "0.5"}, "once", 4, jobs);
    return as_user(user, [&] {
             return cli::DaemonClient(daemon_.socket()).ask("POST", "/v1/jobs", body).good() ? 0
                                                                                             : 1;
           }) == 0;
  }
  // Slice-seconds by user.
  std::map<std::uint32_t, double> used() {
    std::map<std::uint32_t, double> totals;
    const Json share = daemon_.get("/v1/share");
    for (const Json& user : share["users"]) totals[user["uid"]] = user["total"];
    return totals;
  }
};

TEST_F(Fairness, AFloodTakesNothingOfTheSharesOfOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << "jobs of several users need root";
  ASSERT_TRUE(daemon_.start()) << daemon_.said();
  ASSERT_TRUE(submit_as(kFirstUser, 500));
  for (uid_t i = 1; i < kUsers; ++i) ASSERT_TRUE(submit_as(kFirstUser + i, 60));
  double total = 0;
  std::map<std::uint32_t, double> each;
  for (int i = 0; i < 1'200 && total < 20 * kUsers; ++i) {
    ::usleep(100'000);
    each = used();
    total = 0;
    for (const auto& [user, seconds] : each) total += seconds;
  }
  ASSERT_GE(total, 20 * kUsers) << "the jobs do not run";
  ASSERT_EQ(each.size(), kUsers);
  for (const auto& [user, seconds] : each) {
    EXPECT_NEAR(seconds, total / kUsers, 0.1 * total / kUsers) << user;
  }
}

}  // namespace
}  // namespace partita::live_test
