#include "policies/repartitioners/timetable.h"

#include <gtest/gtest.h>

#include "policies/repartitioners/static_layouts.h"
#include "policies/test_support.h"

namespace partita::policies {
namespace {

constexpr Micros kMorning = Micros::seconds(8 * 3600);
constexpr Micros kEvening = Micros::seconds(20 * 3600);

struct TimetableTest : testing::Test {
  TimetableTest() : timetable({{kMorning, {layout(9)}}, {kEvening, {layout(2)}}}) {}

  mig::Layout layout(int number) const {
    return *mig::numbered_layout(*fleet.cluster.model, number);
  }
  mig::Layout wanted_at(Micros now) {
    fleet.view.now = now;
    std::vector<decide::LayoutRequest> requests;
    timetable.decide(fleet.view, requests);
    EXPECT_EQ(requests.size(), 1U);
    return requests.front().layout;
  }

  Fleet fleet{1, "1"};
  Timetable timetable;
};

TEST_F(TimetableTest, TheDayBeginsWithTheLastSwitchOfTheDayBefore) {
  EXPECT_EQ(timetable.initial_layouts(fleet.view), std::vector{layout(2)});
}

TEST_F(TimetableTest, AsksToBeAskedAtEverySwitchOfEveryDay) {
  EXPECT_EQ(timetable.next_time(Micros{}), kMorning);
  EXPECT_EQ(timetable.next_time(kMorning - Micros{1}), kMorning);
  EXPECT_EQ(timetable.next_time(kMorning), kEvening);
  EXPECT_EQ(timetable.next_time(kEvening), Timetable::kDay + kMorning);
  EXPECT_EQ(timetable.next_time(Timetable::kDay + kEvening),
            Timetable::kDay + Timetable::kDay + kMorning);
}

TEST_F(TimetableTest, WantsTheLayoutsInForce) {
  EXPECT_EQ(wanted_at(kMorning), layout(9));
  EXPECT_EQ(wanted_at(kEvening - Micros{1}), layout(9));
  EXPECT_EQ(wanted_at(kEvening), layout(2));
  EXPECT_EQ(wanted_at(Timetable::kDay), layout(2));
  EXPECT_EQ(wanted_at(Timetable::kDay + kMorning), layout(9));
}

TEST_F(TimetableTest, ASwitchAtMidnightIsThereFromTheBeginning) {
  Timetable midnight({{Micros{}, {layout(3)}}, {kEvening, {layout(2)}}});
  EXPECT_EQ(midnight.initial_layouts(fleet.view), std::vector{layout(3)});
  EXPECT_EQ(midnight.next_time(Micros{}), kEvening);
}

TEST_F(TimetableTest, StaticLayoutsNeverAsk) {
  StaticLayouts fixed({layout(5)});
  EXPECT_EQ(fixed.initial_layouts(fleet.view), std::vector{layout(5)});
  EXPECT_FALSE(fixed.next_time(Micros{}).has_value());
}

}  // namespace
}  // namespace partita::policies
