#include "cluster/cluster_state.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace partita::cluster {
namespace {

using Kind = Action::Kind;

const mig::GpuModel& a100() {
  return **mig::find_gpu("a100-40gb");
}

mig::ProfileIndex profile(const char* name) {
  return *mig::parse_profile(a100(), name);
}

Action start(SliceId slice, std::uint32_t job) {
  return {.kind = Kind::kStartJob, .slice = slice, .job = JobHandle{job}, .profile = 0};
}

Action act(Kind kind, SliceId slice) {
  return {.kind = kind, .slice = slice, .job = {}, .profile = 0};
}

Action create(SliceId slice, const char* name) {
  return {.kind = Kind::kBeginCreate, .slice = slice, .job = {}, .profile = profile(name)};
}

// One A100 as 4g.20gb:0, 3g.20gb:4.
ClusterState two_slices() {
  ClusterState state(a100(), 1);
  place_layout(state, GpuId{0}, *mig::numbered_layout(a100(), 2));
  return state;
}

constexpr SliceId kFirst = slice_id(GpuId{0}, 0);
constexpr SliceId kSecond = slice_id(GpuId{0}, 4);

std::string reason(const ClusterState& state, const Action& action) {
  return why_not(state, action).value_or("");
}

TEST(ClusterState, NamesAPlaceByGpuAndFirstMemorySlice) {
  const SliceId slice = slice_id(GpuId{3}, 5);
  EXPECT_EQ(gpu_of(slice), GpuId{3});
  EXPECT_EQ(start_of(slice), 5);
}

TEST(ClusterState, CountsBusySlicesAsJobsStartAndStop) {
  ClusterState state = two_slices();
  apply(state, start(kFirst, 7));
  EXPECT_EQ(state.gpus[0].busy_compute_slices, 4);
  EXPECT_EQ(state.gpus[0].busy_memory_slices, 4);
  apply(state, start(kSecond, 8));
  EXPECT_EQ(state.gpus[0].busy_compute_slices, 7);
  EXPECT_EQ(state.slice(kFirst).job, JobHandle{7});
  apply(state, act(Kind::kStopJob, kFirst));
  EXPECT_EQ(state.gpus[0].busy_compute_slices, 3);
  EXPECT_FALSE(state.slice(kFirst).job.valid());
}

TEST(ClusterState, SaysInASentenceWhyAnActionIsNotPossible) {
  ClusterState state = two_slices();
  EXPECT_EQ(reason(state, start(kFirst, 1)), "");
  EXPECT_EQ(reason(state, start(slice_id(GpuId{0}, 2), 1)),
            "cannot start a job: GPU 0 memory slice 2 has no instance");
  EXPECT_EQ(reason(state, start(slice_id(GpuId{9}, 0), 1)), "there is no GPU 9");
  EXPECT_EQ(reason(state, act(Kind::kStopJob, kFirst)),
            "cannot stop a job: GPU 0 memory slice 0 is idle");
  apply(state, start(kFirst, 1));
  EXPECT_EQ(reason(state, start(kFirst, 2)), "cannot start a job: GPU 0 memory slice 0 is busy");
  EXPECT_EQ(reason(state, act(Kind::kBeginDestroy, kFirst)),
            "cannot destroy an instance: GPU 0 memory slice 0 is busy");
  apply(state, act(Kind::kClose, kSecond));
  EXPECT_EQ(reason(state, start(kSecond, 2)),
            "cannot start a job: GPU 0 memory slice 4 is closing");
  apply(state, act(Kind::kBeginDestroy, kSecond));
  EXPECT_EQ(reason(state, act(Kind::kFinishCreate, kSecond)),
            "cannot finish a creation: GPU 0 memory slice 4 is being destroyed");
}

TEST(ClusterState, ACreationThatDoesNotFitSaysWhoIsInTheWay) {
  ClusterState state(a100(), 1);
  place_layout(state, GpuId{0}, *mig::parse_layout(a100(), "2g.10gb:4"));
  EXPECT_EQ(reason(state, create(slice_id(GpuId{0}, 0), "3g.20gb")), "");
  EXPECT_EQ(reason(state, create(slice_id(GpuId{0}, 2), "3g.20gb")),
            mig::why_not(a100(), state.gpus[0].layout, {profile("3g.20gb"), 2}).value_or("?"));
}

TEST(ClusterState, AnInstanceOnItsWayTakesItsPlaceButNoJob) {
  ClusterState state(a100(), 1);
  apply(state, create(kSecond, "3g.20gb"));
  EXPECT_EQ(state.slice(kSecond).state, SliceState::kCreating);
  EXPECT_TRUE(usable_layout(state, GpuId{0}).empty());
  EXPECT_NE(reason(state, start(kSecond, 1)), "");
  EXPECT_NE(reason(state, create(slice_id(GpuId{0}, 6), "1g.10gb")), "");
  apply(state, act(Kind::kFinishCreate, kSecond));
  EXPECT_EQ(mig::format_layout(a100(), usable_layout(state, GpuId{0})), "3g.20gb:4");
  apply(state, act(Kind::kBeginDestroy, kSecond));
  EXPECT_TRUE(usable_layout(state, GpuId{0}).empty());
  EXPECT_FALSE(state.gpus[0].layout.empty());
  apply(state, act(Kind::kFinishDestroy, kSecond));
  EXPECT_TRUE(state.gpus[0].layout.empty());
}

TEST(ClusterState, AClosedSliceTakesJobsAgainWhenReopened) {
  ClusterState state = two_slices();
  apply(state, act(Kind::kClose, kFirst));
  EXPECT_FALSE(state.slice(kFirst).open());
  apply(state, act(Kind::kReopen, kFirst));
  EXPECT_TRUE(state.slice(kFirst).open());
}

TEST(ClusterStateDeathTest, AnIllegalActionStopsTheProgram) {
  ClusterState state = two_slices();
  EXPECT_DEATH(apply(state, act(Kind::kStopJob, kFirst)), "state_allows");
}

// The four invariants of the header, from scratch.
void expect_invariants(const ClusterState& state) {
  for (std::uint32_t gpu = 0; gpu < state.gpu_count(); ++gpu) {
    mig::Layout rebuilt;
    int compute = 0;
    int memory = 0;
    for (const mig::Placement placement : state.gpus[gpu].layout.instances()) {
      ASSERT_FALSE(mig::why_not(*state.model, rebuilt, placement).has_value());
      rebuilt.add(placement);
      const Slice& slice = state.slice(slice_id(GpuId{gpu}, placement.start));
      ASSERT_NE(slice.state, SliceState::kAbsent);
      ASSERT_EQ(slice.profile, placement.profile);
      ASSERT_EQ(slice.state == SliceState::kBusy, slice.job.valid());
      if (slice.state != SliceState::kBusy) continue;
      compute += state.model->profiles[placement.profile].compute_slices;
      memory += state.model->profiles[placement.profile].memory_slices;
    }
    ASSERT_EQ(state.gpus[gpu].busy_compute_slices, compute);
    ASSERT_EQ(state.gpus[gpu].busy_memory_slices, memory);
    std::size_t present = 0;
    for (std::uint8_t at = 0; at < kSlotsPerGpu; ++at) {
      present += state.slice(slice_id(GpuId{gpu}, at)).state != SliceState::kAbsent ? 1U : 0U;
    }
    ASSERT_EQ(present, rebuilt.instances().size());
  }
}

TEST(ClusterState, InvariantsHoldUnderRandomLegalActions) {
  for (const mig::GpuModel* model : mig::catalogue()) {
    Rng rng(7);
    ClusterState state(*model, 3);
    int applied = 0;
    for (int i = 0; i < 20'000; ++i) {
      Action action;
      action.kind = static_cast<Kind>(rng.below(8));
      action.slice = {static_cast<std::uint32_t>(rng.below(state.slices.size()))};
      action.job = {static_cast<std::uint32_t>(rng.below(100))};
      action.profile = static_cast<mig::ProfileIndex>(rng.below(model->profiles.size()));
      const std::uint64_t version = state.layout_version;
      if (why_not(state, action)) continue;
      apply(state, action);
      ++applied;
      const bool jobs_only = action.kind == Kind::kStartJob || action.kind == Kind::kStopJob;
      ASSERT_EQ(state.layout_version == version, jobs_only);
      expect_invariants(state);
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_GT(applied, 1'000) << model->key;
  }
}

TEST(ProfileFits, WantsATimeForTheSizeAndEnoughMemory) {
  const ProfileFits fits(a100());
  workload::Job job;
  job.time = {Micros{5}, Micros{4}, Micros{3}, Micros{2}, Micros{1}};
  const auto bit = [](const char* name) { return 1U << profile(name); };
  EXPECT_EQ(fits(job), (1U << a100().profiles.size()) - 1);
  job.memory_gib = 9;  // more than a 1g.5gb has, less than a 1g.10gb
  EXPECT_EQ(fits(job),
            bit("1g.10gb") | bit("2g.10gb") | bit("3g.20gb") | bit("4g.20gb") | bit("7g.40gb"));
  job.time[0] = workload::kNoTime;
  job.time[3] = workload::kNoTime;
  EXPECT_EQ(fits(job), bit("2g.10gb") | bit("3g.20gb") | bit("7g.40gb"));
  job.memory_gib = 50;
  EXPECT_EQ(fits(job), 0U);
}

}  // namespace
}  // namespace partita::cluster
