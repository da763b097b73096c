// The daemon: the controller with a clock, a store, GPUs, processes and callers around it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/address.h"
#include "api/submission_rate.h"
#include "base/result.h"
#include "base/units.h"
#include "control/journal/recorder.h"
#include "daemon/output_keeper.h"
#include "decide/early_restart.h"
#include "decide/queue_rules.h"
#include "decide/view.h"

namespace partita::daemon {

// What is refused or held; see docs/guides/operating.md.
struct JobLimits {
  api::RateLimit submissions;             // of a user who is no admin
  std::size_t connections_per_user = 64;  // of a user who is no admin
  std::size_t jobs_per_user = 100'000;    // in the queue
  std::size_t jobs_kept = 100'000;        // that have ended
  std::uint32_t uid_min = 0;
  Micros time_limit_max = {};  // of an attempt; 0: none
  std::uint64_t output_bytes_max = 1U << 30U;
  OutputLimits output;                        // of all ended jobs
  std::optional<std::uint64_t> output_floor;  // bytes left on the disk; nothing: see disk_space.h
  std::optional<std::uint64_t> disk_floor;
  control::JournalLimits journal;
  std::uint64_t memory_max = 0;  // of the machine, of an attempt; 0: no limit
  std::uint64_t pids_max = 0;
};

struct Settings {
  std::string backend;  // "simulated:2xa100-40gb"
  // A driver that is not there may come: it was asked for by name.
  bool waits_for_driver = true;
  std::string state;   // a folder
  std::string socket;  // a path
  std::optional<api::Address> tcp;
  std::string policy;  // "SCHEDULER/REPARTITIONER"
  bool shadow = false;
  bool early_restart = true;
  std::optional<Micros> preempt_after;                                    // control::Options has it
  decide::Preemption preemption = {decide::Preemption::Mode::kNone, {}};  // none or pays
  decide::QueueRules queue = {};               // weights by user name or uid
  control::QuotaRules quotas = {};             // none in shadow mode
  Micros watch_interval = Micros::seconds(1);  // between two readings of every GPU
  std::uint64_t seed = 1;
  JobLimits limits;
  std::string version;
  std::string hostname;
  // The command that runs a supervisor; see launch/local.h.
  std::vector<std::string> supervisor;
  std::vector<std::string> supervisor_environment;
  std::string notify_socket;  // of who started us and wants to know how we are; may be empty
  Micros watchdog = {};       // within which it wants to hear of us; 0: never
};

// Runs until SIGTERM or SIGINT; jobs go on. `say` gets a line for each thing an operator should
// know. An error is why it could not begin or had to stop; `began` says which: what could not begin
// cannot begin again as long as nobody changes something.
Status run_daemon(const Settings& settings, void (*say)(const std::string& line), bool& began);

}  // namespace partita::daemon
