#include "report/learning_curve.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace partita::report {
namespace {

constexpr std::string_view kLog =
    R"({"phase":"ppo","part":0.5,"validation_et":3.0,"validation_energy_w_min":60000,"best_et":3.0}
{"phase":"ppo","part":1.0,"validation_et":3.5,"validation_energy_w_min":120000,"best_et":3.0}
{"phase":"evolution","part":1,"validation_et":2.0,"validation_energy_w_min":60000,"best_et":2.0}
)";

TEST(LearningCurve, HasACurveForEachPhaseAndOneOfTheBest) {
  const auto figures = learning_figures(kLog);
  ASSERT_TRUE(figures.ok()) << figures.error().message;
  ASSERT_EQ(figures->size(), 2U);
  const auto& series = (*figures)[0]["series"];
  ASSERT_EQ(series.size(), 3U);
  EXPECT_EQ(series[0]["name"], "ppo");
  EXPECT_EQ(series[0]["points"].size(), 2U);
  EXPECT_EQ(series[1]["points"][0]["x"], 3);
  EXPECT_EQ(series[2]["points"][1]["y"], 3.0);
  EXPECT_EQ((*figures)[1]["series"][0]["points"][1]["y"], 2.0);
}

TEST(LearningCurve, WhatIsNoLogIsRefusedByLine) {
  EXPECT_EQ(learning_figures("\n{\"phase\":\"ppo\"}\n").error().message,
            "line 2 is not a validation of a training log: wanted phase, validation_et, best_et "
            "and validation_energy_w_min");
  EXPECT_EQ(learning_figures("[1").error().message.substr(0, 21), "line 1 is not a valid");
  EXPECT_EQ(learning_figures(" \n").error().message, "the training log has no validation");
}

}  // namespace
}  // namespace partita::report
