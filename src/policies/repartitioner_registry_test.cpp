#include <gtest/gtest.h>

#include "policies/registry.h"
#include "policies/test_support.h"

namespace partita::policies {
namespace {

std::string error_of(std::string_view text, std::uint32_t gpus = 2) {
  const auto made = make_repartitioner(text, a100(), gpus);
  return made ? "" : made.error().message;
}

std::vector<std::string> initial(std::string_view text, std::uint32_t gpus) {
  const Fleet fleet(gpus, "1");
  const auto made = make_repartitioner(text, a100(), gpus);
  std::vector<std::string> texts;
  if (!made) return {made.error().message};
  for (const mig::Layout& layout : (*made)->initial_layouts(fleet.view)) {
    texts.push_back(mig::format_layout(a100(), layout));
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(RepartitionerRegistry, NoneIsWholeGpus) {
  EXPECT_EQ(initial("none", 2), (Texts{"7g.40gb:0", "7g.40gb:0"}));
}

TEST(RepartitionerRegistry, StaticTakesALayoutList) {
  EXPECT_EQ(initial("static:1,2", 2), (Texts{"7g.40gb:0", "4g.20gb:0,3g.20gb:4"}));
  EXPECT_EQ(initial("static:3g.20gb:0,3g.20gb:4", 1), (Texts{"3g.20gb:0,3g.20gb:4"}));
}

TEST(RepartitionerRegistry, ATimetableHasALayoutListForEachTime) {
  EXPECT_EQ(initial("timetable:08:00=9,20:00=2", 1), (Texts{"4g.20gb:0,3g.20gb:4"}));
  EXPECT_EQ(initial("timetable:00:00=1,2,20:00=2", 2), (Texts{"7g.40gb:0", "4g.20gb:0,3g.20gb:4"}));
  EXPECT_EQ(initial("timetable:0:00=3g.20gb:0,3g.20gb:4,23:59=1", 1),
            (Texts{"3g.20gb:0,3g.20gb:4"}));
  const auto made = make_repartitioner("timetable:08:00=9,20:30=2", a100(), 1);
  EXPECT_EQ((*made)->next_time(Micros::seconds(8 * 3600)), Micros::seconds(20 * 3600 + 1800));
}

TEST(RepartitionerRegistry, AnUnknownNameListsTheKnownOnes) {
  const std::string message = error_of("foo");
  EXPECT_EQ(message.find("unknown repartitioner 'foo'; known: "), 0U) << message;
  for (const decide::PolicyFacts& row : repartitioners()) {
    EXPECT_NE(message.find(row.name), std::string::npos) << message;
  }
  EXPECT_NE(error_of(""), "");
}

TEST(RepartitionerRegistry, WhatIsMissingOrTooMuchIsNamed) {
  for (const char* text : {"static", "none:1", "timetable:"}) {
    const std::string start = "repartitioner '" + std::string(text) +
                              "' is incomplete or has too much; wanted " +
                              std::string(text).substr(0, std::string(text).find(':'));
    EXPECT_EQ(error_of(text).find(start), 0U) << error_of(text);
  }
}

TEST(RepartitionerRegistry, WhatStandsBehindAModelIsReadAndMistakesAreNamed) {
  EXPECT_EQ(error_of("learned:a,b.safetensors"), "cannot open 'a,b.safetensors'");
  EXPECT_EQ(error_of("learned:a,b.safetensors,base=1/2,loss_max=5"),
            "cannot open 'a,b.safetensors'");
  EXPECT_NE(error_of("learned:a,base=1/2/3").find("3 layouts for 2 GPUs"), std::string::npos);
  EXPECT_EQ(error_of("learned:a,loss_max=-1"),
            "learned key loss_max: found '-1', wanted per cent from 0 to 1000");
  EXPECT_EQ(error_of("learned:a,base=1,bose=2"),
            "unknown key of learned 'bose'; known: base, loss_max");
}

TEST(RepartitionerRegistry, ABadTimeIsShownWithTheRightForm) {
  const std::string wanted = "is not HH:MM=LAYOUTS, for example timetable:08:00=9,20:00=2";
  for (const char* entry : {"24:00=1", "8=1", "08:60=1", "08:00", "-1:00=1", "08:0=1", "x"}) {
    EXPECT_EQ(error_of("timetable:" + std::string(entry)),
              "timetable entry '" + std::string(entry) + "' " + wanted);
  }
}

TEST(RepartitionerRegistry, TimesMustRise) {
  EXPECT_EQ(error_of("timetable:08:00=1,08:00=2"),
            "timetable entry '08:00=2' is not later than the one before it");
  EXPECT_EQ(error_of("timetable:20:00=1,08:00=2"),
            "timetable entry '08:00=2' is not later than the one before it");
}

TEST(RepartitionerRegistry, ABadLayoutIsPassedOn) {
  EXPECT_EQ(error_of("timetable:08:00=99"),
            "a100-40gb has no layout 99; its numbered layouts are 1 to 12");
  EXPECT_EQ(error_of("static:1,2,3"),
            "'1,2,3' lists 3 layouts for 2 GPUs; give one for each GPU, or one for all");
}

TEST(RepartitionerRegistry, EveryKindIsDescribed) {
  for (const decide::PolicyFacts& row : repartitioners()) {
    EXPECT_FALSE(row.name.empty() || row.summary.empty());
  }
}

LayoutHabit habit_of(std::string_view text) {
  return repartitioner_traits(text).habit;
}

TEST(RepartitionerTraits, TheHabitIsThatOfTheWordBeforeTheColon) {
  EXPECT_EQ(habit_of("none"), LayoutHabit::kNever);
  EXPECT_EQ(habit_of("static:1,2"), LayoutHabit::kNever);
  EXPECT_EQ(habit_of("ondemand:first-fit"), LayoutHabit::kOnDemand);
  EXPECT_EQ(habit_of("migm-b"), LayoutHabit::kForQueue);
  EXPECT_EQ(habit_of("lookahead"), LayoutHabit::kPlanned);
  EXPECT_EQ(habit_of("learned:a/static:b"), LayoutHabit::kPlanned);
  EXPECT_EQ(habit_of("ondemandx"), LayoutHabit::kNever);
}

TEST(RepartitionerTraits, OnlyNoneLeavesGpusWhole) {
  for (const decide::PolicyFacts& row : repartitioners()) {
    EXPECT_EQ(repartitioner_traits(row.name).whole_gpus, row.name == "none") << row.name;
  }
  EXPECT_FALSE(repartitioner_traits("nonesuch").whole_gpus);
}

TEST(RepartitionerTraits, TheKeyOfTheBudgetIsOneThatTheRepartitionerTakes) {
  EXPECT_FALSE(repartitioner_traits("static:1").looks_ahead());
  const RepartitionerTraits& traits = repartitioner_traits("lookahead:every=5");
  ASSERT_TRUE(traits.looks_ahead());
  EXPECT_TRUE(make_repartitioner("lookahead:" + traits.budget_key + "=5000", a100(), 1).ok());
  EXPECT_FALSE(make_repartitioner("lookahead:" + traits.budget_key + "x=5000", a100(), 1).ok());
}

TEST(RepartitionerTraits, AFileBeginsBehindItsMark) {
  EXPECT_EQ(repartitioner_file_at("learned:a.json"), 8U);
  EXPECT_EQ(repartitioner_file_at("timetable:@a.csv"), 11U);
  for (const char* text : {"timetable:08:00=9", "static:1", "learned", "none", "other:@a"}) {
    EXPECT_EQ(repartitioner_file_at(text), std::string_view::npos) << text;
  }
}

}  // namespace
}  // namespace partita::policies
