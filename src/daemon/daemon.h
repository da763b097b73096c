// The daemon: the controller with a clock, a store, GPUs, processes and callers around it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "decide/early_restart.h"

namespace partita::daemon {

struct Settings {
  std::string backend;  // "simulated:2xa100-40gb"
  std::string state;    // a folder
  std::string socket;   // a path
  std::string policy;   // "SCHEDULER/RULE"
  bool shadow = false;
  bool early_restart = true;
  std::optional<Micros> preempt_after;  // control::Options has it
  Micros watch_interval = Micros::seconds(1);  // between two readings of every GPU
  std::uint64_t seed = 1;
  std::string version;
  std::string hostname;
  // The command that runs a supervisor; see launch/local.h.
  std::vector<std::string> supervisor;
  std::vector<std::string> supervisor_environment;
};

// Runs until SIGTERM or SIGINT; jobs go on. `say` gets a line for each thing an operator should
// know. An error is why it could not begin or had to stop.
Status run_daemon(const Settings& settings, void (*say)(const std::string& line));

}  // namespace partita::daemon
