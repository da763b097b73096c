#include "policies/orders/modified_due_date.h"

#include <gtest/gtest.h>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

TEST(ModifiedDueDate, IsTheDeadlineWhileItCanBeMet) {
  const ModifiedDueDate order;
  EXPECT_EQ(order.key_change(), KeyChange::kWithTime);
  EXPECT_EQ(order.key(Candidate(waiting_job(kScaling, 70), Micros{66})), 70);
}

TEST(ModifiedDueDate, IsTheEarliestCompletionOnceThatIsLater) {
  const ModifiedDueDate order;
  EXPECT_EQ(order.key(Candidate(waiting_job(kScaling, 70), Micros{67})), 71);
  decide::ActiveJob job = waiting_job(kScaling, 70);
  job.work = 0.5;
  EXPECT_EQ(order.key(Candidate(job, Micros{90})), 92);
}

// Of kScaling the 1g and the 3g are offered, bits 0 and 2: 12 us on the better one.
TEST(ModifiedDueDate, TakesTheTimeOnTheSlicesOffered) {
  const ModifiedDueDate order;
  EXPECT_TRUE(order.by_slice());
  EXPECT_EQ(order.key(Candidate(waiting_job(kScaling, 70), Micros{58}, 0b00101)), 70);
  EXPECT_EQ(order.key(Candidate(waiting_job(kScaling, 70), Micros{59}, 0b00101)), 71);
  EXPECT_EQ(order.key(Candidate(waiting_job(kScaling, 70), Micros{59}, 0b00001)), 91);
}

TEST(ModifiedDueDate, CountsTheRestart) {
  const ModifiedDueDate order;
  decide::ActiveJob job = waiting_job(kScaling, 70);
  job.restart = {5};
  EXPECT_EQ(order.key(Candidate(job, Micros{66})), 75);
}

TEST(FastestModifiedDueDate, TakesTheFastestSizeWhateverIsOffered) {
  const FastestModifiedDueDate order;
  EXPECT_EQ(order.key_change(), KeyChange::kWithTime);
  EXPECT_FALSE(order.by_slice());
  EXPECT_EQ(order.key(Candidate(waiting_job(kScaling, 70), Micros{66}, 0b00001)), 70);
  EXPECT_EQ(order.key(Candidate(waiting_job(kScaling, 70), Micros{67}, 0b00001)), 71);
}

}  // namespace
}  // namespace partita::policies
