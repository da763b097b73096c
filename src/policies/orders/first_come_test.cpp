#include "policies/orders/first_come.h"

#include <gtest/gtest.h>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

TEST(FirstCome, KeyIsTheArrivalWhateverTheDeadline) {
  const FirstCome order;
  EXPECT_EQ(order.key_change(), KeyChange::kNever);
  EXPECT_EQ(order.key(Candidate(waiting_job(kScaling, 70, 30), Micros{40})), 30);
  EXPECT_EQ(order.key(Candidate(waiting_job(kScaling, 35, 31), Micros{40})), 31);
}

}  // namespace
}  // namespace partita::policies
