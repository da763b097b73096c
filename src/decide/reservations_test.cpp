#include "decide/reservations.h"

#include <gtest/gtest.h>

#include <array>

#include "mig/gpu_model.h"

namespace partita::decide {
namespace {

constexpr Micros kAfter = Micros::seconds(100);
constexpr std::array<std::uint8_t, 3> kStarts{0, 2, 4};

class ReservationsTest : public testing::Test {
 protected:
  explicit ReservationsTest(std::uint32_t gpus = 1) : cluster_(model_, gpus) {
    for (std::uint32_t i = 0; i < gpus; ++i) {
      cluster::place_layout(cluster_, GpuId{i}, layout("2g.10gb:0,2g.10gb:2,3g.20gb:4"));
    }
    reservations_.begin(view_);
  }

  mig::Layout layout(const std::string& text) const { return *mig::parse_layout(model_, text); }

  JobHandle arrive(double gib, std::int64_t seconds) {
    workload::Job job;
    job.arrival = view_.now;
    job.deadline = view_.now + Micros::seconds(100'000);
    for (Micros& time : job.time) time = Micros::seconds(seconds);
    job.memory_gib = static_cast<float>(gib);
    const JobHandle handle = jobs_.add(job, JobId{next_id_++}, fits_(job));
    reservations_.waits(view_, handle);
    return handle;
  }
  void start(JobHandle job, SliceId slice) {
    reservations_.leaves(job);
    cluster::start_job(cluster_, slice, job);
    jobs_[job].slice = slice;
    jobs_[job].started = true;
    jobs_[job].size_index = cluster_.slice(slice).size_index;
    jobs_[job].progress_from = view_.now;
    const double takes = jobs_[job].time[jobs_[job].size_index];
    jobs_[job].finish = view_.now + Micros{static_cast<std::int64_t>(takes)};
  }
  void finish(JobHandle job) {
    cluster::stop_job(cluster_, jobs_[job].slice);
    reservations_.forget(job);
    jobs_.remove(job);
  }
  std::vector<LayoutRequest> plan() {
    std::vector<LayoutRequest> requests;
    reservations_.plan(view_, requests);
    return requests;
  }
  std::vector<Move> backfilled() {
    std::vector<Move> moves;
    reservations_.backfill(view_, moves);
    return moves;
  }
  SliceId slice(std::uint8_t start, std::uint32_t gpu = 0) const {
    return cluster::slice_id(GpuId{gpu}, start);
  }

  const mig::GpuModel& model_ = **mig::find_gpu("a100-40gb");
  cluster::ProfileFits fits_{model_};
  cluster::ClusterState cluster_;
  ActiveJobs jobs_;
  View view_{.now = {},
             .cluster = cluster_,
             .jobs = jobs_,
             .preemption = {},
             .power = model_.power_curves.front()};
  bool usable_ = true;
  Reservations reservations_{kAfter,
                             {.aim = [this](GpuId gpu) { return cluster_.gpus[gpu.value].layout; },
                              .usable = [this](GpuId gpu) { return usable_ || gpu.value > 0; }}};
  std::uint32_t next_id_ = 0;
};

TEST_F(ReservationsTest, NothingIsReservedBeforePatienceIsOver) {
  arrive(4, 10);
  view_.now = Micros::seconds(99);
  EXPECT_TRUE(plan().empty());
  reservations_.decided(view_, {});
  EXPECT_EQ(reservations_.next_time(), kAfter);
  EXPECT_FALSE(reservations_.restricts());
}

TEST_F(ReservationsTest, AJobThatHasASliceGetsTheOneThatIsFreeFirst) {
  const JobHandle longer = arrive(4, 5'000);
  const JobHandle shorter = arrive(4, 500);
  const JobHandle last = arrive(4, 9'000);
  start(longer, slice(0));
  start(shorter, slice(2));
  start(last, slice(4));
  const JobHandle waiting = arrive(4, 10);
  view_.now = kAfter;
  plan();
  ASSERT_EQ(reservations_.all().size(), 1U);
  EXPECT_EQ(reservations_.all()[0].handle, waiting);
  EXPECT_EQ(reservations_.all()[0].start, Micros::seconds(500));
  EXPECT_TRUE(reservations_.shown(view_, {}).slice(slice(2)).closing);
  EXPECT_FALSE(reservations_.shown(view_, {}).slice(slice(0)).closing);
  view_.now = Micros::seconds(500);
  finish(shorter);
  EXPECT_TRUE(plan().empty());
  std::vector<Move> moves;
  reservations_.start_ready(view_, moves);
  ASSERT_EQ(moves.size(), 1U);
  EXPECT_EQ(moves[0].job, waiting);
  EXPECT_EQ(moves[0].to, slice(2));
  EXPECT_TRUE(reservations_.hides(view_, waiting));
}

// A job for the whole GPU, with something running on it.
class WholeGpuTest : public ReservationsTest {
 protected:
  WholeGpuTest() {
    running_ = arrive(4, 1'000);
    start(running_, slice(0));
    large_ = arrive(30, 10);
    view_.now = kAfter;
    requests_ = plan();
  }
  JobHandle running_;
  JobHandle large_;
  std::vector<LayoutRequest> requests_;
};

TEST_F(WholeGpuTest, EverythingInItsWayIsKeptFromTheScheduler) {
  ASSERT_EQ(reservations_.all().size(), 1U);
  EXPECT_EQ(reservations_.all()[0].place, layout("7g.40gb:0").instances()[0]);
  EXPECT_EQ(reservations_.all()[0].drained, Micros::seconds(1'000));
  EXPECT_GT(reservations_.all()[0].start, Micros::seconds(1'000));
  for (const std::uint8_t start : kStarts) {
    EXPECT_TRUE(reservations_.shown(view_, {}).slice(slice(start)).closing);
  }
  // The layout stays until nothing runs.
  ASSERT_EQ(requests_.size(), 1U);
  EXPECT_EQ(requests_[0].layout, cluster_.gpus[0].layout);
}

TEST_F(WholeGpuTest, OthersRunBesideItOnlyIfTheyEndInTime) {
  arrive(4, 901);
  EXPECT_TRUE(backfilled().empty());
  const JobHandle short_enough = arrive(4, 900);
  const std::vector<Move> moves = backfilled();
  ASSERT_EQ(moves.size(), 1U);
  EXPECT_EQ(moves[0].job, short_enough);
  EXPECT_EQ(moves[0].to, slice(2));  // the smaller of two that are idle
}

// Else estimates that are too short would let others in for ever.
TEST_F(WholeGpuTest, NobodyIsLetInAfterTheTimeThatWasForeseen) {
  view_.now = Micros::seconds(1'000);
  jobs_[running_].finish = Micros::seconds(2'000);
  arrive(4, 1);
  plan();
  EXPECT_TRUE(backfilled().empty());
}

TEST_F(WholeGpuTest, TheGpuIsCutForItWhenNothingRunsAndRestoredWhenItEnds) {
  const mig::Layout before = cluster_.gpus[0].layout;
  view_.now = Micros::seconds(1'000);
  finish(running_);
  auto requests = plan();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].layout, layout("7g.40gb:0"));
  for (const mig::Placement each : before.instances()) {
    for (const auto kind :
         {cluster::Action::Kind::kBeginDestroy, cluster::Action::Kind::kFinishDestroy}) {
      cluster::apply(cluster_, {kind, slice(each.start), {}, each.profile});
    }
  }
  cluster::place_layout(cluster_, GpuId{0}, layout("7g.40gb:0"));
  plan();
  std::vector<Move> moves;
  reservations_.start_ready(view_, moves);
  ASSERT_EQ(moves.size(), 1U);
  EXPECT_EQ(moves[0].job, large_);
  reservations_.decided(view_, moves);
  start(large_, slice(0));
  EXPECT_TRUE(plan().empty());
  // What the repartitioner asks for meanwhile waits until the job has ended.
  LayoutRequest asked{GpuId{0}, layout("4g.20gb:0,3g.20gb:4")};
  reservations_.adapt(view_, asked);
  EXPECT_EQ(asked.layout, layout("7g.40gb:0"));
  finish(large_);
  requests = plan();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].layout, layout("4g.20gb:0,3g.20gb:4"));
  EXPECT_FALSE(reservations_.restricts());
}

TEST_F(WholeGpuTest, TheRepartitionerMakesNothingInItsWay) {
  LayoutRequest asked{GpuId{0}, layout("4g.20gb:0,3g.20gb:4")};
  reservations_.adapt(view_, asked);
  EXPECT_EQ(asked.layout, cluster_.gpus[0].layout);
}

TEST_F(WholeGpuTest, AJobThatStartsElsewhereLeavesThePlaceAndTheLayoutIsAsItWas) {
  reservations_.leaves(large_);
  const auto requests = plan();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].layout, cluster_.gpus[0].layout);
  EXPECT_FALSE(reservations_.restricts());
}

TEST_F(WholeGpuTest, AGpuThatIsDrainedIsNotReserved) {
  usable_ = false;
  plan();
  EXPECT_TRUE(reservations_.all().empty());
  usable_ = true;
  ++cluster_.layout_version;  // as when a GPU comes back
  plan();
  EXPECT_EQ(reservations_.all().size(), 1U);
}

TEST_F(WholeGpuTest, TheNextOneWaitsForItsTurn) {
  const JobHandle second = arrive(30, 10);
  view_.now = kAfter + kAfter;
  plan();
  ASSERT_EQ(reservations_.all().size(), 1U);
  reservations_.leaves(large_);
  plan();
  ASSERT_EQ(reservations_.all().size(), 1U);
  EXPECT_EQ(reservations_.all()[0].handle, second);
}

TEST_F(ReservationsTest, AJobThatNoSliceFitsIsDueWhenHalfItsTimeToSpareIsOver) {
  const JobHandle running = arrive(4, 1'000);
  start(running, slice(0));
  workload::Job job;
  job.deadline = Micros::seconds(70);
  for (Micros& time : job.time) time = Micros::seconds(10);
  job.memory_gib = 30;
  const JobHandle large = jobs_.add(job, JobId{next_id_++}, fits_(job));
  reservations_.waits(view_, large);
  plan();
  reservations_.decided(view_, {});
  EXPECT_EQ(reservations_.next_time(), Micros::seconds(30));
  view_.now = Micros::seconds(30);
  plan();
  EXPECT_EQ(reservations_.all().size(), 1U);
}

TEST_F(ReservationsTest, OneThatASliceFitsIsLeftToThePolicyUntilPatienceIsOver) {
  workload::Job job;
  job.deadline = Micros::seconds(70);
  for (Micros& time : job.time) time = Micros::seconds(10);
  job.memory_gib = 4;
  reservations_.waits(view_, jobs_.add(job, JobId{next_id_++}, fits_(job)));
  view_.now = Micros::seconds(60);
  plan();
  EXPECT_TRUE(reservations_.all().empty());
}

class FiveGpusTest : public ReservationsTest {
 protected:
  FiveGpusTest() : ReservationsTest(5) {}
};

TEST_F(FiveGpusTest, ThereAreAtMostTwoAtATimeTheOldestFirst) {
  for (std::uint32_t gpu = 0; gpu < 5; ++gpu) {
    for (const std::uint8_t start : kStarts) this->start(arrive(4, 1'000), slice(start, gpu));
  }
  std::vector<JobHandle> waiting;
  for (int i = 0; i < 4; ++i) waiting.push_back(arrive(30, 10));
  view_.now = kAfter;
  plan();
  ASSERT_EQ(reservations_.all().size(), 2U);
  EXPECT_EQ(reservations_.all()[0].handle, waiting[0]);
  EXPECT_EQ(reservations_.all()[1].handle, waiting[1]);
  EXPECT_NE(reservations_.all()[0].gpu, reservations_.all()[1].gpu);
}

}  // namespace
}  // namespace partita::decide
