#include "policies/repartitioners/reach.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "policies/test_support.h"

namespace partita::policies {
namespace {

std::vector<mig::Layout> numbered(const mig::GpuModel& model) {
  std::vector<mig::Layout> layouts;
  for (int i = 1; i <= mig::numbered_layouts_count(model); ++i) {
    layouts.push_back(*mig::numbered_layout(model, i));
  }
  return layouts;
}

struct Waiting : Fleet {
  Waiting(std::uint32_t gpus, std::string_view layouts) : Fleet(gpus, layouts) {
    for (const cluster::Gpu& gpu : cluster.gpus) targets.push_back(gpu.layout);
  }

  void wait(double memory_gib) {
    workload::Job job;
    job.arrival = Micros{static_cast<std::int64_t>(count)};
    job.time.fill(Micros{1});
    job.memory_gib = static_cast<float>(memory_gib);
    jobs.add(job, JobId{count++}, cluster::ProfileFits(*cluster.model)(job));
  }
  // As the controller shows what is not its to use.
  void keep_from_use(GpuId gpu) {
    for (const mig::Placement each : cluster.gpus[gpu.value].layout.instances()) {
      decide::ActiveJob phantom;
      phantom.id = JobId{1'000'000U + each.start};
      phantom.slice = cluster::slice_id(gpu, each.start);
      phantom.finish = Micros::max();
      cluster::start_job(cluster, phantom.slice, jobs.add(phantom));
    }
  }

  std::vector<mig::Layout> targets;
  std::uint32_t count = 0;
};

TEST(Reach, AJobThatFitsNoLayoutGetsOneThatHoldsIt) {
  Waiting fleet(2, "12,12");  // slices of one compute slice
  fleet.wait(30);
  Reach reach;
  reach.look(fleet.view, fleet.targets);
  EXPECT_TRUE(reach.any_stranded());
  const auto request = reach.relief(fleet.view, numbered(*fleet.cluster.model));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->layout, *mig::numbered_layout(*fleet.cluster.model, 1));
  reach.change(fleet.view, *request);
  EXPECT_FALSE(reach.any_stranded());
  const GpuId other{1 - request->gpu.value};
  EXPECT_TRUE(reach.strands(fleet.view, {request->gpu, fleet.targets[0]}));
  EXPECT_FALSE(reach.strands(fleet.view, {other, request->layout}));
}

TEST(Reach, TheNextJobOfAKindThatCameWithinADayIsThoughtOf) {
  Waiting fleet(1, "1");
  const mig::Layout small = *mig::numbered_layout(*fleet.cluster.model, 12);
  workload::Job large;
  large.time.fill(Micros{1});
  large.memory_gib = 30;
  Reach reach;
  reach.look(fleet.view, fleet.targets);
  EXPECT_FALSE(reach.strands(fleet.view, {GpuId{0}, small}));
  reach.expect(cluster::ProfileFits(*fleet.cluster.model)(large), Micros{});
  EXPECT_TRUE(reach.strands(fleet.view, {GpuId{0}, small}));
  EXPECT_FALSE(reach.any_stranded()) << "nobody waits";
  fleet.view.now = Micros::seconds(86'401);
  reach.look(fleet.view, fleet.targets);
  EXPECT_FALSE(reach.strands(fleet.view, {GpuId{0}, small})) << "that was long ago";
}

TEST(Reach, WhatIsKeptFromUseOffersNothing) {
  Waiting fleet(2, "1,12");
  fleet.keep_from_use(GpuId{0});
  fleet.wait(30);
  Reach reach;
  reach.look(fleet.view, fleet.targets);
  EXPECT_TRUE(reach.any_stranded());
  const auto request = reach.relief(fleet.view, numbered(*fleet.cluster.model));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->gpu, GpuId{1});
  Waiting out(1, "1");
  out.keep_from_use(GpuId{0});
  out.wait(30);
  reach.look(out.view, out.targets);
  EXPECT_FALSE(reach.relief(out.view, numbered(*out.cluster.model)));
}

TEST(Reach, NobodyIsServedAtTheCostOfWhoCameBefore) {
  Waiting fleet(1, "1");
  fleet.wait(30);
  workload::Job narrow;  // runs on one compute slice only
  narrow.arrival = Micros{1};
  narrow.time.fill(workload::kNoTime);
  narrow.time[0] = Micros{1};
  fleet.jobs.add(narrow, JobId{1}, cluster::ProfileFits(*fleet.cluster.model)(narrow));
  Reach reach;
  reach.look(fleet.view, fleet.targets);
  EXPECT_TRUE(reach.any_stranded());
  EXPECT_FALSE(reach.relief(fleet.view, numbered(*fleet.cluster.model)));
}

// Whatever waits for whatever fleet, asking for relief again and again serves all that can be.
TEST(Reach, ReliefEndsAndServesWhoeverFitsWhenThereIsSpaceForAll) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng(seed);
    const auto gpus = static_cast<std::uint32_t>(2 + rng.below(4));
    Waiting fleet(gpus, std::to_string(1 + rng.below(12)));
    for (std::uint64_t i = 0; i < 1 + rng.below(12); ++i) fleet.wait(rng.uniform(0.1, 38));
    Reach reach;
    reach.look(fleet.view, fleet.targets);
    for (std::uint32_t asked = 0; asked < gpus && reach.any_stranded(); ++asked) {
      const auto request = reach.relief(fleet.view, numbered(*fleet.cluster.model));
      ASSERT_TRUE(request) << "seed " << seed;
      fleet.targets[request->gpu.value] = request->layout;
      reach.look(fleet.view, fleet.targets);
    }
    EXPECT_FALSE(reach.any_stranded()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace partita::policies
