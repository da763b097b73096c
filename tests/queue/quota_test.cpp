#include "control/jobs/explain.h"
#include "queue/queue_rig.h"

namespace partita::control {
namespace {

// Every slice is a whole GPU, of seven compute slices.
class QuotaGates : public test::QueueRig {
 protected:
  QuotaGates() : QueueRig(4) {}

  void rule(QuotaHolder kind, std::uint32_t id, QuotaAmounts most) {
    options_.quotas.rules.push_back({kind, id == 1000 ? "ann" : "", id, std::move(most)});
  }
  static QuotaAmounts slices(std::int64_t most) {
    QuotaAmounts amounts;
    amounts.slices = most;
    return amounts;
  }
  std::size_t running() const { return controller_->count(JobState::kRunning); }
  std::size_t events(std::int64_t job, const std::string& kind) {
    const auto all = store_.events({job}, 1'000);
    return static_cast<std::size_t>(
        std::ranges::count(*all, kind, [](const auto& event) { return event.kind; }));
  }
  void pass(std::int64_t seconds) {
    now_ += Micros::seconds(seconds);
    step({});
  }
};

TEST_F(QuotaGates, OneDecisionStartsNoMoreThanTheyLeave) {
  rule(QuotaHolder::kUser, 1000, slices(14));
  boot();
  submit(spec(), 5);
  EXPECT_EQ(running(), 2U) << "although four GPUs are idle";
  EXPECT_EQ(reason(3), "quota: user ann holds 14 of 14 slices");
  const Reply other = submit(spec(), 1, {1001, 7});
  EXPECT_EQ(state(other.jobs.front().value), "running") << "others are not held up";
  end(1);
  EXPECT_EQ(running(), 3U);
  EXPECT_EQ(state(3), "running");
  EXPECT_EQ(events(5, "waits"), 1U) << "not again with every job that starts or ends";
}

TEST_F(QuotaGates, ThatLeaveSomeSlicesSayWhich) {
  QuotaAmounts no_small;
  no_small.instances = {{1, 0}, {2, 0}};
  rule(QuotaHolder::kUser, 1000, no_small);
  boot();
  submit(spec(), 5);
  const std::vector<std::string> why = why_waiting(*controller_, *controller_->find({5}));
  EXPECT_NE(std::ranges::find(why,
                              "quota: of what has the memory it may start on 3g.20gb, "
                              "4g.20gb, 7g.40gb now"),
            why.end())
      << testing::PrintToString(why);
}

TEST_F(QuotaGates, StandAfterARestart) {
  rule(QuotaHolder::kUser, 1000, slices(14));
  boot();
  submit(spec(), 5);
  boot();
  EXPECT_EQ(running(), 2U);
  end(2);
  EXPECT_EQ(running(), 2U);
  options_.quotas = {};
  boot();
  EXPECT_EQ(running(), 4U) << "without them what waited starts";
}

TEST_F(QuotaGates, StopNothingThatRuns) {
  submit(spec(), 3);
  rule(QuotaHolder::kUser, 1000, slices(7));
  boot();
  EXPECT_EQ(running(), 3U);
  const std::int64_t next = add(spec());
  EXPECT_EQ(reason(next), "quota: user ann holds 21 of 7 slices");
  end(1);
  end(2);
  EXPECT_EQ(state(next), "queued");
  end(3);
  EXPECT_EQ(state(next), "running");
}

TEST_F(QuotaGates, OfAGroupHoldItsUsersTogether) {
  rule(QuotaHolder::kGroup, 500, slices(14));
  boot();
  submit(spec(), 1, {1001, 500});
  submit(spec(), 1, {1002, 500});
  submit(spec(), 1, {1003, 500});
  submit(spec(), 1, {1003, 501});
  EXPECT_EQ(reason(3), "quota: group 500 holds 14 of 14 slices");
  EXPECT_EQ(state(4), "running");
  end(1);
  EXPECT_EQ(state(3), "running");
}

TEST_F(QuotaGates, OfAUserDoNotKeepOthersOfTheGroupWaiting) {
  rule(QuotaHolder::kUser, 1000, slices(7));
  rule(QuotaHolder::kGroup, 500, slices(14));
  boot();
  submit(spec(), 40, {1000, 500});
  const Reply other = submit(spec(), 1, {1001, 500});
  EXPECT_EQ(state(other.jobs.front().value), "running");
}

TEST_F(QuotaGates, AndTheLimitOfAnArrayHoldBoth) {
  QuotaAmounts two;
  two.running = 2;
  rule(QuotaHolder::kUser, 1000, two);
  boot();
  JobSpec one_at_once = spec();
  one_at_once.array_limit = 1;
  submit(one_at_once, 30);
  const std::int64_t other = add(spec());
  const std::int64_t third = add(spec());
  EXPECT_EQ(state(1), "running");
  EXPECT_EQ(reason(2), "of the array 1 at most 1 run at once");
  EXPECT_EQ(state(other), "running");
  EXPECT_EQ(reason(third), "quota: user ann has 2 of 2 running jobs");
  end(1);
  EXPECT_EQ(running(), 2U);
  for (int i = 0; i < 40 && running() > 0; ++i) {
    for (const auto& [id, job] : controller_->jobs()) {
      if (job.state() != JobState::kRunning) continue;
      end(id.value);
      break;
    }
    EXPECT_LE(running(), 2U);
  }
  EXPECT_EQ(controller_->count(JobState::kDone), 32U) << "and all end";
}

TEST_F(QuotaGates, MoreJobsThanMayBeAreRefused) {
  QuotaAmounts three;
  three.jobs = 3;
  rule(QuotaHolder::kDefault, 0, three);
  boot();
  EXPECT_EQ(submit(spec(), 3).kind, Reply::Kind::kAccepted);
  const Reply full = submit(spec());
  EXPECT_EQ(full.kind, Reply::Kind::kFull);
  EXPECT_EQ(full.message,
            "quota: user 1000 may have at most 3 jobs in the queue, has 3 and asks for 1");
  EXPECT_EQ(submit(spec(), 1, {1001, 1}).kind, Reply::Kind::kAccepted);
  end(1);
  EXPECT_EQ(submit(spec()).kind, Reply::Kind::kAccepted);
  EXPECT_EQ(step({Requeue{1, {1}}}).at(0).kind, Reply::Kind::kFull);
}

TEST_F(QuotaGates, WhatCouldNeverStartIsRefused) {
  rule(QuotaHolder::kUser, 1000, slices(3));
  boot();
  JobSpec large = spec();
  large.memory_gib = 30;
  const Reply never = submit(large);
  EXPECT_EQ(never.kind, Reply::Kind::kRefused);
  EXPECT_EQ(never.message,
            "quota: user ann may hold 3 slices, and the smallest that fits, 7g.40gb, has 7");
}

TEST_F(QuotaGates, OfAPeriodStopAdmittingWhenCrossedAndAdmitAgainWithTheNext) {
  QuotaAmounts hours;
  hours.gpu_hours = 2;
  rule(QuotaHolder::kUser, 1000, hours);
  options_.quotas.period = QuotaPeriod::kDay;
  boot();
  submit(spec(), 6);
  EXPECT_EQ(running(), 4U);
  pass(3'600);
  EXPECT_EQ(running(), 4U) << "nobody is stopped";
  EXPECT_EQ(reason(5).substr(0, 23), "quota: user ann used 4.");
  const auto wake = controller_->next_wake();
  ASSERT_TRUE(wake.has_value());
  for (int job = 1; job <= 4; ++job) end(job);
  boot();
  EXPECT_EQ(running(), 0U) << "what was used is known after a restart";
  now_ = Micros::seconds(86'400);
  step({});
  EXPECT_EQ(running(), 2U);
}

TEST_F(QuotaGates, AreCrossedBetweenTwoEvents) {
  QuotaAmounts hours;
  hours.gpu_hours = 1;
  rule(QuotaHolder::kUser, 1000, hours);
  boot();
  add(spec());
  const Micros began = Micros{controller_->find({1})->attempt().started_us};
  step({});
  // Uncut has a timer of its own, a second apart; nothing but quotas can be later than that.
  const Quotas& quotas = controller_->quotas();
  EXPECT_EQ(quotas.next_time(), began + Micros::seconds(3'600));
}

TEST_F(QuotaGates, UsageOutlivesTheJobs) {
  QuotaAmounts hours;
  hours.gpu_hours = 1;
  rule(QuotaHolder::kUser, 1000, hours);
  options_.limits.finished_jobs_kept_max = 1;
  boot();
  add(spec());
  add(spec());
  pass(3'600);
  end(1);
  end(2);
  boot();
  EXPECT_EQ(controller_->find({1}), nullptr) << "forgotten";
  const std::int64_t next = add(spec());
  EXPECT_EQ(reason(next).substr(0, 23), "quota: user ann used 2.");
}

TEST_F(QuotaGates, AQueueOfManyIsNotShownToPolicies) {
  rule(QuotaHolder::kUser, 1000, slices(7));
  boot();
  submit(spec(), 1'000);
  const auto known = std::ranges::count_if(
      controller_->jobs(), [](const auto& each) { return each.second.handle.valid(); });
  EXPECT_LE(known, 7 + Quotas::kAhead);
  EXPECT_EQ(reason(1'000), "quota: other jobs of user ann come first");
  cancel(1);
  end(1, 143);
  EXPECT_EQ(state(2), "running");
  EXPECT_EQ(running(), 1U);
}

}  // namespace
}  // namespace partita::control
