#include "experiment/studies/studies.h"

#include <fmt/format.h>

namespace partita::experiment {
std::string tuned_mix(int rate) {
  switch (rate) {
    case 12:
      return "static:1,1,1,1,1,2,2,6";
    case 16:
      return "static:1,1,1,1,2,2,2,7";
    default:
      return "static:1,1,2,2,2,2,6,10";
  }
}

std::string tuned_hourly() {
  return "timetable:"
         "00:00=1,1,1,1,1,2,2,6,01:00=1,1,1,1,1,2,2,6,02:00=1,1,1,1,5,2,2,6,"
         "03:00=1,1,1,1,2,2,2,6,04:00=1,1,1,1,2,2,2,6,05:00=1,1,1,3,2,2,2,6,"
         "06:00=1,1,2,2,2,2,2,10,07:00=2,6,2,2,2,2,2,7,08:00=2,6,2,2,2,2,3,3,"
         "09:00=2,6,2,2,2,2,2,10,10:00=2,7,2,2,2,2,9,9,11:00=2,6,2,2,2,2,9,10,"
         "12:00=2,6,2,2,2,2,2,10,13:00=2,1,2,2,2,2,1,9,14:00=2,1,2,2,2,1,1,9,"
         "15:00=2,1,2,2,2,1,1,6,16:00=2,1,2,2,2,1,1,9,17:00=2,1,2,2,1,1,1,6,"
         "18:00=2,1,2,2,1,1,1,6,19:00=2,1,2,1,1,1,1,6,20:00=2,1,2,1,1,1,2,6,"
         "21:00=2,1,2,1,1,1,2,6,22:00=2,1,2,1,1,1,1,6,23:00=2,1,2,1,1,1,2,6";
}

std::string lookahead_from(const std::string& static_mix, const std::string& profile,
                           const std::string& pace) {
  std::string mix = static_mix.substr(std::string_view("static:").size());
  for (char& c : mix) c = c == ',' ? '/' : c;
  return fmt::format("lookahead:{},profile={},start={}", pace, profile, mix);
}

StudySetting smart_mig_setting(double rate) {
  StudySetting setting;
  setting.name = fmt::format("rate={:g}", rate);
  workload::PapersOptions options;
  options.rate = rate;
  setting.days = papers_days(options);
  setting.power = "smart-mig";
  return setting;
}

StudyPolicy on_demand_policy(const std::string& placement) {
  return {"ondemand/" + placement, "fifo+requested", "ondemand:" + placement,
          decide::Preemption{decide::Preemption::Mode::kNone, {}}, sim::RepartitionCost::kMeasured};
}

StudyPolicy modest_on_demand_policy(const std::string& placement) {
  StudyPolicy policy = on_demand_policy(placement);
  policy.name += ",half-speed";
  policy.scheduler = "mdd+half-speed";
  policy.repartition += ",half-speed";
  return policy;
}

}  // namespace partita::experiment
