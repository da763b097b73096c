#include "queue/queue_rig.h"

namespace partita::control {
namespace {

// One GPU, and a first job that runs on it.
class Dependencies : public test::QueueRig {
 protected:
  Dependencies() { first_ = add(spec()); }

  static JobSpec after(std::vector<std::string> jobs) {
    JobSpec made = spec();
    made.after = std::move(jobs);
    return made;
  }

  std::int64_t first_ = 0;
};

TEST_F(Dependencies, AJobWaitsUntilTheOneItRunsAfterHasSucceeded) {
  const std::int64_t next = add(after({"1"}));
  EXPECT_EQ(state(next), "queued");
  EXPECT_EQ(reason(next), "waits for job 1 to succeed");
  end(first_);
  EXPECT_EQ(state(next), "running");
}

TEST_F(Dependencies, AJobWithoutThemGoesFirstAlthoughItCameLater) {
  const std::int64_t next = add(after({"1"}));
  const std::int64_t other = add(spec());
  const std::int64_t last = add(after({std::to_string(other)}));
  end(first_);
  EXPECT_EQ(state(other), "running");
  EXPECT_EQ(reason(next), "waits for a slice");
  EXPECT_EQ(reason(last), "waits for job 3 to succeed");
}

TEST_F(Dependencies, AJobEndsAsCancelledWhenTheOneThatHadToSucceedDoesNot) {
  const std::int64_t next = add(after({"1:ok"}));
  const std::int64_t after_next = add(after({std::to_string(next)}));
  end(first_, 3);
  EXPECT_EQ(state(next), "cancelled");
  EXPECT_EQ(reason(next), "job 1, which had to succeed first, failed");
  EXPECT_EQ(state(after_next), "cancelled");
  EXPECT_EQ(reason(after_next), "job 2, which had to succeed first, is cancelled");
}

TEST_F(Dependencies, HoweverItEndsIsEnoughWhereThatWasSaid) {
  const std::int64_t next = add(after({"1:any"}));
  EXPECT_EQ(reason(next), "waits for job 1 to end");
  end(first_, 3);
  EXPECT_EQ(state(next), "running");
}

TEST_F(Dependencies, AllOfThemHaveToEnd) {
  const std::int64_t second = add(spec());
  const std::int64_t next = add(after({"1", "2:any", "2"}));
  EXPECT_EQ(reason(next), "waits for job 1 to succeed and 2 more to end");
  end(first_);
  EXPECT_EQ(state(second), "running");
  EXPECT_EQ(reason(next), "waits for job 2 to end and 1 more to end");
  end(second);
  EXPECT_EQ(state(next), "running");
}

TEST_F(Dependencies, OfJobsThatHaveEndedTheyAreSettledAtOnce) {
  end(first_);
  const std::int64_t good = add(after({"1"}));
  EXPECT_EQ(state(good), "running");
  end(good, 3);
  EXPECT_EQ(state(add(after({"2:any"}))), "running");
  EXPECT_EQ(state(add(after({"2"}))), "cancelled");
}

TEST_F(Dependencies, OfJobsThatNobodyKnowsAreRefused) {
  const Reply reply = submit(after({"1", "99:any"}));
  EXPECT_EQ(reply.kind, Reply::Kind::kRefused);
  EXPECT_EQ(reply.message, "after names job 99, and there is none of that number");
}

TEST_F(Dependencies, StandAfterARestart) {
  const std::int64_t good = add(after({"1"}));
  const std::int64_t any = add(after({"2:any"}));
  boot();
  EXPECT_EQ(reason(good), "waits for job 1 to succeed");
  EXPECT_EQ(state(first_), "running");
  end(first_);
  EXPECT_EQ(state(good), "running");
  boot();
  EXPECT_EQ(reason(any), "waits for job 2 to end");
  end(good, 3);
  EXPECT_EQ(state(any), "running");
}

TEST_F(Dependencies, AJobThatWaitsForOneCanBeCancelled) {
  const std::int64_t next = add(after({"1"}));
  EXPECT_EQ(cancel(next).kind, Reply::Kind::kCancelled);
  EXPECT_EQ(state(next), "cancelled");
  end(first_);
  EXPECT_EQ(state(next), "cancelled");
}

// Each end is a step of the settling, not a call within the call before.
TEST_F(Dependencies, AChainOfAnyLengthEndsInOneTurn) {
  constexpr std::int64_t kJobs = 20'000;
  std::vector<Input> inputs;
  for (std::int64_t i = 1; i < kJobs; ++i) {
    inputs.push_back(Submit{1, {1000, 1000}, "", after({std::to_string(i)}), 1});
  }
  step(inputs);
  end(first_, 1);
  EXPECT_EQ(controller_->count(JobState::kCancelled), static_cast<std::size_t>(kJobs - 1));
}

}  // namespace
}  // namespace partita::control
