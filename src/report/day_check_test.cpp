#include "report/day_check.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace partita::report {
namespace {

using Json = nlohmann::ordered_json;

Json good_day() {
  return Json::parse(R"({
    "setting": "rate=20", "policy": "cedf/tuned", "seed": 1000000, "energy_j": 12.5,
    "gpu": "a100-40gb", "gpus": 1, "memory_slices": 8,
    "jobs": {"id": [1, "b"], "class": ["x", "y"], "arrival_s": [0, 1], "deadline_s": [5, 6],
             "completion_s": [3.5, 4]},
    "pieces": {"job": [1, "b"], "gpu": [0, 0], "start_slot": [0, 4], "slots": [4, 4],
               "profile": ["4g.20gb", "3g.20gb"], "begin_s": [0, 1], "end_s": [3.5, 4]},
    "layouts": {"gpu": [0], "begin_s": [0], "end_s": [5], "layout": ["4g.20gb:0,3g.20gb:4"]},
    "power": {"time_s": [0], "watts": [40]},
    "queue": {"time_s": [0], "waiting": [0]},
    "rates": {"hour": [], "jobs_per_hour": []}})");
}

std::string complaint(const Json& day) {
  const auto days = parse_days(day.dump());
  return days ? "" : days.error().message;
}

TEST(DayCheck, OneDayAndAListOfDaysAreListsOfDays) {
  EXPECT_EQ(*parse_days(good_day().dump()), Json::array({good_day()}));
  EXPECT_EQ(parse_days(Json::array({good_day(), good_day()}).dump())->size(), 2U);
}

TEST(DayCheck, WhatIsNoDayIsSaidSo) {
  EXPECT_NE(parse_days("{\"jobs\":").error().message.find("wanted JSON"), std::string::npos);
  EXPECT_FALSE(parse_days("[]").ok());
  EXPECT_FALSE(parse_days("7").ok());
  EXPECT_FALSE(parse_days("[1]").ok());
}

TEST(DayCheck, EveryKeyIsNeeded) {
  const Json whole = good_day();
  for (const auto& [key, value] : whole.items()) {
    if (key == "setting" || key == "seed" || key == "energy_j") continue;
    Json day = whole;
    day.erase(key);
    EXPECT_TRUE(complaint(day).starts_with(key + ": ")) << key << ": " << complaint(day);
    if (!value.is_object()) continue;
    for (const auto& [column, values] : value.items()) {
      Json less = whole;
      less[key].erase(column);
      EXPECT_TRUE(complaint(less).starts_with(key + "." + column + ": ")) << complaint(less);
    }
  }
}

TEST(DayCheck, TheKeysOfTheRunMayBeMissingButNotWrong) {
  for (const char* key : {"setting", "seed", "energy_j"}) {
    Json day = good_day();
    day.erase(key);
    EXPECT_EQ(complaint(day), "");
    day[key] = Json::array();
    EXPECT_TRUE(complaint(day).starts_with(std::string(key) + ": ")) << complaint(day);
  }
}

TEST(DayCheck, ColumnsHaveOneLengthAndOneKindOfValue) {
  Json day = good_day();
  day["pieces"]["gpu"] = {0};
  EXPECT_EQ(complaint(day), "pieces.gpu: wanted 2 values as in pieces.job, found 1");
  day = good_day();
  day["pieces"]["begin_s"][1] = "soon";
  EXPECT_TRUE(complaint(day).starts_with("pieces.begin_s[1]: ")) << complaint(day);
  day = good_day();
  day["jobs"]["deadline_s"][0] = nullptr;
  EXPECT_TRUE(complaint(day).starts_with("jobs.deadline_s[0]: ")) << complaint(day);
}

TEST(DayCheck, ADayIsOneOfTheRuns) {
  experiment::RunRecord run;
  run.setting = "rate=20";
  run.policy = "cedf/tuned";
  run.seed = 1'000'000;
  run.energy_j = 12.5;
  const Json days = Json::array({good_day()});
  EXPECT_TRUE(check_days_are_of(days, {&run, 1}).ok());
  run.energy_j = 12.6;
  EXPECT_FALSE(check_days_are_of(days, {&run, 1}).ok());
  run.energy_j = 12.5;
  run.seed = 1'000'001;
  const Status other = check_days_are_of(days, {&run, 1});
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().message,
            "the day of rate=20, cedf/tuned, day 1000000 is none of these runs");
}

}  // namespace
}  // namespace partita::report
