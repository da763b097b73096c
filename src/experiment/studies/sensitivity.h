// What the settings of the sensitivity study share.
#pragma once

#include <string>
#include <vector>

#include "experiment/studies/studies.h"

namespace partita::experiment {

// The tuned mix as reference, looking ahead from it, a tuned timetable where there is one, whole
// GPUs, and on-demand slicing. `profile` and `pace` are for looking ahead.
std::vector<StudyPolicy> sensitivity_policies(const std::string& scheduler, const std::string& mix,
                                              const std::string& timetable,
                                              const std::string& profile, const std::string& pace);

// For days of a few hundred jobs.
inline constexpr const char* kPaceOfFewJobs = "every=5";

inline constexpr const char* kRealisticMix = "static:1,1,1,1,1,1,2,5";
inline constexpr const char* kRealisticH200Mix = "static:1,2,2,2,2,2,5,5";

}  // namespace partita::experiment
