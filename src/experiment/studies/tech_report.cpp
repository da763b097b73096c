// Hisaria et al., technical report 2025.
#include "experiment/studies/studies.h"

namespace partita::experiment {
namespace {

using Kind = Claim::Kind;

}  // namespace

Study tech_report_study() {
  Study study;
  study.name = "tech-report";
  study.title = "Eight A100s, no preemption, relaxed deadlines";
  study.source = "Hisaria et al., technical report 2025, Table 3";
  StudySetting setting;
  setting.name = "relaxed";
  workload::PapersOptions options;
  options.mix.deadline_low = 2;
  options.mix.deadline_high = 4;
  setting.days = papers_days(options);
  setting.power = "tech-report";
  setting.preemption.mode = decide::Preemption::Mode::kNone;
  setting.et_a = 2.25e-5;
  const std::string mix = "static:t1,t1,t2,t2,t3,t3,t12,t12";
  setting.policies = {{"mdd", "mdd", mix},
                      {"edf-ss", "edf-ss", mix},
                      {"atc", "atc", mix},
                      {"largest-first", "largest-first", mix},
                      {"smallest-first", "smallest-first", mix},
                      {"eft", "eft", mix},
                      {"random", "random", mix}};
  study.settings = {setting};
  const std::string bug = "their notebooks free a slice before billing its last interval";
  const auto add = [&](const char* policy, double late, double tardy, double energy) {
    const std::string name = policy;
    study.claims.push_back(
        {"relaxed", name + ", late jobs", Kind::kLatePercent, name, "", late, 0.02, "10 days"});
    study.claims.push_back(
        {"relaxed", name + ", tardiness", Kind::kTardinessMin, name, "", tardy, 0.05, "10 days"});
    study.claims.push_back(
        {"relaxed", name + ", energy", Kind::kEnergyMWMin, name, "", energy, 0.01, bug});
  };
  add("largest-first", 42.7, 1.02, 2.51);
  add("eft", 43.1, 1.04, 2.48);
  add("smallest-first", 54.3, 1.21, 2.42);
  add("random", 50.1, 1.13, 2.49);
  return study;
}

}  // namespace partita::experiment
