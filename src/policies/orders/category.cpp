#include "policies/orders/category.h"

namespace partita::policies {
namespace {

constexpr double kNearlyFull = 0.8;
constexpr std::size_t kSize1g = 0;
constexpr std::size_t kSize2g = 1;
constexpr std::size_t kSize4g = 3;

}  // namespace

int Category::category(const decide::ActiveJob& job) {
  const double best = job.fastest_time();
  // Throughput is the inverse of time; an infinite time (may not run there) is no throughput.
  const auto falls_short = [&](std::size_t size) { return best < kNearlyFull * job.time[size]; };
  if (falls_short(kSize4g)) return 1;
  if (falls_short(kSize2g)) return 2;
  if (falls_short(kSize1g)) return 3;
  return 4;
}

std::int64_t Category::key(const Candidate& candidate) const {
  constexpr std::int64_t kCategorySpan = std::int64_t{1} << 56;  // over 2,000 years of deadlines
  return category(candidate.job) * kCategorySpan + candidate.job.deadline.count;
}

}  // namespace partita::policies
