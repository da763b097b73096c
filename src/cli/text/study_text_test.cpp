#include "cli/text/study_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace partita::cli {
namespace {

using experiment::RunRecord;
using experiment::StudySetting;

// A policy that costs `ratios` of what the reference costs, which is 1, 2, 3 and so on.
std::vector<RunRecord> runs_of(const std::string& setting, const std::vector<double>& ratios,
                               int others = 0) {
  std::vector<RunRecord> runs;
  for (std::size_t day = 0; day < ratios.size(); ++day) {
    RunRecord run;
    run.experiment = "study";
    run.setting = setting;
    run.seed = experiment::day_seed(experiment::Role::kTest, day);
    const auto add = [&](const std::string& policy, double ratio) {
      run.policy = policy;
      run.et = static_cast<double>(day + 1) * ratio;
      run.energy_j = 3.6e6 * run.et;
      run.mean_tardiness_s = 60 * run.et;
      runs.push_back(run);
    };
    add("base", 1);
    add("tried", ratios[day]);
    for (int i = 0; i < others; ++i) add("other" + std::to_string(i), 1);
  }
  return runs;
}

std::string text_of(const std::vector<RunRecord>& runs, StudySetting::Shown shown) {
  experiment::Study study;
  study.settings.resize(1);
  study.settings.front().shown = shown;
  return summaries_text(study, {*summarise(runs, {.reference = "base"})}, false);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(StudyText, ATableShowsTheIntervalThatDecidesTheVerdictAndTheDaysAlike) {
  const std::string text =
      text_of(runs_of("s", {0.8, 0.7, 0.9, 0.8, 0.7, 0.9}), StudySetting::Shown::kTable);
  // Six days decide when all agree, so the interval is their range.
  EXPECT_TRUE(has(text, "-19.0 % (-30.0 to -10.0)  lower")) << text;
  EXPECT_TRUE(has(text, "day by day")) << text;
  EXPECT_TRUE(has(text, "-20.4 % (-30.0 to -10.0)")) << text;
  EXPECT_TRUE(has(text, "The verdict is the side of 0")) << text;
  EXPECT_FALSE(has(text, "at once")) << text;  // there is one policy
}

TEST(StudyText, SeveralPoliciesShareTheConfidence) {
  const std::string text =
      text_of(runs_of("s", std::vector<double>(12, 0.8), 3), StudySetting::Shown::kTable);
  EXPECT_TRUE(has(text, "hold for all 4 policies at once, 98.8 % each.")) << text;
}

TEST(StudyText, TooFewDaysAreSaidAndShowTheirRangeInstead) {
  const auto runs = runs_of("s", {2.6, 2.7, 2.5, 2.6, 2.8}, 7);
  const std::string table = text_of(runs, StudySetting::Shown::kTable);
  EXPECT_TRUE(has(table, "% (days +150.0 to +180.0)  undecided, about 9 days")) << table;
  EXPECT_TRUE(has(table, "5 days are too few to decide among 9 policies: at least 9 days"))
      << table;
  const std::string row = text_of(runs, StudySetting::Shown::kRow);
  EXPECT_TRUE(has(row, "(days +150.0 to +180.0) ?")) << row;
  EXPECT_TRUE(has(row, "\ns: 5 days are too few")) << row;
  const std::string saving = saving_text(*summarise(runs, {.reference = "tried"}));
  EXPECT_TRUE(has(saving, "not decided. 5 days are too few")) << saving;
}

TEST(StudyText, ManySettingsHaveOneTableOfMeansAndOneOfDays) {
  const std::string text =
      text_of(runs_of("s", {0.8, 0.7, 0.9, 0.8, 0.7, 0.9}), StudySetting::Shown::kRow);
  EXPECT_TRUE(has(text, "-19.0 % (-30.0 to -10.0)\n")) << text;
  EXPECT_TRUE(has(text, "day by day: the same as geometric means")) << text;
  EXPECT_TRUE(has(text, "-20.4 % (-30.0 to -10.0)\n")) << text;
}

TEST(StudyText, HowManyDaysIsSaidOnlyWhereItIsMoreThanThereAre) {
  // Half a unit less on five days and a little more on one: six days that do not all agree decide
  // nothing, and four would do for such a difference.
  const std::vector<double> ratios{1 - 0.5 / 1, 1 - 0.5 / 2, 1 - 0.5 / 3,
                                   1 - 0.5 / 4, 1 - 0.5 / 5, 1 + 0.001 / 6};
  const std::string text = text_of(runs_of("s", ratios), StudySetting::Shown::kTable);
  EXPECT_TRUE(has(text, "undecided")) << text;
  EXPECT_FALSE(has(text, "undecided, about")) << text;
}

}  // namespace
}  // namespace partita::cli
