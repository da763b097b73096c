#include "queue/queue_rig.h"

namespace partita::control {
namespace {

class Holding : public test::QueueRig {
 protected:
  Reply hold(std::int64_t job, bool admin = false) {
    return step({Hold{1, {job}, true, admin}}).at(0);
  }
  Reply release(std::int64_t job, bool admin = false) {
    return step({Hold{1, {job}, false, admin}}).at(0);
  }
};

TEST_F(Holding, AJobThatIsSubmittedHeldStartsWhenItIsReleased) {
  JobSpec wish = spec();
  wish.hold = true;
  const std::int64_t job = add(wish);
  EXPECT_EQ(state(job), "queued");
  EXPECT_EQ(reason(job), "held by its owner");
  boot();
  EXPECT_EQ(reason(job), "held by its owner") << "after a restart";
  EXPECT_EQ(release(job).kind, Reply::Kind::kDone);
  EXPECT_EQ(state(job), "running");
  EXPECT_EQ(release(job).kind, Reply::Kind::kDone) << "twice is no error";
}

TEST_F(Holding, AJobThatIsHeldWhileItWaitsLetsOthersPass) {
  const std::int64_t first = add(spec());
  const std::int64_t held = add(spec());
  const std::int64_t other = add(spec());
  EXPECT_EQ(hold(held).kind, Reply::Kind::kDone);
  end(first);
  EXPECT_EQ(state(held), "queued");
  EXPECT_EQ(state(other), "running");
  release(held);
  EXPECT_EQ(reason(held), "waits for a slice");
  end(other);
  EXPECT_EQ(state(held), "running");
}

TEST_F(Holding, OfAJobThatRunsCountsWhenItWaitsAgain) {
  const std::int64_t job = add(spec());
  hold(job);
  EXPECT_EQ(state(job), "running");
  lose(job);
  EXPECT_EQ(state(job), "queued");
  EXPECT_EQ(reason(job), "held by its owner");
  release(job);
  EXPECT_EQ(state(job), "running");
}

TEST_F(Holding, WhatAnAdminHoldsItsOwnerCannotRelease) {
  add(spec());
  const std::int64_t job = add(spec());
  hold(job);
  hold(job, true);
  EXPECT_EQ(reason(job), "held by an admin");
  hold(job);
  EXPECT_EQ(reason(job), "held by an admin");
  const Reply refused = release(job);
  EXPECT_EQ(refused.kind, Reply::Kind::kForbidden);
  EXPECT_EQ(refused.message, "job 2 is held by an admin, who releases it");
  EXPECT_EQ(release(job, true).kind, Reply::Kind::kDone);
  EXPECT_EQ(reason(job), "waits for a slice");
}

TEST_F(Holding, OfJobsThatEndedOrAreUnknownIsRefused) {
  const std::int64_t job = add(spec());
  end(job);
  EXPECT_EQ(hold(job).kind, Reply::Kind::kConflict);
  EXPECT_EQ(hold(99).kind, Reply::Kind::kNotFound);
}

TEST_F(Holding, AHeldJobCanBeCancelled) {
  JobSpec wish = spec();
  wish.hold = true;
  const std::int64_t job = add(wish);
  cancel(job);
  EXPECT_EQ(state(job), "cancelled");
}

}  // namespace
}  // namespace partita::control
