// World: everything around the controller, simulated: clock, GPUs, processes, clients, crashes.
//
// One seed draws the fleet, the policy, the jobs and which faults happen. What survives a crash of
// the controller (the store, the GPUs, the processes) is kept apart from what does not.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/fnv.h"
#include "base/rng.h"
#include "control/journal/journal_replay.h"
#include "control/journal/recorder.h"
#include "store/memory_store.h"

namespace partita::dst {

// Which faults a run has; a random subset, so that their combinations differ.
struct Faults {
  bool crashes = false;
  bool create_fails = false;
  bool destroy_fails = false;
  bool launch_fails = false;
  bool foreign = false;
  bool slices_vanish = false;
  bool gpus_lost = false;
  bool reboots = false;
  bool clients_vanish = false;
  bool slice_faults = false;
  bool drains = false;
  bool hangs = false;
};

// The rule of layouts: one drawn by the seed, or the one that looks ahead. Jobs then say how long
// they take, and most are wrong. So they do where schedulers may move jobs that run; most have a
// deadline there, and the rule is any. Where several users share, with fair shares and
// reservations, where the disk fills up, and where clients and operators steer the queue, the rule
// is drawn too.
enum class Rule : std::uint8_t { kDrawn, kLookahead, kPays, kShared, kFullDisk, kSteered };

class World {
 public:
  explicit World(std::uint64_t seed, Rule rule = Rule::kDrawn);
  ~World();

  // Runs `steps` with faults, then without until all jobs have ended. What is wrong, or nothing.
  std::optional<std::string> run(int steps);
  std::uint64_t digest() const { return digest_.value(); }
  std::size_t accepted() const { return acknowledged_.size(); }
  std::size_t crashes() const { return crashes_; }
  std::size_t preemptions() const { return count("preempted"); }
  // Events of a kind.
  std::size_t count(const std::string& kind) const {
    const auto found = events_.find(kind);
    return found == events_.end() ? 0 : found->second;
  }
  std::uint64_t forecasts() const { return forecasts_; }
  // Turns that had to wait for space, and submissions that were refused for want of it.
  std::size_t turns_unwritten() const { return turns_unwritten_; }
  std::size_t refused() const { return refused_; }
  // Events of jobs that waited for a quota, and submissions that one refused.
  std::size_t quota_waits() const { return quota_waits_; }
  std::size_t quota_refusals() const { return quota_refusals_; }

 private:
  enum class Disk : std::uint8_t { kSpace, kLow, kFull };
  struct DeviceSlice {
    mig::Placement placement;
    device::InstanceKey key;
    bool foreign = false;
    bool orphan = false;
  };
  struct Process {
    bool claimed = false;  // began; or, when revoked, never will
    bool revoked = false;
    bool refused = false;   // the program cannot be run
    bool no_space = false;  // its end could not be written down
    bool running = false;
    bool told_start = false;
    bool stop = false;
    int starts = 0;
    int exit_code = -1;
    bool memory_out = false;
    bool forgotten = false;
    std::uint32_t gpu = 0;
    std::string uuid;
    double capacity_gib = 0;
    Micros began;
    Micros ends;
    Micros begins_at;
  };
  struct JobTruth {
    double peak_gib = 0;
    Micros length;
    int exit_code = 0;
    bool succeeded = false;
  };
  struct DeviceCommand {
    bool create = false;
    GpuId gpu;
    mig::Placement placement;
    device::InstanceKey key;
    Micros due;
  };
  struct PendingSubmit {
    std::string key;
    std::size_t count = 1;
    control::JobSpec spec;
    control::Ticket ticket = 0;
  };

