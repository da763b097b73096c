// Lipe et al., CCGrid 2025: one GPU.
#include "experiment/studies/studies.h"

#include <fmt/format.h>

#include <array>

namespace partita::experiment {
namespace {

using Kind = Claim::Kind;

// The load and the weight are not printed: the gains along both. The layouts are what
// `partita tune static --scenario ccgrid25 --rate R --et-a A` finds.
void add_curve(Study& study) {
  struct Point {
    double rate;
    double et_a;
    const char* best;
  };
  constexpr std::array<Point, 7> kPoints{{{1.2, 2.25e-5, "static:2"},
                                          {1.4, 2.25e-5, "static:2"},
                                          {1.6, 2.25e-5, "static:2"},
                                          {1.8, 2.25e-5, "static:2"},
                                          {2.0, 2.25e-5, "static:6"},
                                          {1.0, 2e-6, "static:2"},
                                          {1.2, 2e-6, "static:2"}}};
  for (const Point& point : kPoints) {
    StudySetting setting = smart_mig_setting(point.rate);
    setting.name = fmt::format("rate={:g} a={:g}", point.rate, point.et_a);
    setting.gpus = 1;
    setting.et_a = point.et_a;
    setting.shown = StudySetting::Shown::kRow;
    setting.policies = {
        {"whole GPU", "edf-ss", "none"},
        {"best static", "edf-ss", point.best},
        {"looking ahead", "edf-ss", lookahead_from(point.best, "papers", kPaceOfOne)}};
    study.settings.push_back(setting);
  }
}

}  // namespace

Study ccgrid25_study() {
  Study study;
  study.name = "ccgrid25";
  study.title = "One A100 for a day: four heuristics, twelve layouts, and changing them";
  study.source = "Lipe et al., CCGrid 2025; its load and weight are not printed, see scenarios/";
  StudySetting setting = smart_mig_setting(1.6);
  setting.gpus = 1;
  setting.et_a = 2.25e-5;
  // Four heuristics on twelve layouts; layout 1 is the whole GPU, and the best is the reference.
  setting.policies = {{"edf-ss/2", "edf-ss", "static:2"}};
  for (const char* heuristic : {"edf-ss", "edf-fs", "llf", "lalf"}) {
    setting.policies.push_back({fmt::format("{}/none", heuristic), heuristic, "none"});
    for (int number = 2; number <= 12; ++number) {
      const std::string name = fmt::format("{}/{}", heuristic, number);
      if (name == setting.policies.front().name) continue;
      setting.policies.push_back({name, heuristic, fmt::format("static:{}", number)});
    }
  }
  // What `partita tune timetable --switches 2 --scenario ccgrid25` finds.
  setting.policies.push_back({"edf-ss/twice", "edf-ss", "timetable:03:00=2,11:00=2"});
  setting.policies.push_back(
      {"edf-ss/lookahead", "edf-ss", lookahead_from("static:2", "papers", kPaceOfOne)});
  study.settings = {setting};
  add_curve(study);
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
      {"rate=1.2 a=2e-06", "ET gain over no partition", Kind::kEtGainPercent, "looking ahead",
       "whole GPU", 68, 2, theirs},
      {"rate=1.2 a=2e-06", "ET gain over the best static layout", Kind::kEtGainPercent,
       "looking ahead", "best static", 31, 2, theirs},
      {"rate=1.2 a=2e-06", "ET gain of the best static layout over no partition",
       Kind::kEtGainPercent, "best static", "whole GPU", 53.6, 3, "the load was chosen so"},
  };
  return study;
}

}  // namespace partita::experiment
