// SMART-MIG (IPDPS 2026): eight GPUs, three loads.
#include "experiment/studies/studies.h"

#include <fmt/format.h>

namespace partita::experiment {
namespace {

using Kind = Claim::Kind;

StudySetting load_setting(int rate) {
  StudySetting setting = smart_mig_setting(rate);
  const std::string tuned = tuned_mix(rate);
  setting.policies = {
      {"cedf/tuned", "cedf", tuned},
      {"edf/none", "edf-ss", "none"},
      {"cedf/paper", "cedf", kPaperMix},
      {"edf/paper", "mp-edf", kPaperMix},
      {"met/paper", "met", kPaperMix},
      {"random/paper", "random", kPaperMix},
      {"mdd/tuned", "mdd+wide-first", tuned},
      {"sjf/tuned", "sjf", tuned},
      {"cedf/lookahead", "cedf", lookahead_from(tuned)},
  };
  setting.policies.push_back(on_demand_policy("first-fit"));
  setting.policies.push_back(on_demand_policy("least-fragmenting"));
  if (rate == 20) setting.policies.push_back({"cedf/hourly", "cedf", tuned_hourly()});
  return setting;
}

}  // namespace

Study smart_mig_study() {
  Study study;
  study.name = "smart-mig";
  study.title = "Eight A100s for a day at three loads";
  study.source = "SMART-MIG, IPDPS 2026, Table I and Fig. 12";
  for (const int rate : {12, 16, 20}) study.settings.push_back(load_setting(rate));
  const std::string day = "their day is one trace";
  study.claims = {
      {"rate=20", "no partition, tardiness", Kind::kTardinessMin, "edf/none", "", 96.67, 0.02, day},
      {"rate=20", "no partition, energy", Kind::kEnergyMWMin, "edf/none", "", 3.1, 0.03,
       "one digit"},
      {"rate=16", "no partition, tardiness", Kind::kTardinessMin, "edf/none", "", 16.58, 0.05, day},
      {"rate=16", "no partition, energy", Kind::kEnergyMWMin, "edf/none", "", 2.4, 0.03,
       "one digit"},
      {"rate=12", "no partition, tardiness", Kind::kTardinessMin, "edf/none", "", 0.34, 0.05, day},
      {"rate=12", "no partition, energy", Kind::kEnergyMWMin, "edf/none", "", 2.0, 0.03,
       "one digit"},
      {"rate=20", "static mix with CEDF, tardiness", Kind::kTardinessMin, "cedf/paper", "", 1.32,
       0.05, day},
      {"rate=20", "static mix with CEDF, energy", Kind::kEnergyMWMin, "cedf/paper", "", 2.57, 0.01,
       day},
      {"rate=20", "static mix with EDF, tardiness", Kind::kTardinessMin, "edf/paper", "", 1.67,
       0.05, "not what the published rule gives under free preemption"},
      {"rate=20", "static mix with EDF, energy", Kind::kEnergyMWMin, "edf/paper", "", 2.75, 0.01,
       day},
      {"rate=20", "ET gain of repartitioning over the static mix (theirs: learned)",
       Kind::kEtGainPercent, "cedf/lookahead", "cedf/paper", 18, 2,
       "ours looks ahead; against the paper's mix, which is not the best"},
  };
  return study;
}

}  // namespace partita::experiment
