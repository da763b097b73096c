#include "experiment/runner.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "base/rng.h"
#include "experiment/definition.h"
#include "experiment/results/result_file.h"
#include "experiment/test_support.h"

namespace partita::experiment {
namespace {

// A run whose figures depend on its key alone, and which takes some time.
Result<RunRecord> pretended_run(const RunKey& key, std::chrono::microseconds time) {
  std::this_thread::sleep_for(time);
  RunRecord record = record_of(key);
  Rng rng(key.seed, key.policy.size());
  record.energy_j = rng.lognormal(18, 1);
  record.et = rng.uniform();
  return record;
}

std::vector<Task> pretended_tasks(std::uint64_t days, std::chrono::microseconds time = {}) {
  std::vector<Task> tasks;
  for (const char* setting : {"rate=20", "rate=12"}) {
    for (const char* policy : {"cedf", "alpha", "lookahead"}) {
      for (std::uint64_t day = 0; day < days; ++day) {
        const RunKey key{setting, policy, day_seed(Role::kTest, day)};
        tasks.push_back({key, [key, time] { return pretended_run(key, time); }});
      }
    }
  }
  return tasks;
}

// Every call counts, so that one can see what was repeated.
std::vector<Task> counted(std::vector<Task> tasks, std::atomic<int>& calls) {
  for (Task& task : tasks) {
    task.run = [run = task.run, &calls] {
      ++calls;
      return run();
    };
  }
  return tasks;
}

class Runner : public ::testing::Test {
 protected:
  RunnerOptions options(std::uint32_t threads = 2) const {
    return {.path = path_, .definition = "one", .threads = threads};
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.file("x.runs.jsonl");
};

TEST_F(Runner, TheFileIsTheSameWhateverTheNumberOfThreads) {
  std::string first;
  for (const std::uint32_t threads : {1U, 2U, 7U}) {
    const std::string path = folder_.file(std::to_string(threads));
    RunnerOptions with = options(threads);
    with.path = path;
    const Result<Outcome> outcome = run_tasks(pretended_tasks(20), with);
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome->records, *read_results(path));
    EXPECT_EQ(outcome->records.size(), 120);
    EXPECT_TRUE(std::ranges::is_sorted(outcome->records, {}, &RunRecord::key));
    if (first.empty()) first = text_of(path);
    EXPECT_EQ(text_of(path), first);
  }
}

TEST_F(Runner, RunsInTheFileAreNotRepeated) {
  std::atomic<int> calls = 0;
  ASSERT_TRUE(run_tasks(counted(pretended_tasks(2), calls), options()).ok());
  EXPECT_EQ(calls, 12);
  const std::string two_days = text_of(path_);
  ASSERT_TRUE(run_tasks(counted(pretended_tasks(2), calls), options()).ok());
  EXPECT_EQ(calls, 12);
  EXPECT_EQ(text_of(path_), two_days);
  ASSERT_TRUE(run_tasks(counted(pretended_tasks(5), calls), options()).ok());
  EXPECT_EQ(calls, 30);
}

TEST_F(Runner, TheFinalFileHoldsWhatWasAskedForAndARoundKeepsTheRest) {
  ASSERT_TRUE(run_tasks(pretended_tasks(2), options()).ok());
  const std::string two_days = text_of(path_);
  ASSERT_TRUE(run_tasks(pretended_tasks(5), options()).ok());
  RunnerOptions round = options();
  round.ending = Ending::kRound;
  EXPECT_EQ(run_tasks(pretended_tasks(2), round)->records.size(), 12);
  EXPECT_EQ(read_results(path_)->size(), 30);
  EXPECT_EQ(run_tasks(pretended_tasks(2), options())->records.size(), 12);
  EXPECT_EQ(text_of(path_), two_days);
}

TEST_F(Runner, RunsOfAnotherDefinitionAreRefusedOrDiscarded) {
  ASSERT_TRUE(run_tasks(pretended_tasks(2), options()).ok());
  const std::string before = text_of(path_);
  RunnerOptions other = options();
  other.definition = "two";
  const Result<Outcome> refused = run_tasks(pretended_tasks(2), other);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, path_ + " holds runs of another definition (fingerprint " +
                                         fingerprint("one") + ", this one has " +
                                         fingerprint("two") +
                                         "): --restart throws them away, --out-dir keeps the new "
                                         "ones elsewhere");
  EXPECT_EQ(text_of(path_), before);
  std::atomic<int> calls = 0;
  other.existing = Existing::kDiscard;
  ASSERT_TRUE(run_tasks(counted(pretended_tasks(2), calls), other).ok());
  EXPECT_EQ(calls, 12);
  EXPECT_FALSE(run_tasks(pretended_tasks(2), options()).ok());
}

TEST_F(Runner, RunsWithoutADefinitionAreRefused) {
  ASSERT_TRUE(run_tasks(pretended_tasks(2), options()).ok());
  std::filesystem::remove(folder_.file("x.meta.json"));
  EXPECT_EQ(run_tasks(pretended_tasks(2), options()).error().message,
            path_ + " holds runs, but " + folder_.file("x.meta.json") +
                " is missing, which says of what: --restart throws them away, --out-dir keeps the "
                "new ones elsewhere");
}

TEST_F(Runner, AnErrorStopsItAndKeepsWhatIsFinished) {
  std::vector<Task> tasks = pretended_tasks(10);
  tasks[30].run = [] { return Result<RunRecord>(Error{"out of luck"}); };
  for (const std::uint32_t threads : {1U, 3U}) {
    RunnerOptions with = options(threads);
    with.existing = Existing::kDiscard;
    const Result<Outcome> outcome = run_tasks(tasks, with);
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().message, tasks[30].key.text() + ": out of luck");
    const std::size_t kept = read_results(path_)->size();
    EXPECT_GE(kept, 30);
    EXPECT_LE(kept, threads == 1 ? 30 : 59);
    std::atomic<int> calls = 0;
    ASSERT_TRUE(run_tasks(counted(pretended_tasks(10), calls), options()).ok());
    EXPECT_EQ(calls, 60 - static_cast<int>(kept));
  }
}

