#include "experiment/make_record.h"

namespace partita::experiment {

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
      .et_a = options.et_a,
      .et = result.et,
  };
}

}  // namespace partita::experiment
