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

}  // namespace
}  // namespace partita::policies
