// Summary: what the runs of one setting say about its policies and about the differences between
// them.
//
// Every policy is compared with one reference on the same days. One test decides, that of the plan,
// at the level alpha over the number of policies compared (Bonferroni), for each measure by itself:
// ET is the question, energy and tardiness are its parts. The interval shown is the interval of
// that test at that level, and the verdict is the side of zero on which it lies, so the two cannot
// disagree; all intervals of a measure hold together with probability 1 - alpha.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "experiment/results/run_record.h"
#include "experiment/statistics/sequential.h"
#include "experiment/statistics/sign_flips.h"
#include "experiment/statistics/statistics.h"

namespace partita::experiment {

enum class Measure : std::uint8_t { kEt, kEnergy, kTardiness };
inline constexpr std::array<Measure, 3> kMeasures{Measure::kEt, Measure::kEnergy,
                                                  Measure::kTardiness};

// As in the record: et, energy_j, mean_tardiness_s.
std::string_view measure_name(Measure measure);
double value_of(const RunRecord& record, Measure measure);

template <typename T>
struct ByMeasure {
  std::array<T, kMeasures.size()> values;

  T& operator[](Measure measure) { return values[static_cast<std::size_t>(measure)]; }
  const T& operator[](Measure measure) const { return values[static_cast<std::size_t>(measure)]; }
};

// Of a mean over the days. What needs two days is absent when there is one.
struct Estimate {
  double mean = 0;
  std::optional<double> sd;
  std::optional<Interval> t;
  std::optional<Interval> bootstrap;
};

enum class Verdict : std::uint8_t {
  kUndecided,
  kLower,  // than the reference: better, for all three measures
  kHigher,
};

// What the test of the plan says. The interval is at the level alpha over the number of policies;
// absent when there are too few days for it.
struct Decision {
  double p = 1;
  double p_adjusted = 1;  // for the number of policies; at most alpha exactly when it is decided
  std::optional<Interval> interval;

  Verdict verdict() const;
};

// The days' own ratios, policy over reference, with the same weight for each day: in a ratio of
// sums one expensive day can be a quarter of the answer. Shares as in Relative.
struct DayRatios {
  double mean = 0;  // geometric
  double least = 0;
  double most = 0;
  Decision decision;  // of the geometric mean
};

// Of a policy less the reference.
struct Difference {
  Estimate estimate;                 // its intervals look at this policy alone
  std::optional<Relative> relative;  // absent when the reference's mean is zero; interval as above
  Decision decision;                 // of the share in `relative`
  std::optional<Interval> absolute;  // the decision's, in the unit of the measure
  std::optional<DayRatios> days;     // absent where a day's value is zero
  // Further tests of this policy, which decide nothing.
  double p_wilcoxon = 1;
  double p_holm = 1;  // p_wilcoxon, corrected for the number of policies
  double p_anytime = 1;
  double p_anytime_holm = 1;
  std::optional<Interval> anytime;  // see sequential.h; absent before its first days
  // Of a plan with power 80 % for a difference of this size, at the level of the decision.
  std::optional<std::uint64_t> days_until_decided;
  Verdict verdict = Verdict::kUndecided;

  bool decided() const { return verdict != Verdict::kUndecided; }
};

struct PolicySummary {
  std::string policy;
  std::string scheduler;
  std::string repartition;
  ByMeasure<Estimate> estimates;
  std::optional<ByMeasure<Difference>> differences;  // absent for the reference
};

struct Summary {
  std::string experiment;
  std::string setting;
  std::string reference;
  std::uint64_t days = 0;
  std::uint64_t days_min = 0;           // fewer cannot decide among so many policies
  double confidence = kConfidence;      // of all decisions of a measure together
  std::vector<PolicySummary> policies;  // the reference first, then by name

  bool too_few_days() const { return policies.size() > 1 && days < days_min; }
  std::size_t compared() const { return policies.size() - 1; }
  // Whether running until decided may stop.
  bool all_decided(Measure measure) const;
};

// How the number of days came about, which says which test may be believed.
enum class Plan : std::uint8_t {
  kFixedDays,     // the test of sign_flips.h
  kUntilDecided,  // the test of sequential.h
};

struct SummaryOptions {
  std::string reference;  // the policy to compare with
  Plan plan = Plan::kFixedDays;
  SequentialRule rule = {};  // its alpha is that of all verdicts
  Bootstrap bootstrap = {};
  std::uint32_t splits = kSplits;  // of SignFlips
};

// `records` are of one setting and role, in any order. Policies that were not run on the same days
// are an error, as they cannot be compared.
Result<Summary> summarise(std::span<const RunRecord> records, const SummaryOptions& options);

std::string_view verdict_name(Verdict verdict);  // undecided, lower, higher
// "5 days are too few to decide among 9 policies: at least 9 days are needed." Empty when there are
// enough.
std::string too_few_text(const Summary& summary);
nlohmann::ordered_json to_json(const Summary& summary);

}  // namespace partita::experiment
