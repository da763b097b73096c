// Nobody has to believe one weight: energy against tardiness as the weight of ET varies.
#include <fmt/format.h>

#include <array>

#include "experiment/studies/studies.h"

namespace partita::experiment {

// SMART-MIG's day at rate 20. The mixes are what
//   partita tune static --scenario smart-mig --et-a A --evaluations 300 --days 10
// finds; that of 2e-7 is the one of smart-mig.
Study weights_study() {
  struct Row {
    double et_a;
    std::string mix;
  };
  const std::array<Row, 4> rows{{{2e-8, "static:1,1,2,2,2,3,6,7"},
                                 {2e-7, tuned_mix(20)},
                                 {2e-6, "static:1,2,2,2,2,6,9,9"},
                                 {2e-5, "static:6,6,6,9,9,12,12,12"}}};
  Study study;
  study.name = "weights";
  study.title = "SMART-MIG's day at rate 20 as the weight of energy varies";
  study.source = "none: the papers do not print their weight";
  for (const Row& row : rows) {
    StudySetting setting = smart_mig_setting(20);
    setting.name = fmt::format("a={:g}", row.et_a);
    setting.et_a = row.et_a;
    setting.shown = StudySetting::Shown::kRow;
    setting.policies = {{"static, tuned for this weight", "cedf", row.mix},
                        {"looking ahead", "cedf", lookahead_from(row.mix)},
                        {"met, same mix", "met", row.mix},
                        {"the paper's mix", "cedf", kPaperMix}};
    study.settings.push_back(std::move(setting));
  }
  return study;
}

}  // namespace partita::experiment
