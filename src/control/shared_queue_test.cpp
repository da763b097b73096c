#include "control/shared_queue.h"

#include <gtest/gtest.h>

#include "control/jobs/test_support.h"

namespace partita::control {
namespace {

class NoScheduler : public decide::Scheduler {
 public:
  void begin(const decide::View&) override {}
  void job_arrived(const decide::View&, cluster::JobHandle) override {}
  void job_stopped(const decide::View&, cluster::JobHandle) override {}
  void job_done(const decide::View&, cluster::JobHandle) override {}
  void job_withdrawn(const decide::View&, cluster::JobHandle) override {}
  void job_returned(const decide::View&, cluster::JobHandle) override {}
  void layout_changed(const decide::View&) override {}
  void decide(const decide::View&, decide::Decision&) override {}
};

class SharedQueueTest : public testing::Test {
 protected:
  Job& job_of(const launch::Owner& owner) {
    JobSpec spec;
    spec.argv = {"train"};
    return jobs_.add(owner, "", spec, {});
  }
  void add_attempt(Job& job, const std::string& profile, std::int64_t from_s, std::int64_t until_s,
                   double joules = 0) {
    store::AttemptRow row;
    row.job = job.id;
    row.number = static_cast<std::int64_t>(job.attempts.size()) + 1;
    row.profile = profile;
    row.started_us = Micros::seconds(from_s).count;
    row.ended_us = Micros::seconds(until_s).count;
    row.energy_j = joules;
    job.attempts.push_back(row);
  }
  std::vector<UserShare> users_at(std::int64_t now_s) {
    SharedQueue queue(rules_, jobs_, fleet_, scheduler_,
                      [] { return std::make_unique<NoScheduler>(); });
    queue.read_usage(model_, Micros::seconds(now_s));
    return queue.users(Micros::seconds(now_s));
  }

  const mig::GpuModel& model_ = **mig::find_gpu("a100-40gb");
  decide::ActiveJobs active_;
  Fleet fleet_{model_, {{"GPU-0", "A100", GpuId{0}}}, active_};
  JobTable jobs_;
  NoScheduler scheduler_;
  decide::QueueRules rules_{.reserve_after = {},
                            .fair_share = decide::FairOrder::kSliceSeconds,
                            .half_life = Micros::seconds(100)};
};

TEST_F(SharedQueueTest, WhatUsersHadFollowsFromTheirAttempts) {
  Job& first = job_of(kAnna);
  add_attempt(first, "3g.20gb", 10, 20);
  add_attempt(first, "1g.5gb", 40, 140);
  add_attempt(job_of(kBen), "7g.40gb", 200, 0);  // it still runs
  const std::vector<UserShare> users = users_at(250);
  ASSERT_EQ(users.size(), 2U);
  EXPECT_EQ(users[0].uid, kAnna.uid);
  EXPECT_NEAR(users[0].total, 3 * 10 + 100, 1e-9);
  EXPECT_EQ(users[1].uid, kBen.uid);
  EXPECT_NEAR(users[1].total, 7 * 50, 1e-9);
}

TEST_F(SharedQueueTest, WhatIsAHalfLifeAgoCountsHalf) {
  add_attempt(job_of(kAnna), "1g.5gb", 10, 11);
  const double soon = users_at(11).front().usage;
  EXPECT_NEAR(soon, 1, 0.01);
  EXPECT_NEAR(users_at(111).front().usage, soon / 2, 1e-9);
  EXPECT_NEAR(users_at(111).front().total, 1, 1e-9);
}

TEST_F(SharedQueueTest, AttemptsThatRanAtTheSameTimeAddUp) {
  add_attempt(job_of(kAnna), "1g.5gb", 10, 30);
  add_attempt(job_of(kAnna), "2g.10gb", 20, 40);
  EXPECT_NEAR(users_at(50).front().total, 20 + 2 * 20, 1e-9);
}

TEST_F(SharedQueueTest, JoulesAreThoseThatWereMeasured) {
  rules_.fair_share = decide::FairOrder::kJoules;
  add_attempt(job_of(kAnna), "1g.5gb", 10, 30, 500);
  EXPECT_NEAR(users_at(50).front().total, 500, 1e-9);
}

TEST_F(SharedQueueTest, SharesAreByUid) {
  rules_.weights = {{"1001", 3}};
  add_attempt(job_of(kAnna), "1g.5gb", 1, 2);
  const std::vector<UserShare> users = users_at(5);
  ASSERT_EQ(users.size(), 2U);
  EXPECT_EQ(users[0].weight, 1);
  EXPECT_EQ(users[1].weight, 3);
}

TEST_F(SharedQueueTest, NobodyIsListedWhereUsersDoNotShare) {
  rules_.fair_share = decide::FairOrder::kOff;
  add_attempt(job_of(kAnna), "1g.5gb", 1, 2);
  EXPECT_TRUE(users_at(5).empty());
}

}  // namespace
}  // namespace partita::control
