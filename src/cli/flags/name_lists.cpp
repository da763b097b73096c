#include "cli/flags/name_lists.h"

#include <algorithm>

#include "cli/flags/flags.h"
#include "cli/flags/presets.h"
#include "experiment/study.h"
#include "learn/systems.h"
#include "mig/gpu_model.h"
#include "policies/registry.h"
#include "workload/curves.h"
#include "workload/generators/migm.h"
#include "workload/generators/profiles.h"
#include "workload/readers/registry.h"

namespace partita::cli {

std::vector<std::string> gpu_names() {
  std::vector<std::string> names;
  for (const mig::GpuModel* model : mig::catalogue()) names.push_back(model->key);
  return names;
}

std::vector<std::string> power_names() {
  std::vector<std::string> names;
  for (const mig::GpuModel* model : mig::catalogue()) {
    for (const mig::PowerCurve& curve : model->power_curves) names.push_back(curve.name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<std::string> scheduler_names() {
  std::vector<std::string> names;
  for (const policies::SchedulerRow& row : policies::schedulers()) names.push_back(row.name);
  return names;
}

std::vector<std::string> scheduler_names_or_all() {
  std::vector<std::string> names = scheduler_names();
  names.insert(names.begin(), "all");
  return names;
}

std::vector<std::string> repartitioner_names() {
  std::vector<std::string> names;
  for (const decide::PolicyFacts& row : policies::repartitioners()) {
    // A name that says nothing on its own goes on after a colon.
    const bool whole = policies::make_repartitioner(row.name, *mig::catalogue().front(), 1).ok();
    names.push_back(whole ? row.name : row.name + ":");
  }
  return names;
}

std::vector<std::string> preemption_names() {
  return {"free", "none", "cost=", "pays="};
}

std::vector<std::string> repartition_cost_names() {
  return {"paper", "measured"};
}

std::vector<std::string> generator_names() {
  return {"migm", "papers", "poisson", "realistic"};
}

std::vector<std::string> migm_mix_names() {
  return workload::migm_mixes();
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const workload::Profile& profile : workload::profiles()) names.emplace_back(profile.name);
  return names;
}

std::vector<std::string> curve_names() {
  std::vector<std::string> names{"papers", "miso", "h200"};
  for (const workload::Curve& curve : workload::curves()) names.push_back(curve.name);
  return names;
}

std::vector<std::string> dialect_names() {
  std::vector<std::string> names;
  for (const workload::Dialect& dialect : workload::dialects()) names.emplace_back(dialect.name);
  return names;
}

std::vector<std::string> origin_names() {
  return {"first", "midnight"};
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) names.emplace_back(preset.name);
  return names;
}

std::vector<std::string> shell_names() {
  return {"bash", "zsh", "fish"};
}

std::vector<std::string> study_names() {
  std::vector<std::string> names;
  for (const experiment::Study& study : experiment::studies()) names.push_back(study.name);
  return names;
}

std::vector<std::string> layout_actions() {
  return {"plan", "apply", "assert", "export", "generate-config"};
}

std::vector<std::string> token_actions() {
  return {"create", "list", "revoke"};
}

std::vector<std::string> plan_names() {
  return {"static", "timetable"};
}

std::vector<std::string> judging_days() {
  return {"test", "validation"};
}

std::vector<std::string> system_names() {
  std::vector<std::string> names;
  for (const learn::System& system : learn::systems()) names.push_back(system.name);
  return names;
}

std::vector<std::string> reward_names() {
  return {"published", "corrected"};
}

std::vector<std::string> scenario_actions() {
  return {"show"};
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const VerbRecord& record : verb_records()) names.emplace_back(record.name);
  return names;
}

std::vector<std::string> bound_kind_names() {
  return {"energy", "tardiness", "et"};
}

}  // namespace partita::cli
