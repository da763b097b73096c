// An experiment of the user's own as a Study: what is set, beside policies of the user's or the
// usual ones.
#pragma once

#include <string>
#include <vector>

#include "experiment/policy_run.h"
#include "experiment/study.h"

namespace partita::experiment {

struct OwnStudy {
  std::string source;  // a preset or a file, whose stem names the study; empty: "own"
  DaySource days;
  std::string gpu;  // as it was asked for: a name of run.model
  sim::RunOptions run;
  Policy policy;        // as set
  std::string profile;  // what looking ahead should expect of the hours of a day
  // Empty: what is set (the reference) beside whole GPUs, looking ahead from the same layouts, and
  // on-demand slicing.
  std::vector<StudyPolicy> policies = {};
};

Study own_study(OwnStudy own);

}  // namespace partita::experiment
