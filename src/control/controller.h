// Controller: the daemon as a state machine: what it knows, and what follows from each input.
//
// It reads no clock, opens no file and starts no process. A turn takes inputs and gives a batch for
// the store, replies and effects; whoever drives it commits the batch first and carries out the
// effects after, so that nothing happens to the world that is not written down. Policies are those
// of the simulator. docs/concepts/live.md describes the states and the promises.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/energy_split.h"
#include "control/fleet.h"
#include "control/job_life.h"
#include "control/limits.h"
#include "control/memory_trend.h"
#include "control/protocol.h"
#include "decide/early_restart.h"
#include "decide/fragmentation.h"
#include "decide/position_forecaster.h"
#include "decide/repartitioner.h"
#include "decide/scheduler.h"
#include "decide/survival.h"

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
  Limits limits;
};

enum class AttemptState : std::uint8_t { kIntended = 0, kRunning = 1, kStopping = 2, kEnded = 3 };

struct Job {
  std::int64_t id = 0;
  Micros submitted;
  launch::Owner owner;
  std::string key;
  JobSpec spec;
  store::JobProgress progress;
  std::vector<store::AttemptRow> attempts;  // attempts[i].number is i + 1
  cluster::JobHandle handle;                // valid until it ends
  MemoryTrend trend;                        // of the present attempt
  double work_left = 1;                     // when it was last stopped after a checkpoint
  double believed = 1;                      // its length, in times it was said to take

  JobState state() const { return static_cast<JobState>(progress.state); }
};

// How the reason of a job begins that is stopped after its checkpoint command, for another job or
// for another layout.
inline constexpr std::string_view kPreempted = "preempted";

// A slice of ours that nobody can ask after now.
struct SetAside {
  mig::Placement placement;
  std::string uuid;
  SliceStage stage = SliceStage::kPresent;
};

// Whether an instance is what the books have there: by its UUID; by its place where it was just
// being made; and as half of one where it was being unmade or could not be made. A whole one that
// turns up where one could not be made may be somebody else's, and is left alone.
bool is_ours(const SetAside& known, const device::Instance& instance);

struct GpuReading {
  double power_w = 0;
  double energy_j = 0;      // the counter
  double idle_j = 0;        // since the daemon began
  double attributed_j = 0;  // to jobs, since the daemon began
  bool read = false;
};

class Controller {
 public:
  // REQUIRES: at least one GPU; the model outlives the controller. The forecaster may be null where
  // the repartitioner asks for no forecasts.
  Controller(Options options, const mig::GpuModel& model, std::vector<GpuFact> gpus,
             std::unique_ptr<decide::Scheduler> scheduler,
             std::unique_ptr<decide::Repartitioner> repartitioner,
             std::unique_ptr<decide::PositionForecaster> forecaster = nullptr);
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Once, before the first step: what the store holds, what is on the GPUs, and what the launcher
  // says of every attempt of unsettled_attempts().
  Result<Turn> restore(Micros now, const store::Contents& contents,
                       std::span<const Inventory> inventories,
                       std::span<const launch::Report> attempts);
  Turn step(Micros now, std::span<const Input> inputs);

  // When it wants a step although nothing happened.
  std::optional<Micros> next_wake() const;

  // ---- for whoever shows it

  const std::map<std::int64_t, Job>& jobs() const { return jobs_; }
  const Job* find(std::int64_t id) const;
  const Job* job_on(cluster::SliceId slice) const;
  const Fleet& fleet() const { return fleet_; }
  // The slice the job will get when whoever is on it has been stopped, and the job itself.
  std::optional<cluster::SliceId> claim_of(std::int64_t job) const;
  // The job the slice is kept for; null when it is nobody's.
  const Job* claimant_of(cluster::SliceId slice) const;
  const GpuReading& reading(GpuId gpu) const { return readings_[gpu.value]; }
  const Options& options() const { return options_; }
  std::size_t jobs_not_ended() const { return jobs_.size() - ended_.size(); }
  std::size_t count(JobState state) const { return counts_[static_cast<std::size_t>(state)]; }
  std::uint64_t passes() const { return passes_; }
  // What waits, and what of it fits nowhere. Costs one pass over the jobs that have not ended.
  decide::Fragmentation fragmentation() const { return decide::fragmentation(view_); }

