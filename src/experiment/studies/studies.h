// The studies that reproduce the sources or answer their referees, and what they have in common.
#pragma once

#include <string>

#include "experiment/study.h"

namespace partita::experiment {

Study ccgrid25_study();
Study sensitivity_study();
Study smart_mig_study();
Study tech_report_study();

// The static mix of SMART-MIG, Fig. 12.
inline constexpr const char* kPaperMix = "static:1,1,2,3,3,5,5,10";

// What `partita tune static --scenario smart-mig --rate R --evaluations 1200` finds; R is 12, 16
// or 20.
std::string tuned_mix(int rate);

// What `partita tune timetable --switches 24 --scenario smart-mig --evaluations 4000` finds.
std::string tuned_hourly();

// Looking ahead, beginning with the layouts of "static:...", with a profile of the day to expect.
std::string lookahead_from(const std::string& static_mix, const std::string& profile = "papers");

// SMART-MIG's day on eight GPUs, without policies.
StudySetting smart_mig_setting(double rate);

// On-demand slicing as the dynamic drivers of today do it: nothing is moved, every instance is paid
// for. `placement` is first-fit or least-fragmenting.
StudyPolicy on_demand_policy(const std::string& placement);

}  // namespace partita::experiment
