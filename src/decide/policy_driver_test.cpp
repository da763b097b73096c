#include "decide/policy_driver.h"

#include <gtest/gtest.h>

#include "mig/gpu_model.h"

namespace partita::decide {
namespace {

// Both policies write down what they are told and asked, in one list.
struct Log {
  std::vector<std::string> lines;
};

class LoggingScheduler : public Scheduler {
 public:
  explicit LoggingScheduler(Log& log) : log_(log) {}
  void begin(const View&) override { log_.lines.emplace_back("begin"); }
  void job_arrived(const View&, JobHandle) override { log_.lines.emplace_back("arrived"); }
  void job_stopped(const View&, JobHandle) override { log_.lines.emplace_back("stopped"); }
  void job_done(const View&, JobHandle) override { log_.lines.emplace_back("done"); }
  void job_withdrawn(const View&, JobHandle) override { log_.lines.emplace_back("withdrawn"); }
  void job_returned(const View&, JobHandle) override { log_.lines.emplace_back("returned"); }
  void layout_changed(const View&) override { log_.lines.emplace_back("layout"); }
  void decide(const View&, Decision& decision) override {
    EXPECT_TRUE(decision.moves.empty());
    decision.moves.push_back({JobHandle{1}, SliceId{2}});
    log_.lines.emplace_back("decide");
  }
  std::string take_note() override { return std::exchange(note, {}); }

  std::string note;

 private:
  Log& log_;
};

class LoggingRepartitioner : public Repartitioner {
 public:
  explicit LoggingRepartitioner(Log& log) : log_(log) {}
  std::vector<mig::Layout> initial_layouts(const View&) override { return {}; }
  std::optional<Micros> next_time(Micros now) const override {
    if (interval == Micros{}) return {};
    return now + interval;
  }
  std::uint64_t every_events() const override { return every; }
  bool watches_arrivals() const override { return watches; }
  void job_arrived(const View&, JobHandle) override { log_.lines.emplace_back("R arrived"); }
  void job_returned(const View&, JobHandle) override { log_.lines.emplace_back("R returned"); }
  void relieve(const View&, std::vector<LayoutRequest>& requests) override {
    EXPECT_TRUE(requests.empty());
    log_.lines.emplace_back("R relieve");
    requests.push_back({GpuId{0}, {}});
  }
  void decide(const View&, std::vector<LayoutRequest>& requests) override {
    EXPECT_TRUE(requests.empty());  // what relieves has been followed
    log_.lines.emplace_back("R decide");
    requests.push_back({GpuId{1}, {}});
  }

  Micros interval;
  std::uint64_t every = 0;
  bool watches = false;

 private:
  Log& log_;
};

class PolicyDriverTest : public testing::Test {
 protected:
  const mig::GpuModel& model_ = **mig::find_gpu("a100-40gb");
  cluster::ClusterState cluster_{model_, 2};
  ActiveJobs jobs_;
  View view_{.now = {},
             .cluster = cluster_,
             .jobs = jobs_,
             .preemption = {},
             .power = model_.power_curves.front()};
  Log log_;
  LoggingScheduler scheduler_{log_};
  LoggingRepartitioner repartitioner_{log_};
  PolicyDriver driver_{scheduler_, &repartitioner_};

