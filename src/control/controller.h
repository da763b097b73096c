// Controller: the daemon as a state machine: what it knows, and what follows from each input.
//
// It reads no clock, opens no file and starts no process. A turn takes inputs and gives a batch for
// the store, replies and effects; whoever drives it commits the batch first and carries out the
// effects after, so that nothing happens to the world that is not written down. Policies are those
// of the simulator, driven as there (decide/policy_driver.h). docs/concepts/live.md describes the
// states and the promises; control_state.h names the parts.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "control/devices.h"
#include "control/passes.h"
#include "decide/fragmentation.h"

namespace partita::control {

class DryRun;

class Controller {
 public:
  // REQUIRES: at least one GPU; the model outlives the controller. The forecaster may be null where
  // the repartitioner asks for no forecasts.
  Controller(Options options, const mig::GpuModel& model, std::vector<GpuFact> gpus,
             std::unique_ptr<decide::Scheduler> scheduler,
             std::unique_ptr<decide::Repartitioner> repartitioner,
             std::unique_ptr<decide::PositionForecaster> forecaster = nullptr);
  Controller(Options options, const mig::GpuModel& model, std::vector<GpuFact> gpus,
             Policies policies);

  ~Controller();

  // In shadow mode: what carries decisions out on a copy of the fleet, and says so. Before
  // restore(); without it nothing is decided. REQUIRES: options().shadow.
  void rehearse_with(std::unique_ptr<DryRun> dry_run);
  const DryRun* dry_run() const { return dry_run_.get(); }

  // Once, before the first step: what the store holds, what is on the GPUs, and what the launcher
  // says of every attempt of unsettled_attempts().
  Result<Turn> restore(Micros now, const store::Contents& contents,
                       std::span<const Inventory> inventories,
                       std::span<const launch::Report> attempts);
  Turn step(Micros now, std::span<const Input> inputs);

  // When it wants a step although nothing happened.
  std::optional<Micros> next_wake() const;

  // ---- for whoever shows it

  const std::map<JobNumber, Job>& jobs() const { return state_.jobs.all(); }
  const Job* find(JobNumber id) const { return state_.jobs.find(id); }
  const JobTable& job_table() const { return state_.jobs; }
  const Job* job_on(cluster::SliceId slice) const { return state_.job_on(slice); }
  const Fleet& fleet() const { return state_.fleet; }
  // As policies know the job. REQUIRES: it has a handle.
  const decide::ActiveJob& active(const Job& job) const { return state_.active[job.handle]; }
  // The slice the job will get when whoever is on it has been stopped, and the job itself.
  std::optional<cluster::SliceId> claim_of(JobNumber job) const { return state_.claims.of(job); }
  // The job the slice is kept for; null when it is nobody's.
  const Job* claimant_of(cluster::SliceId slice) const;
  const Devices& devices() const { return devices_; }
  Micros now() const { return state_.now; }  // of the latest turn
  // How users stand where they share; else empty.
  std::vector<UserShare> users() const { return state_.queue.users(state_.now); }
  // The place that a job is kept; null: none.
  const decide::Reservation* reservation_of(const Job& job) const;
  const Totals& totals() const { return state_.totals; }
  const Quotas& quotas() const { return state_.quotas; }
  const Options& options() const { return state_.options; }
  // Why nothing is started for want of disk space; empty: there is some.
  const std::string& no_space() const { return state_.no_space; }
  std::size_t count(JobState state) const { return state_.jobs.count(state); }
  std::uint64_t passes() const { return passes_.count(); }
  // What waits, and what of it fits nowhere. Costs one pass over the jobs that have not ended.
  decide::Fragmentation fragmentation() const { return decide::fragmentation(state_.view); }

 private:
  void begin_turn(Micros now);
  void make_decisions();
  Turn finish_turn();
  void take(const Input& input);

  // Restoring.
  void restore_policies();
  void seat_jobs();
  void settle_again();
  void look_at_barred();

  ControlState state_;
  SliceRecords slices_;
  JobFlow flow_;
  Attempts attempts_;
  Devices devices_;
  Moves moves_;
  Passes passes_;
  std::unique_ptr<DryRun> dry_run_;
};

// The attempts whose fate the launcher must be asked for before restore().
std::vector<launch::AttemptKey> unsettled_attempts(const store::Contents& contents);

}  // namespace partita::control
