#include "queue/queue_rig.h"

namespace partita::control {
namespace {

class Requeueing : public test::QueueRig {
 protected:
  Reply requeue(std::int64_t job) { return step({Requeue{1, {job}}}).at(0); }
};

TEST_F(Requeueing, AJobThatRunsSavesItsWorkIsStoppedAndWaitsAgain) {
  JobSpec wish = spec();
  wish.checkpoint = {"save"};
  const std::int64_t job = add(wish);
  const std::int64_t other = add(spec());
  EXPECT_EQ(requeue(job).kind, Reply::Kind::kDone);
  EXPECT_EQ(state(job), "restarting");
  EXPECT_TRUE(stopped_.at(job));
  boot();
  EXPECT_EQ(state(job), "restarting") << "after a restart";
  EXPECT_TRUE(stopped_.at(job));
  end(job, 143);
  EXPECT_EQ(state(other), "running");
  EXPECT_EQ(reason(job), "requeued on request; to begin again");
  end(other);
  EXPECT_EQ(state(job), "running");
  EXPECT_EQ(controller_->find({job})->progress.attempt, 2);
}

TEST_F(Requeueing, AJobThatEndedIsANewAttemptOfTheSameNumber) {
  const std::int64_t job = add(spec());
  end(job, 3);
  EXPECT_EQ(state(job), "failed");
  EXPECT_EQ(requeue(job).kind, Reply::Kind::kDone);
  EXPECT_EQ(state(job), "running");
  boot();
  end(job);
  EXPECT_EQ(state(job), "done");
  EXPECT_EQ(controller_->find({job})->attempts.size(), 2U);
  EXPECT_EQ(controller_->job_table().not_ended(), 0U);
}

TEST_F(Requeueing, DoesNotCountAmongTheAttemptsThatAreLimited) {
  const std::int64_t job = add(spec());
  for (int i = 0; i < 13; ++i) {
    requeue(job);
    end(job, 143);
  }
  boot();
  ASSERT_EQ(controller_->find({job})->progress.attempt, 14);
  lose(job);
  EXPECT_EQ(state(job), "running") << "it may begin again once";
  lose(job);
  EXPECT_EQ(state(job), "lost");
  requeue(job);
  lose(job);
  EXPECT_EQ(state(job), "running") << "and so again after somebody asked for it";
}

TEST_F(Requeueing, WhatRunsAfterAJobThatIsQueuedAgainWaitsForItAgain) {
  const std::int64_t job = add(spec());
  end(job);
  const std::int64_t busy = add(spec());
  JobSpec wish = spec();
  wish.after = {"1"};
  const std::int64_t next = add(wish);
  EXPECT_EQ(reason(next), "submitted");
  requeue(job);
  EXPECT_EQ(reason(next), "waits for job 1 to succeed");
  end(busy);
  EXPECT_EQ(state(job), "running");
  end(job);
  EXPECT_EQ(state(next), "running");
}

TEST_F(Requeueing, OfJobsThatWaitChangesNothingAndOfOthersIsRefused) {
  const std::int64_t job = add(spec());
  const std::int64_t waits = add(spec());
  EXPECT_EQ(requeue(waits).kind, Reply::Kind::kDone);
  EXPECT_EQ(state(waits), "queued");
  EXPECT_EQ(requeue(99).kind, Reply::Kind::kNotFound);
  cancel(job);
  EXPECT_EQ(requeue(job).kind, Reply::Kind::kConflict);
}

TEST_F(Requeueing, AJobThatIsNotToBeStartedAgainIsLostAtOnce) {
  JobSpec wish = spec();
  wish.no_requeue = true;
  const std::int64_t lost = add(wish);
  lose(lost);
  EXPECT_EQ(state(lost), "lost");
  EXPECT_EQ(reason(lost), "its process vanished; it is not to begin again");
  const std::int64_t stopped = add(wish);
  step({SliceFault{GpuId{0}, 0, "Xid 94"}});
  end(stopped, 143);
  EXPECT_EQ(state(stopped), "lost");
  requeue(stopped);
  EXPECT_EQ(controller_->find({stopped})->state(), JobState::kQueued) << "somebody asked for it";
}

TEST_F(Requeueing, AJobThatIsNotToBeStartedAgainFailsWhenItsMemoryIsOut) {
  JobSpec wish = spec();
  wish.no_requeue = true;
  const std::int64_t job = add(wish);
  launch::Report report;
  report.kind = launch::Report::Kind::kEnded;
  report.key = key_of(job);
  report.exit_code = 1;
  report.message = "CUDA out of memory";
  step({report});
  EXPECT_EQ(state(job), "failed");
}

}  // namespace
}  // namespace partita::control
