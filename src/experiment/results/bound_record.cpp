#include "experiment/results/bound_record.h"

#include <algorithm>

#include "bounds/report.h"
#include "experiment/study.h"

namespace partita::experiment {
namespace {

// A third of what `partita bound` takes where jobs are many: a percent or so below its bounds, for
// many days.
constexpr int kBoundRounds = 20;
constexpr std::size_t kManyJobs = 100;

}  // namespace

Result<BoundOfDay> bound_within(const BoundLimit& limit, const workload::Trace& day,
                                const sim::RunOptions& options, bool interrupts) {
  const auto problem =
      bounds::make_problem(day, {options.model, options.power, options.gpus, options.horizon});
  if (!problem) return problem.error();
  bounds::Request request;
  request.et_a = options.et_a;
  if (day.jobs.size() > kManyJobs && !limit.thorough) request.rounds = kBoundRounds;
  request.use_mip = false;
  request.seconds_max = limit.seconds_max;
  request.clock = limit.clock;
  request.runs = interrupts ? bounds::Runs::kSplit : bounds::Runs::kWhole;
  const bounds::BoundReport report = bounds::find_bounds(*problem, request);
  BoundOfDay found;
  found.cut_short = std::ranges::any_of(
      report.bounds, [](const bounds::Bound& bound) { return bound.status == "time limit"; });
  RunRecord& record = found.record;
  record.policy = record.scheduler = record.repartition = std::string(kBoundName);
  record.energy_j = report.best(bounds::Kind::kEnergy)->value;
  record.energy_w_min = record.energy_j / 60;
  record.mean_tardiness_s = report.best(bounds::Kind::kTardiness)->value;
  record.jobs = day.jobs.size();
  record.gpus = options.gpus;
  record.et_a = options.et_a;
  record.et = report.best(bounds::Kind::kEt)->value;
  return found;
}

Result<RunRecord> bound_record(const workload::Trace& day, const sim::RunOptions& options,
                               bool interrupts) {
  auto found = bound_within({}, day, options, interrupts);
  if (!found) return found.error();
  return std::move(found->record);
}

}  // namespace partita::experiment