  bool repartition(std::uint64_t events) {
    return driver_.repartition(view_, events, [this](const LayoutRequest& request) {
      log_.lines.push_back("follow " + std::to_string(request.gpu.value));
    });
  }
  std::vector<std::string> said() { return std::exchange(log_.lines, {}); }
};

using Lines = std::vector<std::string>;

TEST_F(PolicyDriverTest, ARepartitionerThatDoesNotWatchIsNotTold) {
  driver_.begin(view_);
  driver_.job_arrived(view_, JobHandle{0});
  driver_.withdraw(view_, JobHandle{0});
  driver_.job_returned(view_, JobHandle{0});
  EXPECT_FALSE(repartition(7));
  EXPECT_EQ(said(), (Lines{"begin", "arrived", "withdrawn", "returned"}));
}

TEST_F(PolicyDriverTest, OneThatWatchesIsToldAndAskedForWhatCannotWait) {
  repartitioner_.watches = true;
  driver_.begin(view_);
  driver_.job_arrived(view_, JobHandle{0});
  driver_.withdraw(view_, JobHandle{0});
  driver_.put_back(view_, JobHandle{0});
  driver_.job_returned(view_, JobHandle{0});
  EXPECT_FALSE(repartition(7));
  EXPECT_EQ(said(), (Lines{"begin", "arrived", "R arrived", "withdrawn", "returned", "returned",
                           "R returned", "R relieve", "follow 0"}));
}

TEST_F(PolicyDriverTest, ItsTurnComesAfterSoManyEvents) {
  repartitioner_.every = 3;
  driver_.begin(view_);
  said();
  EXPECT_FALSE(repartition(2));
  EXPECT_EQ(said(), Lines{});
  EXPECT_FALSE(repartition(3));
  EXPECT_EQ(said(), (Lines{"R decide", "follow 1"}));
  EXPECT_FALSE(repartition(5));
  EXPECT_EQ(said(), Lines{});
  EXPECT_FALSE(repartition(9));
  EXPECT_EQ(said(), (Lines{"R decide", "follow 1"}));
}

TEST_F(PolicyDriverTest, ItsTimerIsSetAnewWhenItWasDueOrOverdue) {
  repartitioner_.interval = {10};
  driver_.begin(view_);
  said();
  EXPECT_EQ(driver_.next_timer(), Micros{10});
  view_.now = {9};
  EXPECT_FALSE(repartition(0));
  view_.now = {13};
  EXPECT_TRUE(repartition(0));
  EXPECT_EQ(said(), (Lines{"R decide", "follow 1"}));
  EXPECT_EQ(driver_.next_timer(), Micros{23});
}

TEST_F(PolicyDriverTest, WhatCannotWaitIsFollowedBeforeTheLayoutsAreAskedFor) {
  repartitioner_.watches = true;
  repartitioner_.every = 1;
  driver_.begin(view_);
  said();
  EXPECT_FALSE(repartition(1));
  EXPECT_EQ(said(), (Lines{"R relieve", "follow 0", "R decide", "follow 1"}));
}

TEST_F(PolicyDriverTest, TheSchedulerIsToldOfLayoutsBeforeItDecides) {
  driver_.begin(view_);
  said();
  EXPECT_EQ(driver_.decide(view_, true).moves.size(), 1U);
  EXPECT_EQ(driver_.decide(view_, false).moves.size(), 1U);
  EXPECT_EQ(said(), (Lines{"layout", "decide", "decide"}));
}

TEST_F(PolicyDriverTest, WithoutARepartitionerLayoutsStay) {
  PolicyDriver alone(scheduler_);
  alone.begin(view_);
  alone.job_arrived(view_, JobHandle{0});
  EXPECT_FALSE(alone.repartition(view_, 1'000, [](const LayoutRequest&) { FAIL(); }));
  EXPECT_EQ(alone.next_timer(), Micros::max());
  EXPECT_EQ(said(), (Lines{"begin", "arrived"}));
}

// A scheduler that never starts what it is told of.
class IdleScheduler : public LoggingScheduler {
 public:
  using LoggingScheduler::LoggingScheduler;
  void decide(const View& view, Decision& decision) override {
    EXPECT_TRUE(decision.moves.empty());
    open = 0;
    for (const cluster::Slice& slice : view.cluster.slices) open += slice.open() ? 1 : 0;
  }
  int open = 0;
};

TEST_F(PolicyDriverTest, AJobThatAReservationStartedIsNotTheSchedulersUntilItWaitsAgain) {
  IdleScheduler idle(log_);
  PolicyDriver driver(idle);
  Reservations reservations(Micros::seconds(60),
                            {.aim = [this](GpuId gpu) { return cluster_.gpus[gpu.value].layout; }});
  driver.use(&reservations, nullptr);
  for (std::uint32_t i = 0; i < 2; ++i) {
    cluster::place_layout(cluster_, GpuId{i}, *mig::parse_layout(model_, "4g.20gb:0,3g.20gb:4"));
  }
  driver.begin(view_);
  workload::Job job;
  job.deadline = Micros::seconds(1'000);
  job.time.fill(Micros::seconds(10));
  const JobHandle handle = jobs_.add(job, JobId{0}, cluster::ProfileFits(model_)(job));
  driver.job_arrived(view_, handle);
  const auto ignore = [](const LayoutRequest&) {};
  driver.repartition(view_, 1, ignore);
  EXPECT_TRUE(driver.decide(view_, false).moves.empty());
  EXPECT_EQ(idle.open, 4);
  ASSERT_EQ(driver.next_timer(), Micros::seconds(60));

  view_.now = Micros::seconds(60);
  EXPECT_TRUE(driver.timer_due(view_.now));
  EXPECT_FALSE(driver.turn_due(view_.now, 1));
  EXPECT_FALSE(driver.repartition(view_, 1, ignore));
  const Decision& decision = driver.decide(view_, false);
  ASSERT_EQ(decision.moves.size(), 1U);
  EXPECT_EQ(decision.moves[0].job, handle);
  EXPECT_EQ(idle.open, 3);
  EXPECT_EQ(said(), (Lines{"begin", "arrived", "withdrawn", "layout"}));

  const SliceId slice = decision.moves[0].to;
  cluster::start_job(cluster_, slice, handle);
  jobs_[handle].slice = slice;
  jobs_[handle].started = true;
  jobs_[handle].finish = Micros::seconds(70);
  driver.withdraw(view_, handle);  // its estimate changes
  driver.put_back(view_, handle);
  EXPECT_EQ(said(), Lines{});
  cluster::stop_job(cluster_, slice);
  jobs_[handle].slice = {};
  driver.job_returned(view_, handle);
  EXPECT_EQ(said(), Lines{"returned"});
}

TEST_F(PolicyDriverTest, NotesAreTakenOnce) {
  scheduler_.note = "falls back";
  EXPECT_EQ(driver_.take_notes(), Lines{"falls back"});
  EXPECT_EQ(driver_.take_notes(), Lines{});
}

}  // namespace
}  // namespace partita::decide
