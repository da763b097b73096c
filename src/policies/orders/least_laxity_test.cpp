#include "policies/orders/least_laxity.h"

#include <gtest/gtest.h>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

TEST(LeastLaxity, KeyIsTheLastInstantToBeginOnTheFastestSize) {
  const LeastLaxity order;
  EXPECT_EQ(order.key_change(), KeyChange::kWithProgress);
  EXPECT_EQ(order.key(Candidate(waiting_job(kScaling, 70), Micros{})), 66);
  EXPECT_EQ(order.key(Candidate(waiting_job(kScaling, 70), Micros{60})), 66);
}

TEST(LeastLaxity, ProgressLeavesMoreLaxity) {
  const LeastLaxity order;
  decide::ActiveJob job = waiting_job(kScaling, 70);
  job.work = 0.5;
  EXPECT_EQ(order.key(Candidate(job, Micros{})), 68);
}

}  // namespace
}  // namespace partita::policies
