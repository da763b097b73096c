// What the referees asked: one assumption of SMART-MIG's day changed at a time, other GPUs, and a
// day after real traces.
#include "experiment/studies/sensitivity.h"

#include <fmt/format.h>

namespace partita::experiment {
namespace {

using Mode = decide::Preemption::Mode;

DaySource day_with(double rate, double training_share) {
  workload::PapersOptions options;
  options.rate = rate;
  options.mix.training_share = training_share;
  return papers_days(options);
}

// Adds the base with one thing changed.
template <typename Change>
void add(Study& study, const StudySetting& base, const std::string& name, const Change& change) {
  StudySetting setting = base;
  setting.name = name;
  change(setting);
  study.settings.push_back(std::move(setting));
}

void add_changed_assumptions(Study& study, const StudySetting& base) {
  const auto one = [&](const char* name, const auto& change) { add(study, base, name, change); };
  one("as assumed", [](StudySetting&) {});
  one("power -20%", [](StudySetting& s) { s.power_scale = 0.8; });
  one("power +20%", [](StudySetting& s) { s.power_scale = 1.2; });
  one("rate 18", [](StudySetting& s) { s.days = day_with(18, 0.2); });
  one("rate 22", [](StudySetting& s) { s.days = day_with(22, 0.2); });
  one("training 16%", [](StudySetting& s) { s.days = day_with(20, 0.16); });
  one("training 24%", [](StudySetting& s) { s.days = day_with(20, 0.24); });
  one("measured change costs", [](StudySetting& s) { s.cost = sim::RepartitionCost::kMeasured; });
  one("preemption costs 10 s", [](StudySetting& s) {
    s.preemption = {Mode::kCost, Micros::seconds(10)};
    s.cost = sim::RepartitionCost::kMeasured;
  });
  one("no preemption", [](StudySetting& s) {
    s.preemption = {Mode::kNone, {}};
    s.cost = sim::RepartitionCost::kMeasured;
  });
  for (const int percent : {10, 30, 100}) {
    add(study, base, fmt::format("run times wrong by {}%", percent),
        [&](StudySetting& s) { s.estimate_error = percent / 100.0; });
  }
  one("H100", [](StudySetting& s) {
    s.gpu = "h100-80gb";
    s.power = "scaled-h200";
  });
  one("H200, measured power", [](StudySetting& s) {
    s.gpu = "h200-141gb";
    s.power = "calibrated";
  });
}

// The presets `realistic` and `h200-calibrated` for one day and eight GPUs. Their mixes are what
//   partita tune static --scenario PRESET --hours 24 --gpus 8 --jobs-per-hour 7
//     --repartition static:1 --evaluations 400
// finds.
void add_realistic(Study& study) {
  workload::RealisticOptions options;
  options.hours = 24;
  options.jobs_per_hour = 7;
  StudySetting setting;
  setting.name = "realistic day";
  setting.days = realistic_days(options);
  setting.preemption = {Mode::kCost, Micros::seconds(30)};
  setting.cost = sim::RepartitionCost::kMeasured;
  setting.policies =
      sensitivity_policies("mdd", kRealisticMix, "", options.profile, kPaceOfFewJobs);
  study.settings.push_back(setting);
  options.curves = "h200";
  options.memory_max_gib = 139;
  setting.name = "realistic day, H200, measured curves";
  setting.days = realistic_days(options);
  setting.gpu = "h200-141gb";
  setting.power = "calibrated";
  setting.policies =
      sensitivity_policies("mdd", kRealisticH200Mix, "", options.profile, kPaceOfFewJobs);
  study.settings.push_back(setting);
}

}  // namespace

std::vector<StudyPolicy> sensitivity_policies(const std::string& scheduler, const std::string& mix,
                                              const std::string& timetable,
                                              const std::string& profile, const std::string& pace) {
  std::vector<StudyPolicy> policies{
      {"tuned static", scheduler, mix},
      {"looking ahead", scheduler, lookahead_from(mix, profile, pace)},
      {"whole GPUs", scheduler, "none"}};
  if (!timetable.empty()) policies.push_back({"timetable", scheduler, timetable});
  StudyPolicy on_demand = modest_on_demand_policy("least-fragmenting");
  on_demand.name = "on demand";
  policies.push_back(on_demand);
  return policies;
}

Study sensitivity_study() {
  Study study;
  study.name = "sensitivity";
  study.title = "SMART-MIG's day at rate 20 with one assumption changed at a time, and other days";
  study.source = "none: what a referee would ask";
  StudySetting base = smart_mig_setting(20);
  base.policies =
      sensitivity_policies("cedf", tuned_mix(20), tuned_hourly(), "papers", kPaceOfEight);
  base.policies.push_back({"the paper's mix", "cedf", kPaperMix});
  add_changed_assumptions(study, base);
  add_realistic(study);
  for (StudySetting& setting : study.settings) setting.shown = StudySetting::Shown::kRow;
  return study;
}

}  // namespace partita::experiment