 private:
  // Inputs.
  void take(const Submit& submit);
  void take(const Cancel& cancel);
  void take(const launch::Report& report);
  void take(const CreateDone& done);
  void take(const DestroyDone& done);
  void take(const Reading& reading);
  void take(const Inventory& inventory);
  void take(const GpuHealth& health);
  void take(const SliceFault& fault);
  void take(const Remark& remark);

  // Jobs.
  void reply(Ticket ticket, Reply::Kind kind, std::vector<std::int64_t> jobs,
             std::string message = {});
  std::optional<std::string> no_room_for(const Submit& submit) const;
  Job& add_job(const Submit& submit);
  double first_need(const JobSpec& spec, const launch::Owner& owner) const;
  void enter_policies(Job& job);
  void move_to(Job& job, JobState state, std::string reason);
  void end(Job& job, JobState state, std::string reason);
  void requeue(Job& job, std::string reason);
  void forget_oldest();
  std::uint16_t fitting_profiles(double need_gib) const;

  // Attempts.
  void start(Job& job, cluster::SliceId slice);
  void attempt_began(Job& job, const launch::Report& report);
  void attempt_did_not_begin(Job& job, const launch::Report& report);
  void attempt_ended(Job& job, const launch::Report& report);
  void attempt_vanished(Job& job);
  void close_attempt(Job& job, std::string reason, Micros ended = {});
  void stop(Job& job, bool checkpoint);
  void leave_slice(Job& job);
  bool out_of_memory(const Job& job, const launch::Report& report) const;
  void after_memory_out(Job& job);
  void lose(Job& job, const std::string& why);
  void watch_memory(Job& job, double used_gib);
  void restart_early(Job& job, double projected_gib, double capacity_gib);
  std::optional<double> next_larger(double gib) const;
  double largest_gib() const;
  bool offered(std::size_t profile) const { return (offered_ >> profile & 1U) != 0; }
  double capacity_of(const Job& job) const;
  store::AttemptRow& attempt_of(Job& job) { return job.attempts.back(); }

  // Moves of jobs that run.
  bool preempts() const { return view_.preemption.mode == decide::Preemption::Mode::kPays; }
  std::optional<Micros> preempt_after() const;
  bool may_be_moved(const Job& job) const;
  void carry_out(const decide::Decision& decision);
  void interrupt(Job& job, cluster::SliceId to, const Job* taker);
  void claim(Job& job, cluster::SliceId slice);
  void serve_claims();
  bool claim_stands(const Job& job, cluster::SliceId slice) const;
  void forget_claim(std::int64_t job);
  void give_up_claim(Job& job);
  void look_at_running();
  void believe_more(Job& job);
  double age_of(const Job& job) const;
  decide::Outlook outlook() const;
  std::optional<double> work_left_of(cluster::JobHandle handle) const;
  Micros expected_end(const Job& job, cluster::SliceId slice) const;
  std::string outlook(const Job& job, cluster::SliceId slice) const;

  // Devices.
  void begin_layout_steps();
  void preempt_for_layouts();
  void preempt_on(cluster::SliceId slice);
  void write_instance(GpuId gpu, mig::Placement placement, SliceStage stage,
                      const std::string& uuid);
  void drop_instance(GpuId gpu, std::uint8_t start);
  void stop_job_on(cluster::SliceId slice, const std::string& why);
  void remove_vanished();
  void settle_failed_creates(const Inventory& inventory);
  void take_back(const Inventory& inventory);
  void begin_own_destroy(GpuId gpu, const device::Instance& instance);
  void settle_unusable(GpuId gpu);
  void share_energy(const Reading& reading);
  bool runs_own_job(GpuId gpu) const;

  // Decisions.
  void pass();
  void tell_returned(const Job& job);
  void repartition(bool timer);
  bool layouts_due() const;
  void ask_for_layouts(bool turn);
  void follow_requests();
  void shadow_pass();
  void log_notes();