TEST_F(Runner, ARunAskedForTwiceIsAnError) {
  std::vector<Task> tasks = pretended_tasks(1);
  tasks.push_back(tasks.front());
  EXPECT_EQ(run_tasks(tasks, options()).error().message,
            "the run rate=20, cedf, day 1000000 is asked for twice");
}

TEST_F(Runner, CancellingFinishesWhatIsUnderWayAndCanBeResumed) {
  std::atomic<bool> cancel = false;
  RunnerOptions with = options();
  with.cancel = &cancel;
  with.progress = [&](const Progress& progress) { cancel = progress.done >= 10; };
  const Result<Outcome> outcome = run_tasks(pretended_tasks(10), with);
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->cancelled);
  EXPECT_GE(outcome->records.size(), 10);
  EXPECT_LE(outcome->records.size(), 11);
  EXPECT_EQ(read_results(path_)->size(), outcome->records.size());
  EXPECT_FALSE(run_tasks(pretended_tasks(10), options())->cancelled);
}

TEST_F(Runner, ProgressCountsUpAndForetellsTheEnd) {
  ASSERT_TRUE(run_tasks(pretended_tasks(1), options()).ok());
  std::vector<Progress> seen;
  double now = 100;
  RunnerOptions with = options(1);
  with.seconds_now = [&] { return now++; };
  with.progress = [&](const Progress& progress) { seen.push_back(progress); };
  ASSERT_TRUE(run_tasks(pretended_tasks(2), with).ok());
  ASSERT_EQ(seen.size(), 7);
  EXPECT_EQ(seen[0].done, 6);
  EXPECT_FALSE(seen[0].seconds_left.has_value());
  for (std::size_t i = 1; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i].done, 6 + i);
    EXPECT_EQ(seen[i].total, 12);
    EXPECT_EQ(seen[i].found, 6);
    EXPECT_NEAR(seen[i].seconds_left.value(), 6.0 - static_cast<double>(i), 1e-12);
  }
}

TEST_F(Runner, NoTasksLeaveAnEmptyFile) {
  EXPECT_TRUE(run_tasks({}, options())->records.empty());
  EXPECT_EQ(text_of(path_), "");
}

// ---- being killed

// Starts the experiment in a child and kills it after `delay`. Whether it got to its end.
bool run_and_kill(const std::vector<Task>& tasks, const RunnerOptions& options,
                  std::chrono::microseconds delay) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(run_tasks(tasks, options).ok() ? 0 : 1);
  std::this_thread::sleep_for(delay);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
  return WIFEXITED(status);
}

TEST_F(Runner, KilledAtAnyMomentAndResumedItGivesTheSameBytes) {
  const std::vector<Task> tasks = pretended_tasks(25, std::chrono::microseconds(600));
  RunnerOptions undisturbed = options();
  undisturbed.path = folder_.file("undisturbed.runs.jsonl");
  ASSERT_TRUE(run_tasks(tasks, undisturbed).ok());
  const std::string wanted = text_of(undisturbed.path);

  Rng rng(71);
  int kills = 0;
  for (int round = 0; round < 8; ++round) {
    RunnerOptions with = options(1 + static_cast<std::uint32_t>(round % 3));
    with.path = folder_.file(std::to_string(round) + ".runs.jsonl");
    // Killed again and again, sooner and later, each time going on from what is there.
    for (int attempt = 0; attempt < 4; ++attempt) {
      kills += !run_and_kill(tasks, with, std::chrono::microseconds(rng.below(30'000)));
    }
    ASSERT_TRUE(run_tasks(tasks, with).ok());
    EXPECT_EQ(text_of(with.path), wanted) << round;
  }
  EXPECT_GE(kills, 8);
}

}  // namespace
}  // namespace partita::experiment
