// What it costs to keep every wait bounded: policies with and without reservations.
#include "experiment/studies/traces.h"

namespace partita::experiment {
namespace {

using Mode = decide::Preemption::Mode;

constexpr decide::Preemption kToTheEnd{Mode::kNone, {}};
constexpr decide::Preemption kWherePays{Mode::kPays, Micros::seconds(30)};

// Each policy, and the same with what `serve` does unless told otherwise.
std::vector<StudyPolicy> in_pairs(const std::vector<StudyPolicy>& policies) {
  std::vector<StudyPolicy> pairs;
  for (const StudyPolicy& policy : policies) {
    pairs.push_back(policy);
    StudyPolicy reserves = policy;
    reserves.name += ", reserves";
    reserves.queue = decide::QueueRules{.reserve_after = decide::kReserveAfterDefault};
    pairs.push_back(std::move(reserves));
  }
  return pairs;
}

StudyPolicy measured(const char* name, const char* scheduler, const std::string& mix,
                     decide::Preemption preemption) {
  return {name, scheduler, mix, preemption, sim::RepartitionCost::kMeasured};
}

std::vector<StudyPolicy> pairs_for(const std::string& mix) {
  return in_pairs({measured("mdd/tuned", "mdd", mix, kToTheEnd),
                   measured("sjf/tuned", "sjf", mix, kToTheEnd),
                   measured("mdd/tuned, pays=30", "mdd", mix, kWherePays),
                   measured("mdd/whole GPUs", "mdd", "none", kToTheEnd),
                   measured("fifo+requested/ondemand", "fifo+requested", "ondemand", kToTheEnd),
                   measured("mdd+tightest/migm-b", "mdd+tightest", "migm-b", kToTheEnd)});
}

StudySetting busy_weeks() {
  constexpr std::uint64_t kWeeks = 30;
  workload::RealisticOptions options;
  options.hours = 168;
  options.jobs_per_hour = 10;
  options.profile = "venus";
  StudySetting setting;
  setting.name = "realistic weeks";
  setting.days = realistic_days(options);
  setting.days.test_days_max = kWeeks;
  setting.policies = pairs_for("static:1,2,2,2,2,2,2,2");
  return setting;
}

}  // namespace

Study reservations_study() {
  Study study;
  study.name = "reservations";
  study.title = "What bounded waits cost: policies with and without reservations after 600 s";
  study.source = "none: the papers' days, and weeks made after published traces";
  for (const int rate : {12, 16, 20}) {
    StudySetting setting = smart_mig_setting(rate);
    setting.policies = pairs_for(tuned_mix(rate));
    study.settings.push_back(std::move(setting));
  }
  study.settings.push_back(busy_weeks());
  return study;
}

Result<Study> reservations_study_with(const std::string& folder) {
  const auto traces = find_traces(folder);
  if (!traces) return traces.error();
  Study study = reservations_study();
  study.name = "reservations-traces";
  for (const FoundTrace& trace : *traces) {
    StudySetting setting = trace.setting;
    setting.policies = pairs_for(trace.row.mix_none);
    study.settings.push_back(std::move(setting));
  }
  return study;
}

}  // namespace partita::experiment
