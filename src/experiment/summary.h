// Summary: what the runs of one setting say about its policies and about the differences between
// them.
//
// Every policy is compared with one reference on the same days. Claims are corrected for their
// number by Holm's method, over all policies compared, for each measure by itself: ET is the
// question, energy and tardiness are its parts.
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
#include "experiment/run_record.h"
#include "experiment/sequential.h"
#include "experiment/statistics.h"

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

// Of a policy less the reference.
struct Difference {
  Estimate estimate;
  std::optional<Relative> relative;  // absent when the reference's mean is zero
  double p_wilcoxon = 1;
  double p_holm = 1;  // p_wilcoxon, corrected for the number of policies
  double p_anytime = 1;
  double p_anytime_holm = 1;
  std::optional<Interval> anytime;  // see sequential.h; absent before its first days
  // Of a plan with power 80 % for a difference of this size, at Holm's strictest level.
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
  std::vector<PolicySummary> policies;  // the reference first, then by name

  // Whether running until decided may stop.
  bool all_decided(Measure measure) const;
};

// How the number of days came about, which says which test may be believed.
enum class Plan : std::uint8_t {
  kFixedDays,     // decided: Holm's p of Wilcoxon <= alpha, and the t interval on one side of zero
  kUntilDecided,  // decided: Holm's p of the sequential test <= alpha
};

struct SummaryOptions {
  std::string reference;  // the policy to compare with
  Plan plan = Plan::kFixedDays;
  SequentialRule rule = {};  // its alpha is that of all verdicts
  Bootstrap bootstrap = {};
};

// `records` are of one setting and role, in any order. Policies that were not run on the same days
// are an error, as they cannot be compared.
Result<Summary> summarise(std::span<const RunRecord> records, const SummaryOptions& options);

// For every setting of a whole result file, in order of setting.
Result<std::vector<Summary>> summarise_settings(std::span<const RunRecord> records,
                                                const SummaryOptions& options);

std::string_view verdict_name(Verdict verdict);  // undecided, lower, higher
nlohmann::ordered_json to_json(const Summary& summary);

}  // namespace partita::experiment
