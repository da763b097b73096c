#include "experiment/summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "experiment/test_support.h"

namespace partita::experiment {
namespace {

// Days that are hard or easy for every policy alike; each policy has a share of what the day costs.
struct Pretended {
  std::string policy;
  double share = 1;
  double noise = 0.05;
};

std::vector<RunRecord> pretended_runs(const std::vector<Pretended>& policies, std::uint64_t days,
                                      std::uint64_t seed = 81) {
  std::vector<RunRecord> records;
  for (std::uint64_t day = 0; day < days; ++day) {
    Rng rng(seed, day);
    const double cost = rng.lognormal(0, 0.5);
    for (const Pretended& policy : policies) {
      RunRecord record = record_of({"rate=20", policy.policy, day_seed(Role::kTest, day)});
      record.et = policy.share * cost * (1 + policy.noise * rng.normal());
      record.energy_j = 1e8 * record.et;
      record.mean_tardiness_s = 0;
      records.push_back(record);
    }
  }
  return records;
}

const PolicySummary& row(const Summary& summary, std::string_view policy) {
  return *std::ranges::find(summary.policies, policy, &PolicySummary::policy);
}

std::string refusal(const std::vector<RunRecord>& records, const std::string& reference) {
  const Result<Summary> summary = summarise(records, {.reference = reference});
  return summary ? "accepted" : summary.error().message;
}

TEST(Summary, ThePolicyThatSavesIsFoundAndTheTwinIsNot) {
  const auto runs = pretended_runs({{"static"}, {"twin"}, {"saver", 0.9}, {"waster", 1.2}}, 60);
  const Summary summary = *summarise(runs, {.reference = "static"});
  EXPECT_EQ(summary.days, 60);
  EXPECT_EQ(summary.policies.front().policy, "static");
  EXPECT_FALSE(summary.policies.front().differences.has_value());
  const Difference& saver = (*row(summary, "saver").differences)[Measure::kEt];
  EXPECT_EQ(saver.verdict, Verdict::kLower);
  EXPECT_NEAR(saver.relative->share, -0.1, 0.02);
  EXPECT_TRUE(saver.relative->interval->contains(-0.1));
  EXPECT_LT(saver.days_until_decided.value(), 60);
  EXPECT_EQ((*row(summary, "waster").differences)[Measure::kEnergy].verdict, Verdict::kHigher);
  EXPECT_EQ((*row(summary, "twin").differences)[Measure::kEt].verdict, Verdict::kUndecided);
  EXPECT_FALSE(summary.all_decided(Measure::kEt));
}

TEST(Summary, FiguresAreThoseOfTheStatistics) {
  const auto runs = pretended_runs({{"a"}, {"b", 0.9}}, 40);
  std::vector<double> a;
  std::vector<double> b;
  for (const RunRecord& run : runs) (run.policy == "a" ? a : b).push_back(run.et);
  const Summary summary = *summarise(runs, {.reference = "a"});
  const Estimate& estimate = row(summary, "b").estimates[Measure::kEt];
  EXPECT_EQ(estimate.mean, mean(b));
  EXPECT_EQ(estimate.t, t_interval(b));
  EXPECT_EQ(estimate.bootstrap, bootstrap_interval(b));
  const Difference& difference = (*row(summary, "b").differences)[Measure::kEt];
  const std::vector<double> differences = paired_differences(b, a);
  EXPECT_EQ(difference.estimate.bootstrap, bootstrap_interval(differences));
  EXPECT_EQ(difference.p_anytime, anytime_p(differences));
  EXPECT_EQ(difference.p_holm, difference.p_wilcoxon);  // one comparison needs no correction
}

TEST(Summary, TheOrderOfTheRunsDoesNotMatter) {
  auto runs = pretended_runs({{"a"}, {"b", 0.9}, {"c", 0.95}}, 30);
  const std::string first = to_json(*summarise(runs, {.reference = "b"})).dump();
  std::ranges::reverse(runs);
  EXPECT_EQ(to_json(*summarise(runs, {.reference = "b"})).dump(), first);
}

TEST(Summary, MorePoliciesMakeEveryClaimHarder) {
  std::vector<Pretended> policies{{"static"}, {"saver", 0.98}};
  const auto few = *summarise(pretended_runs(policies, 30), {.reference = "static"});
  for (int i = 0; i < 8; ++i) policies.push_back({"other" + std::to_string(i)});
  const auto many = *summarise(pretended_runs(policies, 30), {.reference = "static"});
  const Difference& alone = (*row(few, "saver").differences)[Measure::kEt];
  const Difference& among = (*row(many, "saver").differences)[Measure::kEt];
  EXPECT_GE(among.p_holm, among.p_wilcoxon);
  EXPECT_GT(among.days_until_decided.value(), alone.days_until_decided.value());
}

TEST(Summary, AnyFalseClaimAmongEqualPoliciesStaysRare) {
  constexpr int kTrials = 400;
  int false_claims = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto runs = pretended_runs({{"a"}, {"b"}, {"c"}, {"d"}, {"e"}}, 30,
                                     1000 + static_cast<std::uint64_t>(trial));
    SummaryOptions options{.reference = "a"};
    options.bootstrap.resamples = 1;
    const Summary summary = *summarise(runs, options);
    false_claims += std::ranges::any_of(summary.policies, [](const PolicySummary& policy) {
      return policy.differences && (*policy.differences)[Measure::kEt].decided();
    });
  }
  EXPECT_LE(false_claims / static_cast<double>(kTrials), 0.06);
}

TEST(Summary, UntilDecidedUsesTheTestThatMayBeLookedAtEveryDay) {
  SummaryOptions options{.reference = "a"};
  options.plan = Plan::kUntilDecided;
  EXPECT_FALSE(
      summarise(pretended_runs({{"a"}, {"b", 0.8}}, 29), options)->all_decided(Measure::kEt));
  const Summary summary = *summarise(pretended_runs({{"a"}, {"b", 0.8}}, 30), options);
  EXPECT_TRUE(summary.all_decided(Measure::kEt));
  EXPECT_FALSE((*row(summary, "b").differences)[Measure::kEt].anytime->contains(0));
}

TEST(Summary, OneDayGivesMeansAndNoClaims) {
  const Summary summary = *summarise(pretended_runs({{"a"}, {"b", 0.5}}, 1), {.reference = "a"});
  const Difference& difference = (*row(summary, "b").differences)[Measure::kEt];
  EXPECT_FALSE(difference.estimate.t.has_value());
  EXPECT_FALSE(difference.estimate.bootstrap.has_value());
  EXPECT_FALSE(difference.days_until_decided.has_value());
  EXPECT_EQ(difference.verdict, Verdict::kUndecided);
  EXPECT_TRUE(to_json(summary)["policies"][1]["differences"]["et"]["t_interval"].is_null());
}

TEST(Summary, APolicyWithoutAnyTardinessIsNoDivisionByZero) {
  const Summary summary = *summarise(pretended_runs({{"a"}, {"b", 0.5}}, 40), {.reference = "a"});
  const Difference& difference = (*row(summary, "b").differences)[Measure::kTardiness];
  EXPECT_FALSE(difference.relative.has_value());
  EXPECT_EQ(difference.verdict, Verdict::kUndecided);
  EXPECT_EQ(difference.p_wilcoxon, 1);
}

TEST(Summary, RunsThatCannotBeComparedAreRefused) {
  auto runs = pretended_runs({{"a"}, {"b"}}, 3);
  EXPECT_EQ(refusal({}, "a"), "no runs to summarise");
  EXPECT_EQ(refusal(runs, "z"), "unknown policy 'z'; known: a, b");
  auto lacking = runs;
  lacking.pop_back();
  EXPECT_EQ(refusal(lacking, "a"), "policy 'b' was not run on day 1000002, on which 'a' was");
  EXPECT_EQ(refusal(lacking, "b"), "policy 'b' was not run on day 1000002, on which 'a' was");
  auto mixed = runs;
  mixed.back().setting = "rate=12";
  EXPECT_EQ(refusal(mixed, "a"),
            "runs of two settings, 'rate=20' and 'rate=12', cannot be summarised together");
  auto tuned = runs;
  tuned.back().role = Role::kTune;
  EXPECT_EQ(refusal(tuned, "a"),
            "runs of two roles, 'test' and 'tune', cannot be summarised together");
  runs.push_back(runs.front());
  EXPECT_EQ(refusal(runs, "a"), "the run rate=20, a, day 1000000 is there twice");
}

TEST(Summary, EverySettingOfAFileHasItsOwn) {
  auto runs = pretended_runs({{"a"}, {"b", 0.9}}, 5);
  const auto other = runs;
  for (RunRecord run : other) {
    run.setting = "rate=12";
    runs.push_back(run);
  }
  const auto summaries = *summarise_settings(runs, {.reference = "a"});
  ASSERT_EQ(summaries.size(), 2);
  EXPECT_EQ(summaries[0].setting, "rate=12");
  EXPECT_EQ(summaries[1].setting, "rate=20");
}

TEST(Summary, JsonNamesWhatItHolds) {
  const auto runs = pretended_runs({{"a"}, {"b", 0.9}}, 40);
  const auto json = to_json(*summarise(runs, {.reference = "a"}));
  EXPECT_EQ(json["days"], 40);
  EXPECT_TRUE(json["policies"][0]["differences"].is_null());
  const auto& difference = json["policies"][1]["differences"]["et"];
  std::vector<std::string> keys;
  for (const auto& item : difference.items()) keys.push_back(item.key());
  EXPECT_EQ(keys, (std::vector<std::string>{"mean", "sd", "t_interval", "bootstrap_interval",
                                            "percent", "percent_interval", "p_wilcoxon", "p_holm",
                                            "p_anytime", "p_anytime_holm", "anytime_interval",
                                            "days_until_decided", "verdict"}));
  EXPECT_NEAR(difference["percent"].get<double>(), -10, 2);
  EXPECT_EQ(difference["verdict"], "lower");
}

}  // namespace
}  // namespace partita::experiment