  // Restoring.
  Status read_jobs(const store::Contents& contents);
  void reconcile(const Inventory& inventory, const store::Contents& contents);
  std::optional<SetAside> known_slice(const store::InstanceRow& row) const;
  void set_unseen_aside(std::span<const Inventory> inventories, const store::Contents& contents);
  void seat_jobs();
  void seat(Job& job);
  void seat_stragglers();
  void settle_again();
  void find_offered(std::span<const mig::Layout> initial);

  // The books of one turn.
  void begin_turn(Micros now);
  Turn finish_turn();
  template <typename Kind>
  void effect(Kind each) {
    turn_.effects.emplace_back(std::in_place_type<Kind>, std::move(each));
  }
  void event(std::int64_t job, std::string kind, std::string text);
  void intend(std::string kind, std::string subject);
  void met(std::string kind, std::string subject);
  void touch(const Job& job) { touched_.insert(job.id); }
  void touch_attempt(const Job& job) { touched_attempts_.emplace(job.id, job.attempts.size() - 1); }
  std::string place_name(GpuId gpu, mig::Placement placement) const;
  std::string place_name(cluster::SliceId slice) const;
  std::string gpu_place(GpuId gpu, std::uint8_t start) const;

  Options options_;
  // Profiles that the layouts of the policies may have; fewer than all where layouts never change.
  std::uint16_t offered_ = 0;
  decide::ActiveJobs active_;
  Fleet fleet_;
  std::unique_ptr<decide::Scheduler> scheduler_;
  std::unique_ptr<decide::Repartitioner> repartitioner_;
  std::unique_ptr<decide::PositionForecaster> forecaster_;  // may be null
  decide::View view_;

  std::map<std::int64_t, Job> jobs_;
  std::vector<std::int64_t> job_of_handle_;
  std::deque<std::int64_t> ended_;                     // in order of ending
  std::map<std::uint32_t, std::size_t> jobs_of_user_;  // that have not ended
  std::map<std::pair<std::uint32_t, std::string>, std::vector<std::int64_t>> keys_;
  std::map<std::pair<std::uint32_t, std::string>, double> peaks_;
  std::array<std::size_t, kJobStates> counts_{};
  std::vector<GpuReading> readings_;
  std::vector<BoardMeter> meters_;
  // By job, the slice it gets when all who must be stopped have been. Policies count it as there.
  std::map<std::int64_t, cluster::SliceId> claims_;
  decide::Survival survival_;  // of jobs that were done at their first attempt
  // Where jobs may be moved: when an estimate runs out, or one has run long enough.
  Micros next_look_ = Micros::max();
  std::set<std::uint32_t> vanished_;  // slices whose instance is gone while a job is on them
  // Ours on GPUs that are out of use, by GPU; whether they are still there shows when it is back.
  std::map<std::uint32_t, std::vector<SetAside>> set_aside_;
  std::set<std::uint32_t> returning_;  // GPUs that answer again, and are used after an inventory
  // By slice, those that could not be made, until an inventory tells whether half of one is left.
  std::map<std::uint32_t, mig::Placement> failed_creates_;
  std::set<std::uint32_t> overlapping_;  // foreign instances that could not be shown, by slice
  std::int64_t next_job_ = 1;
  std::int64_t next_event_ = 1;

  Micros now_;
  Micros last_pass_;
  Micros last_booked_;
  bool pass_due_ = true;
  std::uint64_t passes_ = 0;
  Micros next_timer_ = Micros::max();
  std::uint64_t events_ = 0;  // arrivals and completions
  std::uint64_t events_at_last_turn_ = 0;
  decide::Decision decision_;
  std::vector<decide::LayoutRequest> requests_;
  std::vector<decide::LayoutCourse> courses_;     // what the forecaster was shown last
  std::map<std::int64_t, std::string> shadowed_;  // what was last said of a job
  std::map<std::uint32_t, std::string> shadowed_gpus_;

  Turn turn_;
  std::set<std::int64_t> new_jobs_;
  std::set<std::int64_t> touched_;
  std::set<std::pair<std::int64_t, std::size_t>> touched_attempts_;  // job, and which
};

// The attempts whose fate the launcher must be asked for before restore().
std::vector<launch::AttemptKey> unsettled_attempts(const store::Contents& contents);

}  // namespace partita::control
