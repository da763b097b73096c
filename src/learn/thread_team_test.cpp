#include "learn/thread_team.h"

#include <gtest/gtest.h>

#include <numeric>

namespace partita::learn {
namespace {

TEST(ThreadTeam, DoesEveryPieceOnceHoweverManyThreads) {
  for (const std::size_t threads : {1U, 2U, 5U}) {
    ThreadTeam team(threads);
    for (const std::size_t pieces : {0U, 1U, 4U, 17U}) {
      std::vector<int> done(pieces);
      for (int round = 0; round < 50; ++round) {
        team.run(pieces, [&](std::size_t piece) { ++done[piece]; });
      }
      EXPECT_EQ(done, std::vector<int>(pieces, 50)) << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace partita::learn
