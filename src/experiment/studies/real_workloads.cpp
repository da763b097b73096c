// What wins on real workloads: order, preemption and layout on published traces and on weeks made
// after them, one parameter set for all.
#include <fmt/format.h>

#include "experiment/studies/sensitivity.h"
#include "experiment/studies/traces.h"
#include "policies/registry.h"

namespace partita::experiment {
namespace {

using Mode = decide::Preemption::Mode;

constexpr decide::Preemption kNone{Mode::kNone, {}};
// Checkpoint and restart.
constexpr decide::Preemption kAtCost{Mode::kCost, Micros::seconds(30)};
constexpr decide::Preemption kPays{Mode::kPays, Micros::seconds(30)};
constexpr double kWrongEstimates = 0.5;
constexpr std::uint64_t kWeeks = 30;

StudyPolicy policy(const char* name, const char* scheduler, const std::string& mix,
                   decide::Preemption preemption) {
  return {name, scheduler, mix, preemption};
}

// The first is the reference: what a careful operator has today.
std::vector<StudyPolicy> policies_for(const std::string& mix_none, const std::string& mix_pays,
                                      const std::string& pace) {
  const std::string ahead = lookahead_from(mix_none, "flat", pace);
  const std::string ahead_pays = lookahead_from(mix_pays, "flat", pace);
  return {policy("mdd-fastest/tuned", "mdd-fastest", mix_none, kNone),
          policy("mdd/tuned", "mdd", mix_none, kNone),
          policy("atc/tuned", "atc", mix_none, kNone),
          policy("cedf/tuned", "cedf", mix_none, kNone),
          policy("fifo/tuned", "fifo", mix_none, kNone),
          policy("mdd/whole GPUs", "mdd", "none", kNone),
          policy("mdd/looking ahead", "mdd", ahead, kNone),
          policy("mdd/tuned, cost=30", "mdd", mix_none, kAtCost),
          policy("mdd/tuned, pays=30", "mdd", mix_none, kPays),
          policy("mdd/tuned for it, pays=30", "mdd", mix_pays, kPays),
          policy("mdd/whole GPUs, pays=30", "mdd", "none", kPays),
          policy("mdd/looking ahead, pays=30", "mdd", ahead_pays, kPays)};
}

std::vector<StudyPolicy> without_looking_ahead(std::vector<StudyPolicy> policies) {
  std::erase_if(policies, [](const StudyPolicy& each) {
    return policies::repartitioner_traits(each.repartition).looks_ahead();
  });
  return policies;
}

// With the same policies where policies are told wrong run times, less those that only repeat.
StudySetting with_wrong_estimates(const StudySetting& setting) {
  StudySetting wrong = setting;
  wrong.name += ", run times wrong";
  wrong.estimate_error = kWrongEstimates;
  wrong.policies = without_looking_ahead(std::move(wrong.policies));
  std::erase_if(wrong.policies, [](const StudyPolicy& each) {
    return policies::repartitioner_traits(each.repartition).whole_gpus;
  });
  return wrong;
}

// Eight GPUs at about their capacity. The mixes are what
//   partita tune static --kind realistic --hours 168 --jobs-per-hour 10 --profile venus --gpus 8
//     --scheduler mdd-fastest --preemption none --days 12 --folds 0 --evaluations 150
// finds, and the same with `--scheduler mdd --preemption pays=30`.
StudySetting realistic_weeks() {
  workload::RealisticOptions options;
  options.hours = 168;
  options.jobs_per_hour = 10;
  options.profile = "venus";
  StudySetting setting;
  setting.name = "realistic weeks";
  setting.days = realistic_days(options);
  setting.cost = sim::RepartitionCost::kMeasured;
  // Weeks of long jobs take looking ahead minutes each; docs/concepts/lookahead.md has a few of
  // them.
  setting.days.test_days_max = kWeeks;
  setting.policies =
      without_looking_ahead(policies_for("static:1,2,2,2,2,2,2,2", "static:1,1,2,2,6,6,7,8", ""));
  return setting;
}

Study study_without_traces() {
  Study study;
  study.name = "real-workloads";
  study.title = "What wins on real workloads: order, preemption and layout";
  study.source = "none: published traces and weeks made after them";
  study.settings.push_back(realistic_weeks());
  return study;
}

}  // namespace

Study real_workloads_study() {
  return study_without_traces();
}

Result<Study> real_workloads_study_with(const std::string& folder) {
  const auto traces = find_traces(folder);
  if (!traces) return traces.error();
  Study study = study_without_traces();
  study.name = "real-workloads-traces";
  for (const FoundTrace& trace : *traces) {
    StudySetting setting = trace.setting;
    setting.policies = policies_for(trace.row.mix_none, trace.row.mix_pays, trace.row.pace);
    study.settings.push_back(setting);
    study.settings.push_back(with_wrong_estimates(setting));
  }
  return study;
}

}  // namespace partita::experiment
