// Lipe et al., CCGrid 2025: one GPU.
#include "experiment/studies/studies.h"

#include <fmt/format.h>

namespace partita::experiment {
namespace {

using Kind = Claim::Kind;

}  // namespace

Study ccgrid25_study() {
  Study study;
  study.name = "ccgrid25";
  study.title = "One A100 for a day: four heuristics, twelve layouts, and changing them";
  study.source = "Lipe et al., CCGrid 2025; its load and weight are not printed, see scenarios/";
  StudySetting setting = smart_mig_setting(1.6);
  setting.gpus = 1;
  setting.et_a = 2.25e-5;
  setting.policies = {{"edf-ss/2", "edf-ss", "static:2"}, {"edf-ss/none", "edf-ss", "none"}};
  for (int number = 3; number <= 12; ++number) {
    setting.policies.push_back(
        {fmt::format("edf-ss/{}", number), "edf-ss", fmt::format("static:{}", number)});
  }
  for (const char* other : {"edf-fs", "llf", "lalf"}) {
    setting.policies.push_back({fmt::format("{}/2", other), other, "static:2"});
  }
  // What `partita tune timetable --switches 2 --scenario ccgrid25` finds.
  setting.policies.push_back({"edf-ss/twice", "edf-ss", "timetable:03:00=2,11:00=2"});
  setting.policies.push_back({"edf-ss/lookahead", "edf-ss", lookahead_from("static:2")});
  study.settings = {setting};
  const std::string theirs = "theirs is learned and its baselines are not tuned";
  study.claims = {
      {"rate=1.6", "ET gain over no partition", Kind::kEtGainPercent, "edf-ss/lookahead",
       "edf-ss/none", 68, 2, theirs},
      {"rate=1.6", "ET gain over the best static layout", Kind::kEtGainPercent, "edf-ss/lookahead",
       "edf-ss/2", 31, 2, theirs},
      {"rate=1.6", "ET gain over two switches a day", Kind::kEtGainPercent, "edf-ss/lookahead",
       "edf-ss/twice", 26, 2, theirs},
      {"rate=1.6", "ET gain of the best static layout over no partition", Kind::kEtGainPercent,
       "edf-ss/2", "edf-ss/none", 53.6, 3, "the load was chosen so"},
  };
  return study;
}

}  // namespace partita::experiment
