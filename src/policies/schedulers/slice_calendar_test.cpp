#include "policies/schedulers/slice_calendar.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace partita::policies {
namespace {

// The same with every slice kept.
class WholeCalendar {
 public:
  void add(mig::ProfileIndex profile, std::int64_t free_after) {
    free_[profile].insert(free_after);
  }
  void replace(mig::ProfileIndex profile, std::int64_t known, std::int64_t free_after) {
    free_[profile].erase(free_[profile].find(known));
    free_[profile].insert(free_after);
  }
  void take_first(mig::ProfileIndex profile, std::int64_t until) {
    free_[profile].erase(free_[profile].begin());
    free_[profile].insert(until);
  }
  std::int64_t first(mig::ProfileIndex profile) const { return *free_.at(profile).begin(); }
  const std::map<mig::ProfileIndex, std::multiset<std::int64_t>>& free() const { return free_; }

 private:
  std::map<mig::ProfileIndex, std::multiset<std::int64_t>> free_;
};

// As in a trial: of two slices one is free later or earlier and the other at once, and there is one
// job more than the limit less two.
TEST(SliceCalendar, AnswersAsIfItHadKeptEverySlice) {
  std::mt19937_64 random(7);
  const auto below = [&](std::int64_t end) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
  };
  for (int run = 0; run < 2000; ++run) {
    const auto jobs = static_cast<std::size_t>(below(41));
    SliceCalendar calendar;
    WholeCalendar whole;
    calendar.clear(jobs + 2);
    const std::int64_t slices = 2 + below(120);
    std::vector<std::int64_t> of_first;
    for (std::int64_t i = 0; i < slices; ++i) {
      const auto profile = static_cast<mig::ProfileIndex>(i < 2 ? 0 : below(3));
      const std::int64_t free_after = below(50);
      if (profile == 0) of_first.push_back(free_after);
      calendar.add(profile, free_after);
      whole.add(profile, free_after);
    }
    SliceCalendar trial;
    trial.copy_from(calendar);
    for (int i = 0; i < 2; ++i) {
      const std::int64_t known = of_first[static_cast<std::size_t>(i)];
      const std::int64_t free_after = i == 0 ? below(80) : 0;
      trial.replace(0, known, free_after);
      whole.replace(0, known, free_after);
    }
    for (std::size_t i = 0; i <= jobs; ++i) {
      for (const auto& [profile, times] : whole.free()) {
        ASSERT_EQ(trial.first(profile), *times.begin()) << run << " job " << i;
      }
      const mig::ProfileIndex profile = below(4) == 0 ? whole.free().rbegin()->first : 0;
      const std::int64_t until = whole.first(profile) + 1 + below(60);
      trial.take_first(profile, until);
      whole.take_first(profile, until);
    }
  }
}

TEST(SliceCalendar, ForgetsWhatItHeldWhenItIsCleared) {
  SliceCalendar calendar;
  calendar.clear(3);
  calendar.add(2, 5);
  EXPECT_EQ(calendar.profiles(), 1U << 2);
  calendar.clear(3);
  EXPECT_EQ(calendar.profiles(), 0U);
  calendar.add(2, 9);
  EXPECT_EQ(calendar.first(2), 9);
}

}  // namespace
}  // namespace partita::policies
