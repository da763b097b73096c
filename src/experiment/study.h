// Study: an experiment as data: settings, policies, and what the sources claim.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "experiment/day_source.h"
#include "experiment/runner.h"
#include "sim/run.h"

namespace partita::experiment {

// A policy of a study; unique by name inside a setting.
struct StudyPolicy {
  std::string name;
  std::string scheduler;
  std::string repartition;
  // Where it is judged under other rules than the setting's: on-demand slicing moves no job, and
  // pays for each instance.
  std::optional<decide::Preemption> preemption = {};
  std::optional<sim::RepartitionCost> cost = {};
  std::optional<sim::MemoryRules> memory = {};
  std::optional<decide::QueueRules> queue = {};
};

// One workload on one fleet, and the policies that meet on it.
struct StudySetting {
  std::string name;  // "rate=20"
  DaySource days;
  std::string gpu = "a100-40gb";
  std::uint32_t gpus = 8;
  std::string power = {};  // of the model's curves; empty: its first
  double power_scale = 1;  // of every level of the curve
  decide::Preemption preemption = {};
  sim::RepartitionCost cost = sim::RepartitionCost::kPaper;
  sim::MemoryRules memory = {};
  decide::QueueRules queue = {};
  double estimate_error = 0;  // of the run times policies are told (sim/estimates.h)
  double et_a = 2e-7;
  bool keep_layouts = false;               // record the shares of layouts (run_record.h)
  bool measure_fragmentation = false;      // and the fragmentation
  std::vector<StudyPolicy> policies = {};  // the first is the reference

  enum class Shown : std::uint8_t {
    kTable,  // a table of its own
    kRow,    // one row in a table of settings
    kNot,    // only where a claim names it
  };
  Shown shown = Shown::kTable;
};

// A figure of a source beside which ours is put.
struct Claim {
  enum class Kind : std::uint8_t {
    kTardinessMin,  // mean tardiness of `policy`
    kEnergyMWMin,   // millions of W·min
    kLatePercent,
    kEtGainPercent,    // ET of `policy` below that of `other`
    kLateGainPercent,  // the same for the share of late jobs
    kLayoutPercent,    // time GPUs have one of the layouts of `other`, as in "8+9"
    kThroughputRatio,  // makespan of `other` over that of `policy`
    kEnergyRatio,      // energy of `other` over that of `policy`
    // Of `policy` above the bound of the same days; judged only where there are bounds.
    kEnergyOverBoundPercent,
    kTardinessOverBoundPercent,
  };
  std::string setting;
  std::string what;
  Kind kind = Kind::kTardinessMin;
  std::string policy;
  std::string other;  // see the kinds
  double published = 0;
  // Relative for means and ratios, points for percentages of gain, of layouts and over bounds.
  double tolerance = 0;
  std::string remark;      // why it may differ
  bool comparable = true;  // or something it depends on was not published
};

struct Study {
  std::string name;
  std::string title;
  std::string source;
  std::vector<StudySetting> settings;
  std::vector<Claim> claims;
  // A day is a batch: what counts is how soon all of it is done, and the energy until then.
  bool batches = false;
};

// The studies that ship, by name.
const std::vector<Study>& studies();
Result<const Study*> find_study(std::string_view name);

// Everything that a run depends on, for the result file (definition.h); not the number of days.
std::string definition_of(const Study& study, std::string_view version);

// One day of one policy as day_file.h has it. REQUIRES: tasks_of found the study sound.
Result<nlohmann::ordered_json> detailed_day(const StudySetting& setting, const StudyPolicy& policy,
                                            std::uint64_t seed);

// One task a setting, policy and test day; a setting with fewer days than asked for has all its
// own. REQUIRES: the study outlives the tasks.
Result<std::vector<Task>> tasks_of(const Study& study, std::uint64_t days);

// What no policy can beat (docs/concepts/bounds.md), as records of a policy of this name: one a
// setting and test day, as tasks_of has them.
inline constexpr std::string_view kBoundName = "bound";
Result<std::vector<Task>> bound_tasks_of(const Study& study, std::uint64_t days);

}  // namespace partita::experiment
