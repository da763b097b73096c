// ControlState: what the controller knows. Its parts share it, and each changes what is its own.
//
// The parts, from those that lean on nothing to those that lean on the ones before: SliceRecords
// (what is on the GPUs), JobFlow (a job from one state to the next), Attempts (processes), Moves
// (decisions carried out), Devices (what GPUs report), Passes (policies asked). The Controller
// hands each input to the part it is for.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/claims.h"
#include "control/fleet.h"
#include "control/jobs/job_table.h"
#include "control/jobs/memory_needs.h"
#include "control/jobs/queue_gates.h"
#include "control/limits.h"
#include "control/quotas/quotas.h"
#include "control/shared_queue.h"
#include "control/totals.h"
#include "control/turn_book.h"
#include "decide/early_restart.h"
#include "decide/policy_driver.h"
#include "decide/position_forecaster.h"

namespace partita::control {

struct Options {
  bool shadow = false;  // decides and says so, and does nothing
  std::optional<decide::EarlyRestart> early_restart = decide::EarlyRestart{};
  // A job with a checkpoint command that has run for so long may be stopped when its slice is to be
  // cut anew; nothing: jobs are waited for, unless preemption pays.
  std::optional<Micros> preempt_after;
  // Whether schedulers may move jobs that run; kNone or kPays. Those with a checkpoint command can
  // be moved.
  decide::Preemption preemption = {decide::Preemption::Mode::kNone, {}};
  // An early restart must leave more work than this to be worth it.
  Micros restart_cost = Micros::seconds(5);
  // Between two scheduling passes at least this long, however much happens.
  Micros pass_interval = Micros{20'000};
  double et_a = 2e-7;
  // Weights are by uid. Nothing of it in shadow mode.
  decide::QueueRules queue = {};
  // By uid and gid. Nothing of it in shadow mode.
  QuotaRules quotas = {};
  Limits limits;
};

struct Policies {
  std::unique_ptr<decide::Scheduler> scheduler;
  std::unique_ptr<decide::Repartitioner> repartitioner;
  std::unique_ptr<decide::PositionForecaster> forecaster;  // may be null
  decide::FairQueue::Make make_scheduler = {};  // one more of the kind; needed where users share
};

struct ControlState {
  ControlState(Options chosen, const mig::GpuModel& model, std::vector<GpuFact> gpus,
               Policies chosen_policies);
  ControlState(const ControlState&) = delete;
  ControlState& operator=(const ControlState&) = delete;

  const mig::GpuModel& model() const { return fleet.model(); }
  bool preempts() const { return view.preemption.mode == decide::Preemption::Mode::kPays; }
  // Our job on the slice; null when there is none.
  const Job* job_on(cluster::SliceId slice) const;
  Job* job_on(cluster::SliceId slice);
  bool runs_own_job(GpuId gpu) const;
  // The memory of the slice that the job holds; 0 when it holds none.
  double capacity_of(const Job& job) const;
  std::string name_of(GpuId gpu, mig::Placement placement) const;
  std::string name_of(cluster::SliceId slice) const;
  // Why so many more jobs of the user cannot be taken.
  std::optional<std::string> no_room_for(const launch::Owner& owner, std::size_t count);
  // As intents are named: by the GPU's UUID.
  std::string subject_of(GpuId gpu, std::uint8_t start) const;
  // Something happened that policies should see.
  void note_event() {
    ++events;
    pass_due = true;
  }

  Options options;
  decide::ActiveJobs active;
  Fleet fleet;
  MemoryNeeds memory;
  JobTable jobs;
  Totals totals;
  Quotas quotas;
  QueueGates gates;
  Claims claims;
  Policies owned;
  SharedQueue queue;
  decide::View view;
  decide::PolicyDriver policies;
  TurnBook turn;
  Micros now;
  std::uint64_t events = 0;  // arrivals, completions and whatever else policies count
  bool pass_due = true;
  // Why nothing is started or taken: the disk is full. Empty: it is not.
  std::string no_space;
};

}  // namespace partita::control
