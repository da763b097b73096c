#include "decide/usage_books.h"

#include <gtest/gtest.h>

#include "mig/gpu_model.h"

namespace partita::decide {
namespace {

constexpr Micros kHalfLife = Micros::seconds(3600);

// Two GPUs of 1g slices; the owner of a job is what its class says.
class UsageBooksTest : public testing::Test {
 protected:
  UsageBooksTest() {
    for (std::uint32_t i = 0; i < 2; ++i) {
      cluster::place_layout(cluster_, GpuId{i}, *mig::numbered_layout(model_, 12));
    }
  }
  UsageBooks books(FairOrder order) {
    QueueRules rules;
    rules.fair_share = order;
    rules.half_life = kHalfLife;
    return {
        rules, [](JobHandle, const ActiveJob& job) {
          return std::optional<Owner>({job.job_class, static_cast<std::int32_t>(job.memory_gib)});
        }};
  }
  JobHandle add(workload::ClassIndex user, float priority = 0) {
    workload::Job job;
    job.job_class = user;
    job.memory_gib = priority;
    job.time.fill(Micros::seconds(10));
    return jobs_.add(job, JobId{next_++}, 0x7f);
  }
  void start(JobHandle job, std::uint32_t gpu, std::uint8_t at) {
    cluster::start_job(cluster_, cluster::slice_id(GpuId{gpu}, at), job);
    jobs_[job].slice = cluster::slice_id(GpuId{gpu}, at);
    jobs_[job].finish = kHalfLife;
  }

  const mig::GpuModel& model_ = **mig::find_gpu("a100-40gb");
  cluster::ClusterState cluster_{model_, 2};
  ActiveJobs jobs_;
  View view_{.now = {},
             .cluster = cluster_,
             .jobs = jobs_,
             .preemption = {},
             .power = model_.power_curves.front()};
  std::uint32_t next_ = 0;
};

TEST_F(UsageBooksTest, SlicesThatJobsHoldAreBookedForTheirUsers) {
  UsageBooks books = this->books(FairOrder::kSliceSeconds);
  start(add(1), 0, 0);
  start(add(2), 0, 1);
  start(add(2), 1, 0);
  books.settle(view_);
  view_.now = Micros::seconds(100);
  books.settle(view_);
  EXPECT_DOUBLE_EQ(books.ledger().total(1, view_.now), 100);
  EXPECT_DOUBLE_EQ(books.ledger().total(2, view_.now), 200);
}

TEST_F(UsageBooksTest, MovesOfADecisionCountFromTheDecisionOn) {
  UsageBooks books = this->books(FairOrder::kSliceSeconds);
  const JobHandle running = add(1);
  start(running, 0, 0);
  const JobHandle waiting = add(2);
  const std::vector<Move> moves{{running, {}}, {waiting, cluster::slice_id(GpuId{0}, 0)}};
  books.settle(view_, moves);
  EXPECT_EQ(books.ledger().rate(1), 0);
  EXPECT_EQ(books.ledger().rate(2), 1);
}

TEST_F(UsageBooksTest, JoulesAreWhatAGpuDrawsBeyondIdleByBusySlices) {
  UsageBooks books = this->books(FairOrder::kJoules);
  start(add(1), 0, 0);
  start(add(2), 0, 1);
  start(add(2), 1, 0);
  books.settle(view_);
  const auto& watts = view_.power.watts;
  EXPECT_DOUBLE_EQ(books.ledger().rate(1), (watts[2] - watts[0]) / 2);
  EXPECT_DOUBLE_EQ(books.ledger().rate(2), (watts[2] - watts[0]) / 2 + watts[1] - watts[0]);
}

TEST_F(UsageBooksTest, PriorityComesBeforeUsageAndUsageBeforeTheUsersNumber) {
  UsageBooks books = this->books(FairOrder::kSliceSeconds);
  const auto rich = books.group_of(view_, add(1));
  const auto poor = books.group_of(view_, add(2));
  const auto urgent = books.group_of(view_, add(1, 5));
  for (const auto group : {rich, poor, urgent}) books.set_waiting(group, 1);
  books.settle(view_);
  EXPECT_TRUE(books.before(rich, poor, view_.now));
  books.ledger().add(1, 10, view_.now);
  EXPECT_TRUE(books.before(poor, rich, view_.now));
  EXPECT_TRUE(books.before(urgent, poor, view_.now));
}

TEST_F(UsageBooksTest, WhoHoldsHalfAgainTheirShareNowGoesAfterOthersWhateverTheyHadBefore) {
  UsageBooks books = this->books(FairOrder::kSliceSeconds);
  const auto newcomer = books.group_of(view_, add(1));
  const auto steady = books.group_of(view_, add(2));
  books.set_waiting(newcomer, 9);
  books.set_waiting(steady, 9);
  books.ledger().add(2, 20'000, view_.now);
  books.settle(view_);
  EXPECT_DOUBLE_EQ(books.fair_level(), 7);
  EXPECT_TRUE(books.before(newcomer, steady, view_.now));
  for (std::uint32_t i = 0; i < 11; ++i) {
    EXPECT_TRUE(books.before(newcomer, steady, view_.now)) << i;
    books.expect_start(view_, newcomer,
                       cluster::slice_id(GpuId{i / 7}, static_cast<std::uint8_t>(i % 7)));
  }
  EXPECT_TRUE(books.before(steady, newcomer, view_.now));
}

TEST_F(UsageBooksTest, WherePrioritiesAreAllUsersAreAlike) {
  UsageBooks books = this->books(FairOrder::kPriority);
  EXPECT_EQ(books.group_of(view_, add(1)), books.group_of(view_, add(2)));
  EXPECT_TRUE(books.below_share(1, view_.now));
}

}  // namespace
}  // namespace partita::decide