  void draw_policy();
  void draw_hurry(control::JobSpec& spec);
  void draw_queue_rules(control::Options& options);
  bool has_quotas() const { return rule_ == Rule::kShared || rule_ == Rule::kSteered; }
  void draw_quotas(control::Options& options);
  control::QuotaAmounts draw_amounts();
  // Long enough for the next period of a quota to begin, now and then.
  void leap(bool faults);
  bool refused_by_quota(const control::Reply& reply, const launch::Owner& owner,
                        std::size_t count) const;
  // Who submits under that key.
  launch::Owner owner_of(const std::string& key) const;
  Result<control::Policies> make_policies(const control::Beginning& beginning);
  void draw_wishes(control::JobSpec& spec);
  void steer(std::vector<control::Input>& inputs);
  void let_go(std::vector<control::Input>& inputs);
  void check_start(JobNumber job);
  void check_quotas(const control::Job& job);
  void check_jobs_quota(const control::Reply& reply);
  void check_gpu_hours(const control::QuotaLine& line);
  void check_drains();
  void note_drain(const control::Reply& reply);
  void boot();
  void crash();
  void own_what_was_being_made();
  void turn(bool faults);
  control::Beginning beginning() const;
  // Takes all turns again from the journal alone; each must give what it gave.
  void check_replay();
  void remove_ambiguous();
  // False: the controller died on the way.
  bool perform(control::Turn turn, bool faults);
  bool carry_out(const control::Turn& turn, bool faults);
  void take_replies(const control::Turn& turn);
  void fill_disk(bool faults);
  void storage_inputs(std::vector<control::Input>& inputs);
  std::vector<control::Input> inputs_of_turn(bool faults);
  bool maybe_crash(bool faults);
  void carry_out(const control::Effect& effect);
  void launch(const control::Launch& launch);
  void client_inputs(std::vector<control::Input>& inputs);
  void cancel_from(std::set<JobNumber>::const_iterator each, std::vector<control::Input>& inputs);
  void device_inputs(std::vector<control::Input>& inputs, bool faults);
  void process_inputs(std::vector<control::Input>& inputs);
  void reading_inputs(std::vector<control::Input>& inputs);
  void mischief(std::vector<control::Input>& inputs);
  void break_gpu(std::uint32_t gpu, std::vector<control::Input>& inputs);
  void reboot(std::vector<control::Input>& inputs);
  control::Input done(const DeviceCommand& command, bool faults);
  control::Inventory inventory(GpuId gpu) const;
  launch::Report find(launch::AttemptKey key);
  double used_gib(launch::AttemptKey key, const Process& process) const;
  void move_processes();
  DeviceSlice* slice_at(GpuId gpu, const std::string& uuid);
  JobTruth& truth_of(JobNumber job);
  void remove_slice(GpuId gpu, std::string uuid);
  void mix(std::uint64_t value);
  void mix(const std::string& text);

  // Checkers; each says what it found.
  void check_step();
  void check_rest();
  void check_jobs();
  void check_attempts(const control::Job& job);
  void check_claims();
  void check_totals();
  void check_cancelled(const control::Reply& reply);
  void check_preempted(const control::Turn& turn);
  void check_slices();
  void check_processes();
  void check_store();
  void check_older_store(const store::Contents& contents);
  void check_end();
  std::string description() const;
  void wrong(const std::string& what);
  void tell_last_events();

  Rng rng_;
  Rng policy_rng_;
  Rng disk_rng_;
  Rng steer_rng_;
  Rng quota_rng_;
  std::uint64_t seed_;
  Rule rule_;
  Faults faults_;
  const mig::GpuModel* model_ = nullptr;
  std::uint32_t gpu_count_ = 1;
  double most_gib_ = 0;  // of a slice the policy offers
  std::string scheduler_;
  std::string repartition_;

  // Survives.
  Micros now_ = Micros::seconds(1'000'000);
  store::MemoryStore store_;
  std::vector<std::vector<DeviceSlice>> slices_;  // by GPU
  std::vector<bool> lost_;
  std::vector<bool> hung_;     // does not answer; what is on it stays
  std::vector<bool> drained_;  // takes no new jobs until it is reset
  std::map<launch::AttemptKey, Process> processes_;
  std::map<JobNumber, JobTruth> truths_;
  std::uint32_t next_gi_ = 1;
  Disk disk_ = Disk::kSpace;
  std::set<std::string> foreign_uuids_;  // that must still be there

  // Does not.
  control::Beginning begun_;
  std::unique_ptr<control::Controller> controller_;
  std::unique_ptr<control::Recorder> recorder_;
  std::vector<std::deque<DeviceCommand>> commands_;  // by GPU, one at a time
  std::vector<launch::Report> reports_;
  std::vector<bool> told_hung_;  // the controller knows
  bool told_space_ = true;
  std::optional<control::Turn> unwritten_;  // the store had no space for it

  // What clients know.
  std::map<std::string, PendingSubmit> unanswered_;  // by key; tried again until answered
  std::map<std::string, std::vector<JobNumber>> answered_;
  std::set<JobNumber> acknowledged_;
  std::map<JobNumber, control::JobState> seen_;
  std::set<JobNumber> cancelled_;
  std::map<control::Ticket, std::uint32_t> cancellers_;  // who asked to cancel several
  std::map<control::Totals::Key, double> counted_;       // as of the last commit
  std::set<JobNumber> requeued_;                         // on request
  std::map<control::Ticket, GpuId> drains_asked_;
  std::set<GpuId> operator_drained_;
  control::Ticket next_ticket_ = 1;
  int submissions_ = 0;

  std::size_t crashes_ = 0;
  std::map<std::string, std::size_t> events_;  // by kind
  std::uint64_t forecasts_ = 0;
  std::size_t turns_unwritten_ = 0;
  std::size_t refused_ = 0;
  std::size_t quota_waits_ = 0;
  std::size_t quota_refusals_ = 0;
  int step_ = 0;
  std::optional<std::string> wrong_;
  Fnv digest_;
};

}  // namespace partita::dst
