#include "control/jobs/job_table.h"

#include <gtest/gtest.h>

#include "control/jobs/test_support.h"

namespace partita::control {
namespace {

JobSpec spec_named(const std::string& name) {
  JobSpec spec;
  spec.argv = {"train"};
  spec.directory = "/";
  spec.name = name;
  return spec;
}

// A queued job goes through all states to its end.
void finish(JobTable& jobs, Job& job, Micros now) {
  jobs.set_state(job, JobState::kStarting, "", now);
  jobs.set_state(job, JobState::kRunning, "", now);
  jobs.set_state(job, JobState::kDone, "", now);
  jobs.note_ended(job);
}

TEST(JobTable, NumbersJobsFromOneAndCountsStates) {
  JobTable jobs;
  EXPECT_EQ(jobs.add(kAnna, "", spec_named("a"), {}).id, JobNumber{1});
  Job& second = jobs.add(kBen, "", spec_named("b"), {});
  EXPECT_EQ(second.id, JobNumber{2});
  EXPECT_EQ(jobs.count(JobState::kQueued), 2U);
  finish(jobs, second, {7});
  EXPECT_EQ(jobs.count(JobState::kQueued), 1U);
  EXPECT_EQ(jobs.count(JobState::kDone), 1U);
  EXPECT_EQ(jobs.not_ended(), 1U);
  EXPECT_EQ(jobs.find({3}), nullptr);
}

TEST(JobTable, FindsAJobByTheHandleThatPoliciesHave) {
  JobTable jobs;
  jobs.set_handle(jobs.add(kAnna, "", spec_named("a"), {}), cluster::JobHandle{9});
  EXPECT_EQ(jobs.of(cluster::JobHandle{9}).id, JobNumber{1});
}

TEST(JobTable, ALimitOfTheQueueAndOneOfAUserAreToldApart) {
  JobTable jobs;
  Limits limits;
  limits.queue_jobs_max = 3;
  limits.queue_jobs_per_user_max = 2;
  jobs.add(kAnna, "", spec_named("a"), {});
  EXPECT_FALSE(jobs.no_room_for(kAnna, 1, limits));
  EXPECT_EQ(jobs.no_room_for(kAnna, 2, limits), "one user may have at most 2 jobs in the queue");
  EXPECT_FALSE(jobs.no_room_for(kBen, 2, limits));
  EXPECT_EQ(jobs.no_room_for(kBen, 3, limits), "the queue holds at most 3 jobs");
  finish(jobs, jobs.at({1}), {});
  EXPECT_FALSE(jobs.no_room_for(kAnna, 2, limits)) << "ended jobs do not count";
}

TEST(JobTable, AKeyIsItsOwnersAndGoesWithItsJobs) {
  JobTable jobs;
  Job& job = jobs.add(kAnna, "k", spec_named("a"), {});
  jobs.set_key(kAnna, "k", {job.id});
  ASSERT_NE(jobs.with_key(kAnna, "k"), nullptr);
  EXPECT_EQ(jobs.with_key(kBen, "k"), nullptr);
  EXPECT_EQ(jobs.with_key(kAnna, ""), nullptr);
  finish(jobs, job, {});
  EXPECT_EQ(jobs.forget_oldest(0, {}), std::vector<JobNumber>{{1}});
  EXPECT_EQ(jobs.with_key(kAnna, "k"), nullptr);
}

TEST(JobTable, TheOldestThatEndedAreForgottenButNotBeforeTheyAreWritten) {
  JobTable jobs;
  for (int i = 0; i < 4; ++i) jobs.add(kAnna, "", spec_named("a"), {});
  for (const std::int64_t id : {2, 1, 4}) finish(jobs, jobs.at({id}), {id});
  EXPECT_EQ(jobs.forget_oldest(2, {{2}}), std::vector<JobNumber>{}) << "its row is on its way";
  EXPECT_EQ(jobs.forget_oldest(2, {}), std::vector<JobNumber>{{1}});
  EXPECT_EQ(jobs.find({1}), nullptr);
  EXPECT_NE(jobs.find({3}), nullptr) << "has not ended";
  EXPECT_EQ(jobs.count(JobState::kDone), 2U);
}

TEST(JobTable, ARestartHasACauseThatGoesWithIt) {
  JobTable jobs;
  Job& job = jobs.add(kAnna, "", spec_named("a"), {});
  jobs.set_state(job, JobState::kStarting, "", {});
  jobs.set_state(job, JobState::kRestarting, "", {}, store::StopCause::kMemory);
  EXPECT_EQ(job.progress.stop_cause, store::StopCause::kMemory);
  jobs.set_state(job, JobState::kQueued, "", {});
  EXPECT_EQ(job.progress.stop_cause, store::StopCause::kNone);
}

// A store of version 3 with one job: of its last attempt, and why it is being stopped.
store::Contents version3(const std::string& why, const store::AttemptRow& attempt) {
  store::Contents contents;
  store::JobRow row;
  row.progress.id = {1};
  row.progress.state = static_cast<std::int64_t>(JobState::kRestarting);
  row.progress.attempt = 1;
  row.progress.reason = why;
  row.spec = encode_spec(spec_named("a"));
  contents.jobs = {row};
  contents.attempts = {attempt};
  contents.attempts[0].job = {1};
  return contents;
}

TEST(JobTable, ReadsInTheWordsOfOlderStoresWhyAJobIsBeingStopped) {
  const auto read = [](const std::string& why) {
    JobTable jobs;
    EXPECT_TRUE(jobs.read(version3(why, {})).ok());
    EXPECT_EQ(jobs.at({1}).attempt().outcome, store::AttemptOutcome::kNone) << "it has not ended";
    return jobs.at({1}).progress.stop_cause;
  };
  using store::StopCause;
  EXPECT_EQ(read("preempted"), StopCause::kPreempted);
  EXPECT_EQ(read("preempted: job 9 takes its slice"), StopCause::kPreempted);
  EXPECT_EQ(read("its memory is projected to outgrow the slice"), StopCause::kMemory);
  EXPECT_EQ(read("its slice vanished"), StopCause::kDevice);
  EXPECT_EQ(read("its GPU is out: it was preempted"), StopCause::kDevice);
}

TEST(JobTable, ReadsInTheWordsOfOlderStoresHowAnAttemptEnded) {
  const auto read = [](const std::string& reason, int exit_code = -1, int signal = 0) {
    store::AttemptRow row;
    row.state = static_cast<std::int64_t>(AttemptState::kEnded);
    row.reason = reason;
    row.exit_code = exit_code;
    row.signal = signal;
    JobTable jobs;
    EXPECT_TRUE(jobs.read(version3("", row)).ok());
    return jobs.at({1}).attempt().outcome;
  };
  using store::AttemptOutcome;
  EXPECT_EQ(read("lost: its process vanished"), AttemptOutcome::kLost);
  EXPECT_EQ(read("out of memory, exit status 1", 1), AttemptOutcome::kOutOfMemory);
  EXPECT_EQ(read("time limit, signal 15", -1, 15), AttemptOutcome::kTimeLimit);
  EXPECT_EQ(read("exit status 0", 0), AttemptOutcome::kExited);
  EXPECT_EQ(read("signal 9", -1, 9), AttemptOutcome::kExited);
  EXPECT_EQ(read("never started"), AttemptOutcome::kNotStarted);
  EXPECT_EQ(read("/bin/x cannot be run: No such file"), AttemptOutcome::kNotStarted);
}

TEST(JobTable, ReadsWhatWasWrittenAndRefusesWhatIsIncomplete) {
  store::Contents contents;
  store::JobRow row;
  row.progress.id = {5};
  row.progress.state = static_cast<std::int64_t>(JobState::kQueued);
  row.uid = kAnna.uid;
  row.key = "k";
  row.spec = encode_spec(spec_named("a"));
  contents.jobs = {row};
  JobTable jobs;
  ASSERT_TRUE(jobs.read(contents).ok());
  EXPECT_EQ(jobs.at({5}).spec.name, "a");
  EXPECT_NE(jobs.with_key(kAnna, "k"), nullptr);
  EXPECT_EQ(jobs.add(kAnna, "", spec_named("b"), {}).id, JobNumber{6});

  contents.jobs[0].progress.attempt = 1;  // of which there is no row
  JobTable other;
  const Status read = other.read(contents);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message, "job 5 of the store is incomplete");
}

}  // namespace
}  // namespace partita::control
