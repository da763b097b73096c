#include "experiment/studies/own_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "experiment/studies/studies.h"
#include "policies/registry.h"

namespace partita::experiment {
namespace {

// For the names of result files.
std::string name_of(const std::string& source) {
  std::string stem = std::filesystem::path(source).filename().string();
  stem = stem.substr(0, stem.find('.'));
  return stem.empty() ? "own" : stem;
}

// The more GPUs, the more happens between two changes that matter; a fleet that is looked at
// through a sample sees to that itself.
std::string pace_of(std::uint32_t gpus) {
  constexpr std::uint32_t kEventsPerGpu = 4;
  constexpr std::uint32_t kSampledFrom = 16;
  return fmt::format("every={}", kEventsPerGpu * std::min(kSampledFrom, gpus));
}

std::vector<StudyPolicy> usual_policies(const OwnStudy& own) {
  const auto& [scheduler, repartition, seed] = own.policy;
  std::vector<StudyPolicy> policies{{"as set", scheduler, repartition}};
  const policies::RepartitionerTraits& traits = policies::repartitioner_traits(repartition);
  if (!traits.whole_gpus) policies.push_back({"whole GPUs", scheduler, "none"});
  if (!traits.looks_ahead()) {
    const bool from_static = traits.habit == policies::LayoutHabit::kNever && !traits.whole_gpus &&
                             repartition.find(';') == std::string::npos;
    policies.push_back({"looking ahead", scheduler,
                        lookahead_from(from_static ? repartition : "static:1", own.profile,
                                       pace_of(own.run.gpus))});
  }
  policies.push_back(on_demand_policy("first-fit"));
  policies.push_back(on_demand_policy("least-fragmenting"));
  return policies;
}

}  // namespace

Study own_study(OwnStudy own) {
  StudySetting setting;
  setting.policies = own.policies.empty() ? usual_policies(own) : std::move(own.policies);
  setting.days = std::move(own.days);
  setting.gpu = own.gpu;
  setting.gpus = own.run.gpus;
  setting.power = own.run.power->name;
  setting.preemption = own.run.preemption;
  setting.cost = own.run.repartition_cost;
  setting.memory = own.run.memory;
  setting.queue = own.run.queue;
  setting.estimate_error = own.run.estimate_error;
  setting.et_a = own.run.et_a;
  Study study;
  study.name = name_of(own.source);
  study.settings = {std::move(setting)};
  return study;
}

}  // namespace partita::experiment
