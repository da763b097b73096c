#include "report/page_data.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"

namespace partita::report {
namespace {

using experiment::RunRecord;
using Json = nlohmann::ordered_json;

constexpr double kA = 2e-7;

RunRecord run_of(const std::string& setting, const std::string& policy, std::uint64_t seed,
                 double energy_w_min, double tardiness_s) {
  RunRecord run;
  run.experiment = "study";
  run.setting = setting;
  run.policy = policy;
  run.scheduler = "cedf";
  run.repartition = "none";
  run.seed = seed;
  run.energy_w_min = energy_w_min;
  run.energy_j = energy_w_min * 60;
  run.mean_tardiness_s = tardiness_s;
  run.late_share = 0.25;
  run.jobs = 100;
  run.gpus = 8;
  run.et_a = kA;
  run.et = (kA * energy_w_min + tardiness_s / 60) / (kA + 1);
  return run;
}

// Two settings, three policies, twelve days; "fast" is late half as much as "slow".
std::vector<RunRecord> some_runs() {
  std::vector<RunRecord> runs;
  Rng rng(3);
  for (const char* setting : {"rate=12", "rate=20"}) {
    for (std::uint64_t day = 0; day < 12; ++day) {
      const double luck = 50 + static_cast<double>(rng.below(20));
      runs.push_back(run_of(setting, "slow", 1'000'000 + day, 2.4e6, luck));
      runs.push_back(run_of(setting, "fast", 1'000'000 + day, 2.5e6, luck / 2));
      runs.push_back(run_of(setting, "bad", 1'000'000 + day, 3e6, 100 * luck));
    }
  }
  return runs;
}

PageInput input_of(std::span<const RunRecord> runs) {
  PageInput input;
  input.runs = runs;
  input.notes.title = "A study";
  input.notes.settings = {{"rate=20", "slow"}, {"rate=12", "slow"}};
  return input;
}

const Json& policy_named(const Json& setting, const std::string& name) {
  const auto& all = setting["policies"];
  return *std::ranges::find_if(all, [&](const Json& policy) { return policy["name"] == name; });
}

TEST(PageData, SettingsAreInTheOrderOfTheNotesAndThenByName) {
  std::vector<RunRecord> runs = some_runs();
  runs.push_back(run_of("other", "only", 1'000'000, 1, 1));
  const Json data = *page_data(input_of(runs));
  ASSERT_EQ(data["settings"].size(), 3U);
  EXPECT_EQ(data["settings"][0]["name"], "rate=20");
  EXPECT_EQ(data["settings"][1]["name"], "rate=12");
  EXPECT_EQ(data["settings"][2]["name"], "other");
  EXPECT_EQ(data["settings"][2]["reference"], "only");
}

TEST(PageData, MeansIntervalsAndPartsAreThoseOfTheRuns) {
  const std::vector<RunRecord> runs = some_runs();
  const Json data = *page_data(input_of(runs));
  const Json& fast = policy_named(data["settings"][0], "fast");
  EXPECT_EQ(fast["days"], 12);
  EXPECT_DOUBLE_EQ(fast["energy_w_min"]["mean"].get<double>(), 2.5e6);
  EXPECT_DOUBLE_EQ(fast["energy_kwh"].get<double>(), 2.5e6 * 60 / 3.6e6);
  EXPECT_LT(fast["et"]["low"], fast["et"]["mean"]);
  EXPECT_NEAR(fast["et_energy_part"].get<double>() + fast["et_tardiness_part"].get<double>(),
              fast["et"]["mean"].get<double>(), 1e-12);
  EXPECT_EQ(fast["late_share"], 0.25);
  EXPECT_EQ(fast["points"].size(), 12U);
  EXPECT_EQ(fast["diff"]["verdict"], "better");
  EXPECT_NEAR(fast["diff"]["tardiness_percent"]["mean"].get<double>(), -50, 1e-9);
  EXPECT_LT(fast["diff"]["et_percent"]["high"], 0);
  EXPECT_LT(fast["diff"]["p_adjusted"], 0.05);
  EXPECT_LT(fast["diff"]["et_day_percent"]["least"], fast["diff"]["et_day_percent"]["mean"]);
  EXPECT_GT(fast["diff"]["et_day_percent"]["most"], fast["diff"]["et_day_percent"]["mean"]);
  EXPECT_EQ(policy_named(data["settings"][0], "bad")["diff"]["verdict"], "worse");
  EXPECT_TRUE(policy_named(data["settings"][0], "slow")["diff"].is_null());
}

TEST(PageData, TooFewDaysHaveNoIntervalToContradictTheVerdict) {
  std::vector<RunRecord> runs = some_runs();
  std::erase_if(runs, [](const RunRecord& run) { return run.seed >= 1'000'006; });
  const Json data = *page_data(input_of(runs));
  EXPECT_EQ(data["settings"][0]["days_min"], 7);  // for two comparisons
  const Json& diff = policy_named(data["settings"][0], "bad")["diff"];
  EXPECT_EQ(diff["verdict"], "undecided");
  EXPECT_FALSE(diff["et_percent"].contains("low"));
  EXPECT_GT(diff["et_day_percent"]["least"], 0);
}

TEST(PageData, OneDayHasNoIntervalAndNoTest) {
  const std::vector<RunRecord> runs{run_of("", "a", 7, 1e6, 60), run_of("", "b", 7, 2e6, 30)};
  const Json data = *page_data({runs, {}, nullptr});
  const Json& b = policy_named(data["settings"][0], "b");
  EXPECT_FALSE(b["et"].contains("low"));
  EXPECT_EQ(b["diff"]["verdict"], "one day");
  EXPECT_TRUE(b["diff"]["p_holm"].is_null());
  EXPECT_FALSE(b["diff"]["et_percent"].contains("low"));
  EXPECT_TRUE(data["day"].is_null());
}

TEST(PageData, ThePoliciesOfTheFrontHaveTheirWeights) {
  const Json data = *page_data(input_of(some_runs()));
  const auto best_of = [&](const char* policy) {
    for (const Json& point : data["pareto"]) {
      if (point["setting"] == "rate=20" && point["policy"] == policy) return point["best"];
    }
    return Json("missing");
  };
  EXPECT_EQ(best_of("fast")["from"], 0.0);
  EXPECT_EQ(best_of("fast")["to"], best_of("slow")["from"]);
  EXPECT_TRUE(best_of("slow")["to"].is_null());
  EXPECT_TRUE(best_of("bad").is_null());
}

TEST(PageData, FurtherColumnsAndFiguresOfTheNotesAreKept) {
  const std::vector<RunRecord> runs = some_runs();
  PageInput input = input_of(runs);
  input.notes.extra["rate=20"]["fast"]["gap, %"] = 4.5;
  input.notes.figures.push_back({{"title", "t"}});
  const Json data = *page_data(input);
  EXPECT_EQ(policy_named(data["settings"][0], "fast")["extra"]["gap, %"], 4.5);
  EXPECT_TRUE(policy_named(data["settings"][1], "fast")["extra"].empty());
  EXPECT_EQ(data["figures"].size(), 1U);
}

TEST(PageData, GapsAreToTheBoundsOfTheSameDays) {
  const std::vector<RunRecord> runs = some_runs();
  std::vector<RunRecord> bounds;
  for (std::uint64_t day = 0; day < 12; ++day) {
    bounds.push_back(run_of("rate=20", "bound", 1'000'000 + day, 2e6, 0));
  }
  PageInput input = input_of(runs);
  EXPECT_TRUE((*page_data(input))["settings"][0]["bounds"].is_null());
  input.bounds = bounds;
  const Json data = *page_data(input);
  const Json& setting = data["settings"][0];
  EXPECT_DOUBLE_EQ(setting["bounds"]["energy_w_min"]["mean"].get<double>(), 2e6);
  EXPECT_EQ(setting["bounds"]["days"], 12);
  const Json& gap = policy_named(setting, "fast")["gap"];
  EXPECT_NEAR(gap["energy_percent"]["mean"].get<double>(), 25, 1e-9);
  EXPECT_GT(gap["et_percent"]["low"].get<double>(), 0);
  EXPECT_TRUE(gap["tardiness_percent"].is_null());  // the bound is 0
  EXPECT_TRUE(data["settings"][1]["bounds"].is_null());
  EXPECT_TRUE(policy_named(data["settings"][1], "fast")["gap"].is_null());
}

TEST(PageData, OnlyTestDaysAreShown) {
  std::vector<RunRecord> runs{run_of("", "a", 7, 1e6, 60)};
  runs.push_back(run_of("", "b", 8, 1e6, 60));
  runs.back().role = experiment::Role::kTune;
  EXPECT_EQ((*page_data({runs, {}, nullptr}))["settings"][0]["policies"].size(), 1U);
  runs.erase(runs.begin());
  EXPECT_EQ(page_data({runs, {}, nullptr}).error().message, "no runs on test days");
}

TEST(PageData, PoliciesThatMetOtherDaysAreNotCompared) {
  std::vector<RunRecord> runs = some_runs();
  runs.pop_back();
  const auto data = page_data(input_of(runs));
  ASSERT_FALSE(data.ok());
  EXPECT_NE(data.error().message.find("setting 'rate=20': policy 'bad' was not run on day"),
            std::string::npos);
}

TEST(PageData, TheOrderOfTheRunsDoesNotShow) {
  std::vector<RunRecord> runs = some_runs();
  const std::string text = page_data(input_of(runs))->dump();
  Rng rng(11);
  for (std::size_t i = runs.size(); i > 1; --i) std::swap(runs[i - 1], runs[rng.below(i)]);
  EXPECT_EQ(page_data(input_of(runs))->dump(), text);
}

}  // namespace
}  // namespace partita::report
