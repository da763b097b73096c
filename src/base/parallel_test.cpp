#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>

namespace partita {
namespace {

TEST(ThreadTeam, EveryIndexIsDoneOnceAndByAWorkerOfTheTeam) {
  for (const std::size_t threads : {1U, 2U, 5U}) {
    ThreadTeam team(threads);
    for (const std::size_t count : {0U, 1U, 4U, 17U}) {
      std::vector<int> done(count);
      std::vector<int> by(threads);
      for (int round = 0; round < 50; ++round) {
        team.run(count, [&](std::size_t index, std::size_t worker) {
          ++done[index];
          ++by.at(worker);  // by one thread at a time: the sum below misses none
        });
      }
      EXPECT_EQ(done, std::vector<int>(count, 50)) << threads << " threads";
      int sum = 0;
      for (const int each : by) sum += each;
      EXPECT_EQ(sum, 50 * static_cast<int>(count)) << threads << " threads";
    }
  }
}

TEST(ForEachIndex, DoesEveryIndexOnceWithMoreThreadsThanIndicesToo) {
  for (const std::size_t threads : {1U, 3U, 64U}) {
    for (const std::size_t count : {0U, 1U, 40U}) {
      std::vector<int> done(count);
      for_each_index(count, threads, [&](std::size_t index, std::size_t worker) {
        EXPECT_LT(worker, threads);
        ++done[index];
      });
      EXPECT_EQ(done, std::vector<int>(count, 1)) << threads << " threads";
    }
  }
}

TEST(ForEachIndex, WhatCameBeforeTheReasonToStopIsDone) {
  for (const std::size_t threads : {1U, 3U}) {
    for (int round = 0; round < 200; ++round) {
      std::vector<std::atomic<int>> done(100);
      std::atomic<bool> failed = false;
      for_each_index(
          done.size(), threads,
          [&](std::size_t index, std::size_t) {
            ++done[index];
            if (index == 20) failed = true;
          },
          [&] { return failed.load(); });
      for (std::size_t i = 0; i <= 20; ++i) EXPECT_EQ(done[i], 1) << i;
      if (threads == 1) {
        EXPECT_EQ(done[21], 0);
      }
    }
  }
}

}  // namespace
}  // namespace partita
