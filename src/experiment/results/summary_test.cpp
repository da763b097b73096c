#include "experiment/results/summary.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

// Days and policies of any kind: heavy tails, equal policies, days that cost nothing, few values.
std::vector<RunRecord> odd_runs(Rng& rng) {
  const std::uint64_t days = 1 + rng.below(rng.uniform() < 0.5 ? 12 : 60);
  const std::uint64_t policies = 2 + rng.below(9);
  const double spread = rng.uniform(0, 2);
  const double free_days = rng.uniform() < 0.3 ? rng.uniform() : 0;
  const bool coarse = rng.uniform() < 0.3;
  std::vector<double> shares;
  for (std::uint64_t i = 0; i < policies; ++i) {
    shares.push_back(rng.uniform() < 0.2 ? 1 : rng.lognormal(0, 0.3));
  }
  std::vector<RunRecord> records;
  for (std::uint64_t day = 0; day < days; ++day) {
    const double cost = rng.uniform() < free_days ? 0 : rng.lognormal(0, spread);
    for (std::uint64_t i = 0; i < policies; ++i) {
      RunRecord record = record_of({"odd", "p" + std::to_string(i), day_seed(Role::kTest, day)});
      const double noise = rng.uniform() < 0.1 ? 1 : rng.lognormal(0, 0.3);
      const double et = i == 0 ? cost : cost * shares[i] * noise;
      record.et = coarse ? std::round(4 * et) / 10 : et;
      record.energy_j = 1e8 + record.et;
      record.mean_tardiness_s = rng.uniform() < 0.5 ? 0 : record.et;
      records.push_back(record);
    }
  }
  return records;
}

Verdict side_of(const std::optional<Interval>& interval) {
  if (!interval || interval->contains(0)) return Verdict::kUndecided;
  return interval->high < 0 ? Verdict::kLower : Verdict::kHigher;
}

// The verdict can be read off any interval that is shown beside it, and is what p says.
void expect_agreement(const Difference& difference, const Summary& summary) {
  const auto sure = [](const Decision& decision) { return decision.p_adjusted <= 0.05 + 1e-12; };
  if (difference.decision.interval) {
    EXPECT_EQ(side_of(difference.decision.interval), difference.verdict);
    EXPECT_TRUE(difference.decision.interval->contains(difference.relative->share));
  }
  EXPECT_EQ(side_of(difference.absolute), difference.verdict);
  EXPECT_EQ(sure(difference.decision), difference.decided());
  if (difference.decided()) {
    EXPECT_EQ(difference.estimate.mean < 0, difference.verdict == Verdict::kLower);
  }
  if (difference.days) {
    EXPECT_EQ(sure(difference.days->decision),
              difference.days->decision.verdict() != Verdict::kUndecided);
    EXPECT_LE(difference.days->least, difference.days->mean + 1e-12);
    EXPECT_GE(difference.days->most, difference.days->mean - 1e-12);
  }
  if (summary.too_few_days()) {
    EXPECT_FALSE(difference.decided());
    EXPECT_FALSE(difference.absolute.has_value());
  } else {
    EXPECT_TRUE(difference.absolute.has_value());
  }
}

TEST(Summary, VerdictAndIntervalNeverContradictEachOther) {
  Rng rng(83);
  int decided = 0;
  int undecided = 0;
  for (int trial = 0; trial < 1'000; ++trial) {
    SCOPED_TRACE(trial);
    const auto runs = odd_runs(rng);
    SummaryOptions options{.reference = "p0"};
    options.plan = trial % 3 == 0 ? Plan::kUntilDecided : Plan::kFixedDays;
    options.bootstrap.resamples = 1;
    options.splits = 999;
    const Summary summary = *summarise(runs, options);
    for (const PolicySummary& policy : summary.policies) {
      for (const Measure measure : kMeasures) {
        if (!policy.differences) continue;
        SCOPED_TRACE(
            fmt::format("{} {} of {} days", policy.policy, measure_name(measure), summary.days));
        expect_agreement((*policy.differences)[measure], summary);
        ((*policy.differences)[measure].decided() ? decided : undecided) += 1;
      }
    }
  }
  EXPECT_GT(decided, 500);
  EXPECT_GT(undecided, 500);
}

