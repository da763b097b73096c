// Hisaria et al., technical report 2025.
#include "experiment/studies/studies.h"

namespace partita::experiment {
namespace {

using Kind = Claim::Kind;

StudySetting no_preemption(const std::string& name, double deadline_low, double deadline_high) {
  StudySetting setting;
  setting.name = name;
  workload::PapersOptions options;
  options.mix.deadline_low = deadline_low;
  options.mix.deadline_high = deadline_high;
  setting.days = papers_days(options);
  setting.power = "tech-report";
  setting.preemption.mode = decide::Preemption::Mode::kNone;
  setting.et_a = 2.25e-5;
  const std::string mix = "static:t1,t1,t2,t2,t3,t3,t12,t12";
  for (const char* scheduler :
       {"mdd", "edf-ss", "atc", "largest-first", "smallest-first", "eft", "random"}) {
    setting.policies.push_back({scheduler, scheduler, mix});
  }
  return setting;
}

// Table 5: what learning gained over the best heuristic as deadlines were relaxed. Ours in its
// place is a rule of one line that knows deadlines.
void add_table_5(Study& study) {
  study.claims.push_back({"tight", "Table 5, late jobs of the best heuristic", Kind::kLatePercent,
                          "largest-first", "", 82, 0.02,
                          "theirs is about 87 % for learning, which loses by about 5 %"});
  study.claims.push_back({"tight", "Table 5, late jobs less than the best heuristic's",
                          Kind::kLateGainPercent, "mdd", "largest-first", -5, 2,
                          "theirs is learned, ours is modified due date"});
  study.claims.push_back({"relaxed", "Table 5, late jobs less than the best heuristic's",
                          Kind::kLateGainPercent, "mdd", "largest-first", 11.7, 2,
                          "theirs is learned, ours is modified due date"});
}

}  // namespace

Study tech_report_study() {
  Study study;
  study.name = "tech-report";
  study.title = "Eight A100s, no preemption, relaxed and tight deadlines";
  study.source = "Hisaria et al., technical report 2025, Table 3 and Table 5";
  study.settings = {no_preemption("relaxed", 2, 4), no_preemption("tight", 1, 1.5)};
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
  add_table_5(study);
  return study;
}

}  // namespace partita::experiment
