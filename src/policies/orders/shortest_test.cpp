#include "policies/orders/shortest.h"

#include <gtest/gtest.h>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

TEST(Shortest, KeyIsTheWholeTimeOnTheFastestSizeItMayUse) {
  const Shortest order;
  EXPECT_EQ(order.key_change(), KeyChange::kNever);
  EXPECT_EQ(order.key(Candidate(waiting_job(kScaling, 70), Micros{})), 4);
  EXPECT_EQ(order.key(Candidate(waiting_job({32, 16, 12, 8, -1}, 70), Micros{})), 8);
  EXPECT_EQ(order.key(Candidate(waiting_job({3, 16, 12, 8, 4}, 70), Micros{})), 3);
}

TEST(Shortest, DoesNotCareHowMuchIsLeft) {
  const Shortest order;
  decide::ActiveJob job = waiting_job(kScaling, 70);
  job.work = 0.25;
  EXPECT_EQ(order.key(Candidate(job, Micros{})), 4);
}

}  // namespace
}  // namespace partita::policies
