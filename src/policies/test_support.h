// What the tests of orders and placements share: a small fleet and jobs that wait for it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "decide/view.h"
#include "policies/candidate.h"
#include "policies/layout_list.h"
#include "policies/slice_rule.h"

namespace partita::policies {

inline constexpr std::int64_t kMinute = 60'000'000;

inline const mig::GpuModel& a100() {
  return **mig::find_gpu("a100-40gb");
}

// Times in microseconds; -1 where the job may not run.
inline decide::ActiveJob waiting_job(std::array<std::int64_t, 5> times, std::int64_t deadline,
                                     std::int64_t arrival = 0) {
  workload::Job job;
  job.arrival = {arrival};
  job.deadline = {deadline};
  for (std::size_t i = 0; i < times.size(); ++i) job.time[i] = {times[i]};
  return decide::make_active(job, JobId{0}, 0);
}

struct Fleet {
  Fleet(std::uint32_t gpus, std::string_view layouts, std::string_view model = "a100-40gb")
      : cluster(**mig::find_gpu(model), gpus),
        power(**mig::find_power_curve(**mig::find_gpu("a100-40gb"), "tech-report")),
        view{Micros{}, cluster, jobs, {}, power, 1.0} {
    const auto parsed = parse_layout_list(*cluster.model, gpus, layouts);
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
      cluster::place_layout(cluster, GpuId{gpu}, (*parsed)[gpu]);
    }
  }

  // "gpu 1 3g.20gb:4", or "none".
  std::string name(SliceId slice) const {
    if (!slice.valid()) return "none";
    const mig::Placement placement{cluster.slice(slice).profile, cluster::start_of(slice)};
    return "gpu " + std::to_string(cluster::gpu_of(slice).value) + " " +
           mig::format_placement(*cluster.model, placement);
  }

  // Which slice the rule gives a job with these times at time 0.
  std::string claim(SliceRule& rule, std::array<std::int64_t, 5> times, std::int64_t deadline,
                    double memory_gib = 0) const {
    workload::Job facts;
    facts.memory_gib = static_cast<float>(memory_gib);
    facts.deadline = {deadline};
    for (std::size_t i = 0; i < times.size(); ++i) facts.time[i] = {times[i]};
    const cluster::ProfileFits fits(*cluster.model);
    const decide::ActiveJob job = decide::make_active(facts, JobId{0}, fits(facts));
    return name(rule.claim(Candidate(job, Micros{})));
  }

  cluster::ClusterState cluster;
  decide::ActiveJobs jobs;
  mig::PowerCurve power;
  decide::View view;
};

// Twice as fast on twice the slice, nearly.
inline constexpr std::array<std::int64_t, 5> kScaling{32, 16, 12, 8, 4};
inline constexpr std::int64_t kFarDeadline = 1'000'000;

}  // namespace partita::policies
