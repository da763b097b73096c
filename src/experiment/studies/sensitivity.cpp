// What the referees asked: one assumption of SMART-MIG's day changed at a time.
#include "experiment/studies/studies.h"

namespace partita::experiment {
namespace {

DaySource day_with(double rate, double training_share) {
  workload::PapersOptions options;
  options.rate = rate;
  options.mix.training_share = training_share;
  return papers_days(options);
}

}  // namespace

// Does the advantage at rate 20 survive when the world is not quite as assumed? The policies stay
// as they were tuned.
Study sensitivity_study() {
  Study study;
  study.name = "sensitivity";
  study.title = "SMART-MIG's day at rate 20 with one assumption changed at a time";
  study.source = "none: what a referee would ask";
  StudySetting base = smart_mig_setting(20);
  base.policies = {{"cedf/tuned", "cedf", tuned_mix(20)},
                   {"cedf/paper", "cedf", kPaperMix},
                   {"cedf/hourly", "cedf", tuned_hourly()},
                   {"cedf/lookahead", "cedf", lookahead_from(tuned_mix(20))}};
  const auto add = [&](const char* name, const auto& change) {
    StudySetting setting = base;
    setting.name = name;
    change(setting);
    study.settings.push_back(std::move(setting));
  };
  using Mode = decide::Preemption::Mode;
  add("as assumed", [](StudySetting&) {});
  add("power -20%", [](StudySetting& s) { s.power_scale = 0.8; });
  add("power +20%", [](StudySetting& s) { s.power_scale = 1.2; });
  add("rate 18", [](StudySetting& s) { s.days = day_with(18, 0.2); });
  add("rate 22", [](StudySetting& s) { s.days = day_with(22, 0.2); });
  add("training 16%", [](StudySetting& s) { s.days = day_with(20, 0.16); });
  add("training 24%", [](StudySetting& s) { s.days = day_with(20, 0.24); });
  add("measured change costs", [](StudySetting& s) { s.cost = sim::RepartitionCost::kMeasured; });
  add("preemption costs 10 s", [](StudySetting& s) {
    s.preemption = {Mode::kCost, Micros::seconds(10)};
    s.cost = sim::RepartitionCost::kMeasured;
  });
  add("no preemption", [](StudySetting& s) {
    s.preemption = {Mode::kNone, {}};
    s.cost = sim::RepartitionCost::kMeasured;
  });
  return study;
}

}  // namespace partita::experiment
