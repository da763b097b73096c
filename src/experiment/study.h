// Study: an experiment as data: settings, policies, and what the sources claim.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "experiment/runner.h"
#include "experiment/summary.h"
#include "sim/run.h"

namespace partita::experiment {

// A policy of a study; unique by name inside a setting.
struct StudyPolicy {
  std::string name;
  std::string scheduler;
  std::string repartition;
};

// One workload on one fleet, and the policies that meet on it.
struct StudySetting {
  std::string name;  // "rate=20"
  double rate = 20;
  double deadline_low = 1.0;
  double deadline_high = 1.5;
  double training_share = 0.2;
  std::uint32_t gpus = 8;
  std::string power = "smart-mig";
  double power_scale = 1;  // of every level of the curve
  decide::Preemption::Mode preemption = decide::Preemption::Mode::kFree;
  Micros preemption_cost;
  sim::RepartitionCost cost = sim::RepartitionCost::kPaper;
  double et_a = 2e-7;
  std::vector<StudyPolicy> policies;  // the first is the reference
};

// A figure of a source beside which ours is put.
struct Claim {
  enum class Kind : std::uint8_t {
    kTardinessMin,  // mean tardiness of `policy`
    kEnergyMWMin,   // millions of W·min
    kLatePercent,
    kEtGainPercent,  // ET of `policy` below that of `other`
  };
  std::string setting;
  std::string what;
  Kind kind = Kind::kTardinessMin;
  std::string policy;
  std::string other;  // kEtGainPercent
  double published = 0;
  double tolerance = 0;  // relative for the first three, points for gains
  std::string remark;    // why it may differ
};

struct Study {
  std::string name;
  std::string title;
  std::string source;
  std::vector<StudySetting> settings;
  std::vector<Claim> claims;
};

// The studies that ship, by name.
const std::vector<Study>& studies();
Result<const Study*> find_study(std::string_view name);

// Everything that a run depends on, for the result file (definition.h); not the number of days.
std::string definition_of(const Study& study, std::string_view version);

// One task a setting, policy and test day.
Result<std::vector<Task>> tasks_of(const Study& study, std::uint64_t days);

enum class ClaimVerdict : std::uint8_t {
  kReproduced,  // the published figure lies in our interval widened by the tolerance
  kNotReproduced,
  kTooFewDays,  // it does, but our interval is so wide that this says little
};

struct JudgedClaim {
  const Claim* claim = nullptr;
  double ours = 0;
  std::optional<Interval> interval;
  ClaimVerdict verdict = ClaimVerdict::kNotReproduced;
};

std::vector<JudgedClaim> judge_claims(const Study& study, std::span<const RunRecord> records);

}  // namespace partita::experiment
