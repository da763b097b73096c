// SMART-MIG (IPDPS 2026): eight GPUs, three loads.
#include "experiment/studies/studies.h"

#include <fmt/format.h>

#include <array>

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
  setting.policies.push_back(modest_on_demand_policy("least-fragmenting"));
  if (rate == 20) setting.policies.push_back({"cedf/hourly", "cedf", tuned_hourly()});
  setting.keep_layouts = rate == 20;
  return setting;
}

// The fixed-rate experiments (Fig. 4 and 6 to 9): 1,000 jobs at a constant rate. Neither the scale
// of their durations nor all of their layouts are printed, so nothing of them can be compared; ours
// stand beside them for the order of the policies.
StudySetting fixed_rate(const std::string& name, double rate, std::uint32_t gpus,
                        const std::string& repartition) {
  StudySetting setting;
  setting.name = name;
  workload::PoissonOptions options;
  options.rate_per_min = rate;
  setting.days = poisson_days(options);
  setting.gpus = gpus;
  setting.power = "smart-mig";
  setting.shown = StudySetting::Shown::kNot;
  setting.policies = {{"edf", "mp-edf", repartition},
                      {"met", "met", repartition},
                      {"cedf", "cedf", repartition},
                      {"random", "random", repartition}};
  return setting;
}

void claim_tardiness(Study& study, const std::string& setting, const std::string& figure,
                     const std::array<double, 4>& minutes) {
  constexpr std::array<const char*, 4> kPolicies{"edf", "met", "cedf", "random"};
  for (std::size_t i = 0; i < kPolicies.size(); ++i) {
    study.claims.push_back({setting, fmt::format("{}, {}, tardiness", figure, kPolicies[i]),
                            Kind::kTardinessMin, kPolicies[i], "", minutes[i], 0.05,
                            "the scale of the durations is not published", false});
  }
}

void add_fixed_rate(Study& study) {
  for (std::uint32_t gpus = 1; gpus <= 4; ++gpus) {
    constexpr std::array<double, 4> kPublished{9.7, 3.7, 2.3, 2.3};
    StudySetting setting = fixed_rate(fmt::format("gpus={}", gpus), 3, gpus, "static:3");
    setting.policies.resize(1);
    study.settings.push_back(setting);
    study.claims.push_back({setting.name, "Fig. 4, 3 jobs a minute, tardiness", Kind::kTardinessMin,
                            "edf", "", kPublished[gpus - 1], 0.05,
                            "the scale of the durations is not published", false});
  }
  study.settings.push_back(fixed_rate("1 a minute", 1, 8, kPaperMix));
  claim_tardiness(study, "1 a minute", "Fig. 6", {0, 0, 0, 0});
  study.settings.push_back(fixed_rate("8 a minute", 8, 8, kPaperMix));
  claim_tardiness(study, "8 a minute", "Fig. 7", {17, 14, 15, 17.5});
  study.settings.push_back(fixed_rate("mixed sizes", 4, 8, "static:3"));
  claim_tardiness(study, "mixed sizes", "Fig. 8", {.8, .02, .15, .75});
  study.settings.push_back(fixed_rate("similar sizes", 4, 8, "static:9"));
  claim_tardiness(study, "similar sizes", "Fig. 9", {.05, 0, 0, .15});
}

// Fig. 13: which layouts the learned policy chose; ours looks ahead.
void add_layout_claims(Study& study) {
  struct Row {
    const char* layouts;
    double percent;
  };
  constexpr std::array<Row, 8> kRows{{{"1", 29.3},
                                      {"2", 27.4},
                                      {"3", 13.6},
                                      {"4", 5.7},
                                      {"5", 2.7},
                                      {"6", 5.9},
                                      {"7", 10.4},
                                      {"8+9+10+11+12", 5.0}}};
  for (const Row& row : kRows) {
    study.claims.push_back({"rate=20", fmt::format("Fig. 13, time in layout {}", row.layouts),
                            Kind::kLayoutPercent, "cedf/lookahead", row.layouts, row.percent, 1,
                            "theirs is learned, ours looks ahead"});
  }
}

}  // namespace

Study smart_mig_study() {
  Study study;
  study.name = "smart-mig";
  study.title = "Eight A100s for a day at three loads";
  study.source = "SMART-MIG, IPDPS 2026, Table I, Fig. 4, 6 to 10, 12 and 13";
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
      {"rate=20", "Fig. 10, EDF, median tardiness", Kind::kTardinessMin, "edf/paper", "", 4.1, 0.05,
       "read off a figure; ours is the mean"},
      {"rate=20", "Fig. 10, MET, median tardiness", Kind::kTardinessMin, "met/paper", "", 4.0, 0.05,
       "read off a figure; ours is the mean"},
      {"rate=20", "Fig. 10, CEDF, median tardiness", Kind::kTardinessMin, "cedf/paper", "", 1.4,
       0.05, "read off a figure; ours is the mean"},
      {"rate=20", "Fig. 10, random, median tardiness", Kind::kTardinessMin, "random/paper", "", 3.1,
       0.05, "read off a figure; ours is the mean"},
      {"rate=20", "Table I, tardiness of repartitioning", Kind::kTardinessMin, "cedf/lookahead", "",
       1.0037, 0.02, "theirs is learned"},
      {"rate=16", "Table I, tardiness of repartitioning", Kind::kTardinessMin, "cedf/lookahead", "",
       0.44, 0.02, "theirs is learned"},
      {"rate=12", "Table I, tardiness of repartitioning", Kind::kTardinessMin, "cedf/lookahead", "",
       0.18, 0.02, "theirs is learned"},
      {"rate=20", "Table I, energy of repartitioning", Kind::kEnergyMWMin, "cedf/lookahead", "",
       2.54, 0.01, "theirs is learned"},
  };
  add_layout_claims(study);
  add_fixed_rate(study);
  return study;
}

}  // namespace partita::experiment
