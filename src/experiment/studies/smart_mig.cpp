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

// Percent above SMART-MIG's energy bound; ours is the same formula on these days.
void claim_energy(Study& study, const std::string& setting, const std::string& figure,
                  const std::array<double, 4>& percent) {
  constexpr std::array<const char*, 4> kPolicies{"edf", "met", "cedf", "random"};
  for (std::size_t i = 0; i < kPolicies.size(); ++i) {
    study.claims.push_back({setting, fmt::format("{}, {}, energy over bound", figure, kPolicies[i]),
                            Kind::kEnergyOverBoundPercent, kPolicies[i], "", percent[i], 2,
                            "the scale of the durations is not published", false});
  }
}

// The gap to the tardiness bound: MP-EDF, 50 jobs on four GPUs with layout 8, and the same with
// linear jobs.
void add_fifty_jobs(Study& study) {
  workload::PoissonOptions options;
  options.jobs = 50;
  StudySetting mixed = fixed_rate("50 jobs", 8, 4, "static:8");
  mixed.days = poisson_days(options);
  mixed.days.test_days_max = 50;
  mixed.policies.resize(1);
  StudySetting linear = mixed;
  linear.name = "50 linear jobs";
  linear.days = linearised(mixed.days);
  const std::string remark = "neither their durations nor the slots of their program are published";
  study.claims.push_back({mixed.name, "tardiness over bound, mixed jobs",
                          Kind::kTardinessOverBoundPercent, "edf", "", 34, 5, remark, false});
  study.claims.push_back({linear.name, "tardiness over bound, linear jobs",
                          Kind::kTardinessOverBoundPercent, "edf", "", 17, 5, remark, false});
  study.settings.push_back(std::move(mixed));
  study.settings.push_back(std::move(linear));
}

// Fig. 10 and 12, and the bound itself.
void add_bound_claims(Study& study) {
  struct Row {
    const char* what;
    const char* policy;
    double percent;
    const char* remark;
  };
  constexpr const char* kReadOff = "read off a figure, whose text says more";
  constexpr std::array<Row, 7> kRows{
      {{"Fig. 12, repartitioning, energy over bound", "cedf/lookahead", 27.3, "theirs is learned"},
       {"Fig. 12, static mix with CEDF, energy over bound", "cedf/paper", 28.8,
        "theirs is one day"},
       {"Fig. 12, static mix with EDF, energy over bound", "edf/paper", 37.8, "theirs is one day"},
       {"Fig. 10, EDF, energy over bound", "edf/paper", 23.8, kReadOff},
       {"Fig. 10, MET, energy over bound", "met/paper", 23.3, kReadOff},
       {"Fig. 10, CEDF, energy over bound", "cedf/paper", 20.0, kReadOff},
       {"Fig. 10, random, energy over bound", "random/paper", 27.8, kReadOff}}};
  study.claims.push_back({"rate=20", "energy bound", Kind::kEnergyMWMin, std::string(kBoundName),
                          "", 1.99513, 0.01, "their day is one trace"});
  for (const Row& row : kRows) {
    study.claims.push_back({"rate=20", row.what, Kind::kEnergyOverBoundPercent, row.policy, "",
                            row.percent, 2, row.remark});
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
  claim_energy(study, "1 a minute", "Fig. 6", {77, 90, 86, 117});
  study.settings.push_back(fixed_rate("8 a minute", 8, 8, kPaperMix));
  claim_tardiness(study, "8 a minute", "Fig. 7", {17, 14, 15, 17.5});
  claim_energy(study, "8 a minute", "Fig. 7", {28, 24, 24, 30});
  study.settings.push_back(fixed_rate("mixed sizes", 4, 8, "static:3"));
  claim_tardiness(study, "mixed sizes", "Fig. 8", {.8, .02, .15, .75});
  claim_energy(study, "mixed sizes", "Fig. 8", {29, 20.5, 25, 29});
  study.settings.push_back(fixed_rate("similar sizes", 4, 8, "static:9"));
  claim_tardiness(study, "similar sizes", "Fig. 9", {.05, 0, 0, .15});
  claim_energy(study, "similar sizes", "Fig. 9", {23, 18, 17, 24.5});
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
  add_bound_claims(study);
  add_fixed_rate(study);
  add_fifty_jobs(study);
  return study;
}

}  // namespace partita::experiment
