#include "control/turn_book.h"

#include <gtest/gtest.h>

namespace partita::control {
namespace {

JobSpec some_spec() {
  JobSpec spec;
  spec.argv = {"train"};
  spec.directory = "/";
  spec.name = "a";
  return spec;
}

TEST(TurnBook, AJobThatChangedOftenIsWrittenOnceAsItIsThen) {
  JobTable jobs;
  TurnBook book;
  Job& old = jobs.add({}, "", some_spec(), {});
  book.begin({10});
  Job& made = jobs.add({}, "", some_spec(), {10});
  book.add_new(made);
  jobs.set_state(old, JobState::kStarting, "first", {10});
  book.touch(old);
  jobs.set_state(old, JobState::kRunning, "second", {10});
  book.touch(old);
  const Turn turn = book.finish(jobs, 100);
  ASSERT_EQ(turn.batch.new_jobs.size(), 1U);
  EXPECT_EQ(turn.batch.new_jobs[0].progress.id, made.id);
  ASSERT_EQ(turn.batch.progress.size(), 1U);
  EXPECT_EQ(turn.batch.progress[0].reason, "second");
}

TEST(TurnBook, EventsAreNumberedThroughAllTurnsAndCarryItsTime) {
  JobTable jobs;
  TurnBook book;
  book.set_next_event(41);
  book.begin({10});
  book.event(kNoJob, "a", "");
  EXPECT_EQ(book.finish(jobs, 1).batch.events.at(0).sequence, 41);
  book.begin({20});
  book.event(kNoJob, "b", "");
  const Turn second = book.finish(jobs, 1);
  EXPECT_EQ(second.batch.events.at(0).sequence, 42);
  EXPECT_EQ(second.batch.events.at(0).at_us, 20);
  EXPECT_EQ(second.batch.events.size(), 1U);
}

TEST(TurnBook, AnInstanceThatGoesTakesItsRowOfTheSameTurnWithIt) {
  JobTable jobs;
  TurnBook book;
  book.begin({10});
  book.write(store::InstanceRow{"GPU-1", 0, "1g.5gb", "", 0, 10});
  book.write(store::InstanceRow{"GPU-1", 4, "1g.5gb", "", 0, 10});
  book.drop({"GPU-1", 0});
  const Turn turn = book.finish(jobs, 1);
  ASSERT_EQ(turn.batch.instances.size(), 1U);
  EXPECT_EQ(turn.batch.instances[0].start, 4);
  EXPECT_EQ(turn.batch.gone_instances.size(), 1U);
}

}  // namespace
}  // namespace partita::control
