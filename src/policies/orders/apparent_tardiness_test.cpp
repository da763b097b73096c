#include "policies/orders/apparent_tardiness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "policies/test_support.h"

namespace partita::policies {
namespace {

// The index of Vepsalainen and Morton, largest first.
double index_of(double needed, double slack, double mean) {
  return std::exp(-std::max(0.0, slack - needed) / (2 * mean)) / needed;
}

TEST(ApparentTardiness, OrdersAsItsFormula) {
  ApparentTardiness order;
  std::vector<decide::ActiveJob> jobs;
  for (std::int64_t i = 1; i <= 30; ++i) {
    jobs.push_back(
        waiting_job({1000 * i, 900 * i, 700 * i, 500 * i, 100 * i}, (i * 37 % 11) * 300));
  }
  std::vector<Candidate> candidates;
  double mean = 0;
  for (const decide::ActiveJob& job : jobs) {
    candidates.emplace_back(job, Micros{100});
    mean += job.fastest_time() / static_cast<double>(jobs.size());
  }
  order.begin_round(candidates);
  for (const Candidate& a : candidates) {
    for (const Candidate& b : candidates) {
      const double first = index_of(a.job.fastest_time(), a.slack(), mean);
      const double second = index_of(b.job.fastest_time(), b.slack(), mean);
      if (first > second * (1 + 1e-6)) {
        EXPECT_LT(order.key(a), order.key(b));
      }
    }
  }
}

TEST(ApparentTardiness, DoesNotUnderflowForDeadlinesDaysAway) {
  ApparentTardiness order;
  const std::int64_t day = 86'400'000'000;
  const decide::ActiveJob soon = waiting_job({9, 9, 9, 9, 9}, 100 * day);
  const decide::ActiveJob later = waiting_job({9, 9, 9, 9, 9}, 101 * day);
  const std::vector<Candidate> round{Candidate(soon, Micros{}), Candidate(later, Micros{})};
  order.begin_round(round);
  EXPECT_LE(order.key(round[0]), order.key(round[1]));
  EXPECT_EQ(order.key_change(), KeyChange::kWithTime);
}

}  // namespace
}  // namespace partita::policies
