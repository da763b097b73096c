#include "policies/orders/earliest_deadline.h"

#include <gtest/gtest.h>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

TEST(EarliestDeadline, KeyIsTheDeadlineWhateverTheTime) {
  const EarliestDeadline order;
  EXPECT_EQ(order.key_change(), KeyChange::kNever);
  EXPECT_EQ(order.key(Candidate(waiting_job(kScaling, 70), Micros{5})), 70);
  EXPECT_EQ(order.key(Candidate(waiting_job({9, 9, 9, 9, 9}, 70), Micros{500})), 70);
}

}  // namespace
}  // namespace partita::policies
