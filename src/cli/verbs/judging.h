// Judging: one policy on days nobody learned from, as values that can be compared day by day.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/flags/run_settings.h"
#include "cli/output/console.h"
#include "cli/output/progress_bar.h"
#include "experiment/day_source.h"

namespace partita::cli {

// Runs of one policy on the same days as the others'.
struct Judged {
  std::string name;  // as shown: the repartitioner, where the caller says nothing else
  std::string scheduler;
  std::string repartition;
  std::vector<double> et;
  std::vector<double> energy_kwh;
  std::vector<double> tardiness_min;
  std::vector<double> late_percent;
};

// The first `count` days of one role, or as many as the source has.
Result<std::vector<workload::Trace>> make_days(const experiment::DaySource& source,
                                               experiment::Role role, std::uint64_t count);

Result<Judged> judge(const std::vector<workload::Trace>& days, RunSettings settings,
                     const std::string& repartition, const std::string& scheduler,
                     ProgressBar& bar);

// "1.234 ± 0.012": the mean and its 95 % interval.
std::string with_interval(std::span<const double> values, int digits);
// "-18.2 % (-19.0 to -17.4)": the mean against that of the reference, day by day.
std::string percent_text(const std::vector<double>& values, const std::vector<double>& reference);

// {"mean", "low", "high"}; only the mean for fewer than two values.
nlohmann::ordered_json mean_json(std::span<const double> values);
nlohmann::ordered_json judged_json(const Judged& judged);
// {"mean", "low", "high"} in percent of the reference; null when there is no interval.
nlohmann::ordered_json percent_json(const std::vector<double>& values,
                                    const std::vector<double>& reference);

}  // namespace partita::cli
