#include "sim/completions.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace partita::sim {
namespace {

TEST(Completions, OfNothingAreNever) {
  const Completions completions;
  EXPECT_TRUE(completions.empty());
  EXPECT_EQ(completions.first_time(), Micros::max());
}

TEST(Completions, OfOneInstantAllCome) {
  Completions completions;
  std::set<std::uint32_t> left{2, 5, 9};
  for (const std::uint32_t job : left) completions.add(JobHandle{job}, Micros{10});
  completions.add(JobHandle{1}, Micros{11});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(completions.first_time(), Micros{10});
    EXPECT_EQ(left.erase(completions.first_job().value), 1U);
    completions.remove_first();
  }
  EXPECT_EQ(completions.first_job(), JobHandle{1});
}

TEST(Completions, AreThoseOfASortedSetWhateverIsDone) {
  Rng rng(5);
  Completions completions;
  std::set<std::pair<std::int64_t, std::uint32_t>> expected;
  std::vector<std::int64_t> time_of(300, -1);
  const auto random_time = [&] { return static_cast<std::int64_t>(rng.below(50)); };
  for (int step = 0; step < 50'000; ++step) {
    const auto job = static_cast<std::uint32_t>(rng.below(time_of.size()));
    const std::int64_t time = random_time();
    if (time_of[job] < 0) {
      completions.add(JobHandle{job}, Micros{time});
      expected.emplace(time, job);
      time_of[job] = time;
    } else {
      expected.erase({time_of[job], job});
      if (rng.below(2) == 0) {
        completions.change(JobHandle{job}, Micros{time});
        expected.emplace(time, job);
        time_of[job] = time;
      } else {
        completions.remove(JobHandle{job});
        time_of[job] = -1;
      }
    }
    if (!expected.empty() && rng.below(4) == 0) {
      const std::uint32_t first = completions.first_job().value;
      ASSERT_EQ(expected.erase({completions.first_time().count, first}), 1U);
      completions.remove_first();
      time_of[first] = -1;
    }
    ASSERT_EQ(completions.empty(), expected.empty());
    if (expected.empty()) continue;
    ASSERT_EQ(completions.first_time().count, expected.begin()->first);
    ASSERT_EQ(time_of[completions.first_job().value], expected.begin()->first);
  }
}

}  // namespace
}  // namespace partita::sim
