#include "policies/request.h"

#include <gtest/gtest.h>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

std::string asks_for(double patience_s, float memory_gib) {
  workload::Job job;
  job.deadline = micros_from_seconds(patience_s);
  const std::array<int, 5> seconds{70, 35, 24, 18, 10};
  for (std::size_t i = 0; i < seconds.size(); ++i) job.time[i] = Micros::seconds(seconds[i]);
  job.memory_gib = memory_gib;
  const std::uint16_t fits = cluster::ProfileFits(a100())(job);
  return a100().profiles[requested_profile(a100(), decide::make_active(job, JobId{0}, fits))].name;
}

TEST(Request, IsTheSmallestProfileThatIsOnTime) {
  EXPECT_EQ(asks_for(100, 0), "1g.5gb");
  EXPECT_EQ(asks_for(35, 0), "2g.10gb");
  EXPECT_EQ(asks_for(34.9, 0), "3g.20gb");
}

TEST(Request, IsTheSmallestThatFitsTheMemory) {
  EXPECT_EQ(asks_for(100, 8), "1g.10gb");
  EXPECT_EQ(asks_for(100, 15), "3g.20gb");
}

TEST(Request, IsTheFastestWhenNoneIsOnTime) {
  EXPECT_EQ(asks_for(5, 0), "7g.40gb");
}

}  // namespace
}  // namespace partita::policies
