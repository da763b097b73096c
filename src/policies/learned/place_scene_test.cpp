#include "policies/learned/place_scene.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

JobHandle add_job(Fleet& fleet, std::uint32_t id, std::int64_t minutes, std::int64_t deadline) {
  decide::ActiveJob job =
      waiting_job({7 * minutes * kMinute, 4 * minutes * kMinute, 3 * minutes * kMinute,
                   2 * minutes * kMinute, minutes * kMinute},
                  deadline * kMinute);
  job.id = JobId{id};
  job.fits = 0xffff;
  return fleet.jobs.add(job);
}

struct Row {
  std::vector<float> features;
  float rule = 0;
  bool operator<(const Row& other) const {
    return features != other.features ? features < other.features : rule < other.rule;
  }
  bool operator==(const Row&) const = default;
};

std::vector<Row> rows(const PlaceScene& scene) {
  std::vector<Row> all;
  for (std::size_t i = 0; i < scene.pairs().size(); ++i) {
    const auto begin = scene.features().begin() + static_cast<std::ptrdiff_t>(i * kPlaceFeatures);
    all.push_back({{begin, begin + kPlaceFeatures}, scene.pairs()[i].rule});
  }
  return all;
}

std::vector<Row> rows_of(Fleet& fleet, const std::vector<JobHandle>& jobs,
                         const PlaceRules& rules) {
  PlaceScene scene(rules);
  scene.begin();
  EXPECT_TRUE(scene.look(fleet.view));
  scene.list_pairs(fleet.view, jobs);
  return rows(scene);
}

TEST(PlaceScene, HasOnePairForEachJobAndKindHoweverManySlices) {
  for (const std::uint32_t gpus : {1U, 3U, 50U}) {
    Fleet fleet(gpus, "2");  // 4g and 3g
    const std::vector<JobHandle> jobs{add_job(fleet, 0, 1, 9), add_job(fleet, 1, 2, 9)};
    EXPECT_EQ(rows_of(fleet, jobs, {}).size(), 4U) << gpus;
  }
}

TEST(PlaceScene, DoesNotDependOnHowJobsAndGpusAreNumbered) {
  Fleet one(2, "1,2");
  Fleet other(2, "2,1");
  const std::vector<JobHandle> first{add_job(one, 0, 1, 3), add_job(one, 1, 5, 9)};
  const std::vector<JobHandle> second{add_job(other, 0, 5, 9), add_job(other, 1, 1, 3)};
  std::vector<Row> a = rows_of(one, first, {});
  std::vector<Row> b = rows_of(other, second, {});
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  EXPECT_EQ(a, b);
}

TEST(PlaceScene, TheRulePrefersTheFirstByModifiedDueDateAndTheSlowestSliceOnTime) {
  Fleet fleet(2, "1,2");  // 7g, 4g, 3g
  // By modified due date the short job goes first: the long one is late anyhow.
  const JobHandle lost = add_job(fleet, 0, 10, 2);
  const JobHandle good = add_job(fleet, 1, 1, 3);
  PlaceRules rules;
  PlaceScene scene(rules);
  scene.begin();
  ASSERT_TRUE(scene.look(fleet.view));
  scene.list_pairs(fleet.view, std::vector<JobHandle>{lost, good});
  const auto best = std::ranges::max_element(scene.pairs(), {}, &PlacePair::rule);
  EXPECT_EQ(best->job, good);
  EXPECT_EQ(fleet.name(best->slice), "gpu 1 3g.20gb:4");
  EXPECT_GT(std::ranges::min(scene.pairs(), {}, &PlacePair::rule).rule, 0);
}

TEST(PlaceScene, WhatWasTakenIsNotOfferedAgain) {
  Fleet fleet(1, "2");
  const std::vector<JobHandle> jobs{add_job(fleet, 0, 1, 9)};
  PlaceRules rules;
  PlaceScene scene(rules);
  scene.begin();
  ASSERT_TRUE(scene.look(fleet.view));
  EXPECT_FALSE(scene.anything_runs());
  scene.list_pairs(fleet.view, jobs);
  const SliceId taken = scene.pairs()[0].slice;
  scene.take(taken);
  ASSERT_TRUE(scene.look(fleet.view));
  EXPECT_TRUE(scene.anything_runs());
  scene.list_pairs(fleet.view, jobs);
  ASSERT_EQ(scene.pairs().size(), 1U);
  EXPECT_NE(scene.pairs()[0].slice, taken);
  scene.take(scene.pairs()[0].slice);
  EXPECT_FALSE(scene.look(fleet.view));
}

TEST(PlaceScene, OfSlicesOfOneKindTheOneThatAddsLeastPowerIsOffered) {
  Fleet fleet(2, "2,2");
  const JobHandle running = add_job(fleet, 0, 1, 9);
  const JobHandle waiting = add_job(fleet, 1, 1, 9);
  fleet.jobs[running].slice = cluster::slice_id(GpuId{1}, 0);
  fleet.jobs[running].finish = Micros{kMinute};
  cluster::start_job(fleet.cluster, fleet.jobs[running].slice, running);
  PlaceRules rules;
  PlaceScene scene(rules);
  scene.begin();
  ASSERT_TRUE(scene.look(fleet.view));
  scene.list_pairs(fleet.view, std::vector<JobHandle>{waiting});
  for (const PlacePair& pair : scene.pairs()) {
    if (fleet.cluster.slice(pair.slice).compute_slices == 3) {
      EXPECT_EQ(fleet.name(pair.slice), "gpu 1 3g.20gb:4");
    }
  }
}

TEST(PlaceScene, APieceLeftOutIsNotSeen) {
  Fleet fleet(1, "2");
  const JobHandle running = add_job(fleet, 0, 1, 9);
  fleet.jobs[running].slice = cluster::slice_id(GpuId{0}, 0);
  fleet.jobs[running].finish = Micros{kMinute / 2};
  cluster::start_job(fleet.cluster, fleet.jobs[running].slice, running);
  const std::vector<JobHandle> jobs{add_job(fleet, 1, 1, 9), add_job(fleet, 2, 2, 9)};
  PlaceRules bare;
  ASSERT_TRUE(leave_out(bare, "forecast, queue,rule,jobs").ok());
  const std::vector<Row> all = rows_of(fleet, jobs, {});
  const std::vector<Row> fewer = rows_of(fleet, jobs, bare);
  ASSERT_EQ(all.size(), 2U);
  ASSERT_EQ(fewer.size(), 1U);  // one job
  EXPECT_NE(all[0].features[kWaitGain], 0);
  EXPECT_NE(all[0].features[kWaiting], 0);
  EXPECT_GT(all[0].rule, 0);
  EXPECT_EQ(fewer[0].features[kWaitGain], 0);
  EXPECT_EQ(fewer[0].features[kWaiting], 0);
  EXPECT_EQ(fewer[0].rule, 0);
}

TEST(PlaceRules, AnUnknownPieceListsTheKnownOnes) {
  PlaceRules rules;
  EXPECT_EQ(leave_out(rules, "wait,sleep").error().message,
            "unknown piece of place+ 'sleep'; known: wait, jobs, forecast, queue, rule");
}

}  // namespace
}  // namespace partita::policies
