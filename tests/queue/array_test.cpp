#include "queue/queue_rig.h"

namespace partita::control {
namespace {

class Arrays : public test::QueueRig {
 protected:
  Arrays() : QueueRig(4) {}

  static JobSpec limited(std::int64_t limit) {
    JobSpec made = spec();
    made.array_limit = limit;
    return made;
  }
};

TEST_F(Arrays, EachMemberKnowsItsIndexAndTheFirst) {
  add(spec());
  const Reply reply = submit(spec(), 3);
  ASSERT_EQ(reply.jobs.size(), 3U);
  const auto& environment = started_.at(4).environment;
  EXPECT_NE(std::ranges::find(environment, "PARTITA_ARRAY_JOB=2"), environment.end());
  EXPECT_NE(std::ranges::find(environment, "PARTITA_ARRAY_INDEX=2"), environment.end());
  for (const std::string& each : started_.at(1).environment) {
    EXPECT_FALSE(each.starts_with("PARTITA_ARRAY")) << "of a job that is in no array";
  }
}

TEST_F(Arrays, AtMostItsLimitRunAtOnce) {
  submit(limited(2), 5);
  EXPECT_EQ(controller_->count(JobState::kRunning), 2U);
  EXPECT_EQ(reason(3), "of the array 1 at most 2 run at once");
  const std::int64_t other = add(spec());
  EXPECT_EQ(state(other), "running") << "others are not held up";
  end(1);
  EXPECT_EQ(state(3), "running");
  EXPECT_EQ(state(4), "queued");
  end(2, 7);
  end(3);
  EXPECT_EQ(state(4), "running");
  EXPECT_EQ(state(5), "running");
}

TEST_F(Arrays, TheLimitStandsAfterARestart) {
  submit(limited(2), 5);
  boot();
  EXPECT_EQ(controller_->count(JobState::kRunning), 2U);
  end(2);
  EXPECT_EQ(state(3), "running");
  EXPECT_EQ(controller_->count(JobState::kRunning), 2U);
}

TEST_F(Arrays, AMemberThatIsHeldOrCancelledMakesRoomForTheNext) {
  submit(limited(1), 4);
  step({Hold{1, {2}, true, false}});
  cancel(3);
  end(1);
  EXPECT_EQ(state(2), "queued");
  EXPECT_EQ(state(4), "running");
  step({Hold{1, {2}, false, false}});
  EXPECT_EQ(reason(2), "of the array 1 at most 1 run at once");
  end(4);
  EXPECT_EQ(state(2), "running");
}

TEST_F(Arrays, AMemberThatBeginsAgainKeepsItsPlace) {
  submit(limited(1), 2);
  lose(1);
  EXPECT_EQ(state(1), "running");
  EXPECT_EQ(state(2), "queued");
}

}  // namespace
}  // namespace partita::control
