// A workload after real traces: heavy-tailed durations, bursts, a day's profile, memory that binds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "workload/job_source.h"

namespace partita::workload {

// docs/reference/workloads.md gives the source of every default.
struct RealisticOptions {
  double hours = 24;  // arrivals in [0, hours); the profile repeats every day
  double jobs_per_hour = 60;
  std::string profile = "venus";
  // Coefficient of variation of the gaps between arrivals under the flat profile; 1 is Poisson.
  // Jobs come in batches at one instant (a parameter sweep, a script), whose number is geometric
  // with mean (burstiness^2 + 1) / 2: that gives this coefficient exactly. A profile adds to it.
  double burstiness = 1.8;

  // Time on the whole GPU: log-normal, drawn again when outside [shortest, longest].
  double median_s = 800;
  double sigma = 2;
  double shortest_s = 1;
  double longest_s = 2 * 86'400;

  // Deadline = arrival + slack x time on the whole GPU; slack log-normal, at least slack_least.
  double slack_median = 3.15;
  double slack_sigma = 0.4323;
  double slack_least = 1;

  std::string curves = "miso=2,papers=1";  // see CurveMix
  // Memory need: the curve's estimate x scale x exp(sigma x normal), at most memory_max_gib.
  double memory_scale = 1;
  double memory_sigma = 0.5;
  double memory_unknown_gib = 7.2;  // for curves whose source gives none
  double memory_max_gib = 39;
  std::uint64_t seed = 1;
};

// Jobs in order of arrival with ids 1, 2, ...; the class is the name of the curve.
Result<std::unique_ptr<JobSource>> make_realistic(const RealisticOptions& options);

}  // namespace partita::workload
