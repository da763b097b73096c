// What a run is given and what it gives back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "cluster/cluster_state.h"
#include "decide/early_restart.h"
#include "decide/queue_rules.h"
#include "decide/view.h"
#include "mig/layout.h"

namespace partita::sim {

enum class RepartitionCost : std::uint8_t {
  kMeasured,  // each instance made or unmade takes the model's time, its slots unusable meanwhile
  kPaper,     // SMART-MIG: nothing is blocked; jobs running on the GPU lose 4 s of deadline
};

inline constexpr Micros kPaperRepartitionPenalty = Micros::seconds(4);

// What happens to jobs whose memory grows beyond their slice (docs/concepts/model.md). Nothing to
// jobs without a memory curve.
struct MemoryRules {
  Micros restart;                                     // from a new start until the work falls again
  std::optional<decide::EarlyRestart> early_restart;  // nothing: they run until memory is out
};

struct RunOptions {
  const mig::GpuModel* model = nullptr;
  std::uint32_t gpus = 1;
  const mig::PowerCurve* power = nullptr;
  decide::Preemption preemption;
  decide::QueueRules queue;  // nothing of it, unless asked for
  RepartitionCost repartition_cost = RepartitionCost::kMeasured;
  MemoryRules memory;
  Micros horizon;      // energy is counted at least up to here
  double et_a = 2e-7;  // weight of energy (W·min) against mean tardiness (min)
  // Policies are told run times that are wrong by a log-normal factor (sim/estimates.h): standard
  // deviation of its logarithm, and its seed. 0: they know the truth.
  double estimate_error = 0;
  std::uint64_t estimate_seed = 1;
  bool keep_jobs = false;
  bool keep_schedule = false;
  bool keep_layouts = false;           // what every GPU offered over time, without the schedule
  bool measure_fragmentation = false;  // RunResult::fragmentation; a few percent of the time
};

// One job from arrival to completion.
struct JobRecord {
  JobId id;
  Micros first_start;
  Micros completion;
  Micros deadline;  // after any penalty of kPaper
  std::uint32_t preemptions = 0;
  std::uint32_t restarts = 0;  // with all its work lost, for want of memory or before
};

// One uninterrupted stay of a job on a slice.
struct SchedulePiece {
  JobId id;
  cluster::SliceId slice;
  mig::ProfileIndex profile = 0;
  Micros begin;
  Micros end;
  bool lost = false;  // a restart from nothing follows
};

// What a GPU offered between two instants: the instances that existed and were not being unmade.
struct LayoutPiece {
  GpuId gpu;
  Micros begin;
  Micros end;
  mig::Layout layout;
};

// What one user had of the fleet.
struct UserUsage {
  std::string user;
  std::uint64_t jobs = 0;
  double usage = 0;       // slice-seconds, or joules above idle where these are shared
  double share = 0;       // of the usage of all
  double fair_share = 0;  // the same, if all had enough to do all the time
};

struct RunResult {
  double energy_j = 0;
  Micros end;       // of the energy integral
  Micros makespan;  // from the first arrival to the last completion
  std::uint64_t jobs = 0;
  std::uint64_t late_jobs = 0;
  double mean_tardiness_s = 0;
  double p50_tardiness_s = 0;
  double p95_tardiness_s = 0;
  double p99_tardiness_s = 0;
  double max_tardiness_s = 0;
  double mean_wait_s = 0;  // from arrival to first start
  double compute_utilisation = 0;
  double memory_utilisation = 0;
  std::uint64_t events = 0;
  std::uint64_t decisions = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t repartitions = 0;  // layouts asked for that differ from the present one
  std::uint64_t instances_created = 0;
  std::uint64_t instances_destroyed = 0;
  std::uint64_t out_of_memory = 0;   // running jobs lost for want of memory
  std::uint64_t early_restarts = 0;  // running jobs restarted before that
  std::uint64_t reservations = 0;    // jobs that were kept a place after they had waited for long
  std::uint64_t backfilled = 0;      // jobs that ran beside those until the place was free
  double et = 0;
  // Share of the work queued, over time, that fitted nowhere although enough slices were idle
  // (decide/fragmentation.h); with measure_fragmentation.
  double fragmentation = 0;

  std::vector<UserUsage> users;         // by user, where jobs have users
  std::vector<JobRecord> job_records;   // in order of arrival, with keep_jobs
  std::vector<SchedulePiece> schedule;  // in order of end, with keep_schedule
  std::vector<LayoutPiece> layouts;     // by GPU and time, with keep_schedule or keep_layouts

  double energy_w_min() const { return energy_j / 60.0; }
  double energy_kwh() const { return energy_j / 3.6e6; }
  double late_share() const {
    return jobs == 0 ? 0 : static_cast<double>(late_jobs) / static_cast<double>(jobs);
  }
};

// (a * energy + tardiness) / (a + 1), energy in W·min, tardiness in minutes.
double et_score(double a, double energy_w_min, double mean_tardiness_min);

}  // namespace partita::sim
