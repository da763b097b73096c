#include "experiment/results/make_record.h"

#include <fmt/format.h>

#include <map>

namespace partita::experiment {
namespace {

// Of the time of all GPUs, by number of layout; layouts without a number are 0.
std::string layout_shares(const mig::GpuModel& model, const sim::RunResult& result) {
  std::map<int, double> seconds;
  double all = 0;
  for (const sim::LayoutPiece& piece : result.layouts) {
    const double lasts = (piece.end - piece.begin).to_seconds();
    seconds[mig::number_of(model, piece.layout).value_or(0)] += lasts;
    all += lasts;
  }
  std::string text;
  for (const auto& [number, lasts] : seconds) {
    text += fmt::format("{}{}={:.6f}", text.empty() ? "" : ",", number, lasts / all);
  }
  return text;
}

}  // namespace

RunRecord make_record(const RunIdentity& identity, const sim::RunOptions& options,
                      const sim::RunResult& result) {
  return {
      .experiment = identity.experiment,
      .setting = identity.setting,
      .policy = identity.policy,
      .scheduler = identity.scheduler,
      .repartition = identity.repartition,
      .seed = identity.seed,
      .role = identity.role,
      .energy_j = result.energy_j,
      .energy_w_min = result.energy_w_min(),
      .mean_tardiness_s = result.mean_tardiness_s,
      .p50_tardiness_s = result.p50_tardiness_s,
      .p95_tardiness_s = result.p95_tardiness_s,
      .p99_tardiness_s = result.p99_tardiness_s,
      .max_tardiness_s = result.max_tardiness_s,
      .late_share = result.late_share(),
      .mean_wait_s = result.mean_wait_s,
      .compute_utilisation = result.compute_utilisation,
      .memory_utilisation = result.memory_utilisation,
      .jobs = result.jobs,
      .gpus = options.gpus,
      .events = result.events,
      .decisions = result.decisions,
      .preemptions = result.preemptions,
      .repartitions = result.repartitions,
      .instances_created = result.instances_created,
      .instances_destroyed = result.instances_destroyed,
      .out_of_memory = result.out_of_memory,
      .early_restarts = result.early_restarts,
      .makespan_s = result.makespan.to_seconds(),
      .et_a = options.et_a,
      .et = result.et,
      .layout_shares = options.keep_layouts ? layout_shares(*options.model, result) : "",
      .fragmentation =
          options.measure_fragmentation ? std::optional(result.fragmentation) : std::nullopt,
  };
}

}  // namespace partita::experiment