TEST(Summary, TooFewDaysForSoManyPoliciesAreSaid) {
  std::vector<Pretended> policies{{"static"}, {"saver", 0.1, 0}};
  for (int i = 0; i < 7; ++i) policies.push_back({"other" + std::to_string(i)});
  const Summary few = *summarise(pretended_runs(policies, 5), {.reference = "static"});
  EXPECT_TRUE(few.too_few_days());
  EXPECT_EQ(too_few_text(few),
            "5 days are too few to decide among 9 policies: at least 9 days are needed.");
  const Difference& saver = (*row(few, "saver").differences)[Measure::kEt];
  EXPECT_FALSE(saver.decided());
  EXPECT_FALSE(saver.decision.interval.has_value());
  EXPECT_GE(saver.days_until_decided.value(), 9U);
  EXPECT_NE(to_json(few)["days_min"], nullptr);
  const Summary enough = *summarise(pretended_runs(policies, 9), {.reference = "static"});
  EXPECT_EQ(too_few_text(enough), "");
  EXPECT_EQ((*row(enough, "saver").differences)[Measure::kEt].verdict, Verdict::kLower);
  const Summary one = *summarise(pretended_runs({{"a"}, {"b"}}, 1), {.reference = "a"});
  EXPECT_EQ(too_few_text(one),
            "1 day is too few to decide among 2 policies: at least 6 days are needed.");
}

// Eleven days at nine tenths of the cost, and one that costs as much as all of them, at twice.
TEST(Summary, OneExpensiveDayIsInTheSumAndOnlyOneOfTheDays) {
  std::vector<RunRecord> runs;
  for (std::uint64_t day = 0; day < 12; ++day) {
    for (const char* policy : {"a", "b"}) {
      RunRecord record = record_of({"rate=20", policy, day_seed(Role::kTest, day)});
      record.et = day == 11 ? 11 : 1;
      if (record.policy == "b") record.et *= day == 11 ? 2 : 0.9;
      runs.push_back(record);
    }
  }
  const Summary summary = *summarise(runs, {.reference = "a"});
  const Difference& difference = (*row(summary, "b").differences)[Measure::kEt];
  EXPECT_NEAR(difference.relative->share, 0.45, 1e-12);
  EXPECT_EQ(difference.verdict, Verdict::kUndecided);
  ASSERT_TRUE(difference.days.has_value());
  EXPECT_NEAR(difference.days->mean, std::pow(std::pow(0.9, 11) * 2, 1.0 / 12) - 1, 1e-12);
  EXPECT_NEAR(difference.days->least, -0.1, 1e-12);
  EXPECT_NEAR(difference.days->most, 1, 1e-12);
}

TEST(Summary, AFileWithNegativeFiguresIsSummarised) {
  auto runs = pretended_runs({{"a"}, {"b", 0.5}}, 12);
  for (RunRecord& run : runs) run.mean_tardiness_s = run.policy == "a" ? 1 : -1;
  const Summary summary = *summarise(runs, {.reference = "a"});
  const Difference& difference = (*row(summary, "b").differences)[Measure::kTardiness];
  EXPECT_EQ(difference.verdict, Verdict::kLower);
  EXPECT_FALSE(difference.decision.interval.has_value());
}

TEST(Summary, AnyFalseClaimAmongEqualPoliciesStaysRare) {
  constexpr int kTrials = 400;
  int false_claims = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto runs = pretended_runs({{"a"}, {"b"}, {"c"}, {"d"}, {"e"}}, 30,
                                     1000 + static_cast<std::uint64_t>(trial));
    SummaryOptions options{.reference = "a"};
    options.bootstrap.resamples = 1;
    options.splits = 999;
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

TEST(Summary, JsonNamesWhatItHolds) {
  const auto runs = pretended_runs({{"a"}, {"b", 0.9}}, 40);
  const auto json = to_json(*summarise(runs, {.reference = "a"}));
  EXPECT_EQ(json["days"], 40);
  EXPECT_TRUE(json["policies"][0]["differences"].is_null());
  const auto& difference = json["policies"][1]["differences"]["et"];
  std::vector<std::string> keys;
  for (const auto& item : difference.items()) keys.push_back(item.key());
  EXPECT_EQ(keys, (std::vector<std::string>{"mean", "sd", "t_interval", "bootstrap_interval",
                                            "percent", "percent_interval", "percent_interval_alone",
                                            "interval", "p", "p_adjusted", "day_ratios",
                                            "p_wilcoxon", "p_holm", "p_anytime", "p_anytime_holm",
                                            "anytime_interval", "days_until_decided", "verdict"}));
  EXPECT_NEAR(difference["percent"].get<double>(), -10, 2);
  EXPECT_EQ(difference["verdict"], "lower");
}

}  // namespace
}  // namespace partita::experiment
