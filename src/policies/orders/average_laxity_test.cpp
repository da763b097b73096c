#include "policies/orders/average_laxity.h"

#include <gtest/gtest.h>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

TEST(AverageLaxity, NeedsTheMeanOverTheSizesItMayUse) {
  const AverageLaxity order;
  EXPECT_EQ(order.key_change(), KeyChange::kWithProgress);
  EXPECT_EQ(order.key(Candidate(waiting_job({30, 20, 15, 10, 5}, 70), Micros{})), 70 - 16);
  EXPECT_EQ(order.key(Candidate(waiting_job({-1, 20, -1, 10, -1}, 70), Micros{})), 70 - 15);
}

TEST(AverageLaxity, CountsOnlyTheWorkThatIsLeft) {
  const AverageLaxity order;
  decide::ActiveJob job = waiting_job({30, 20, 15, 10, 5}, 70);
  job.work = 0.5;
  EXPECT_EQ(order.key(Candidate(job, Micros{})), 70 - 8);
}

}  // namespace
}  // namespace partita::policies
