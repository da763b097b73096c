// The studies that reproduce the sources or answer their referees, and what they have in common.
#pragma once

#include <string>

#include "experiment/study.h"

namespace partita::experiment {

Study ccgrid25_study();
Study migm_study();
Study sensitivity_study();
// With the published traces that the folder has as further settings; an error when it has none.
Result<Study> sensitivity_study_with(const std::string& folder);
Study real_workloads_study();
Result<Study> real_workloads_study_with(const std::string& folder);
Study reservations_study();
Result<Study> reservations_study_with(const std::string& folder);
Study smart_mig_study();
Study tech_report_study();
Study weights_study();

// The static mix of SMART-MIG, Fig. 12.
inline constexpr const char* kPaperMix = "static:1,1,2,3,3,5,5,10";

// What `partita tune static --scenario smart-mig --rate R --evaluations 1200` found when the study
// was made; R is 12, 16 or 20. docs/tuning.md has what the search finds by now, which is as good.
std::string tuned_mix(int rate);

// What `partita tune timetable --switches 24 --scenario smart-mig --evaluations 4000` finds.
std::string tuned_hourly();

// Looking ahead, beginning with the layouts of "static:...". `profile` is what it expects of the
// day; `pace` is how often it looks and how closely, which a small or idle fleet can do more often.
inline constexpr const char* kPaceOfEight = "every=30";
inline constexpr const char* kPaceOfOne =
    "every=1,samples=16,finalists=12,rest=0,horizon=900,screen=900";
std::string lookahead_from(const std::string& static_mix, const std::string& profile = "papers",
                           const std::string& pace = kPaceOfEight);

// SMART-MIG's day on eight GPUs, without policies.
StudySetting smart_mig_setting(double rate);

// On-demand slicing as the dynamic drivers of today do it: nothing is moved, every instance is paid
// for. `placement` is first-fit or least-fragmenting.
StudyPolicy on_demand_policy(const std::string& placement);
// The same, with jobs that ask for half the speed (policies/request.h) instead of being on time.
StudyPolicy modest_on_demand_policy(const std::string& placement);

}  // namespace partita::experiment
