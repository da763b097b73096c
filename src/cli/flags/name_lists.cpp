#include "cli/flags/name_lists.h"

#include <algorithm>
#include <functional>

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
namespace {

template <typename Rows, typename Name>
std::vector<std::string> names_in(const Rows& rows, Name name) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(std::invoke(name, row));
  return names;
}

}  // namespace

std::vector<std::string> gpu_names() {
  return names_in(mig::catalogue(), &mig::GpuModel::key);
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
  return names_in(policies::schedulers(), &policies::SchedulerRow::name);
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

std::vector<std::string> migm_mix_names() {
  return workload::migm_mixes();
}

std::vector<std::string> profile_names() {
  return names_in(workload::profiles(), &workload::Profile::name);
}

std::vector<std::string> curve_names() {
  std::vector<std::string> names{"papers", "miso", "h200"};
  for (const workload::Curve& curve : workload::curves()) names.push_back(curve.name);
  return names;
}

std::vector<std::string> dialect_names() {
  return names_in(workload::dialects(), &workload::Dialect::name);
}

std::vector<std::string> preset_names() {
  return names_in(presets(), &Preset::name);
}

std::vector<std::string> shell_names() {
  return {"bash", "zsh", "fish"};
}

std::vector<std::string> study_names() {
  return names_in(experiment::studies(), &experiment::Study::name);
}

std::vector<std::string> system_names() {
  return names_in(learn::systems(), &learn::System::name);
}

std::vector<std::string> verb_names() {
  return names_in(verb_records(), &VerbRecord::name);
}

}  // namespace partita::cli
