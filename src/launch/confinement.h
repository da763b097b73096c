// Confinement: what holds an attempt besides the rights of its owner: a cgroup with its rules.
//
// A cgroup of version 2 for each attempt, so that whatever the job leaves behind goes when it ends
// (cgroup.kill), however it hid; limits of memory and processes where the operator asks for them;
// and device rules, so that it opens no GPU but its own. Where the kernel or the rights are
// missing, open_cgroups() says why and jobs run without.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/record.h"
#include "base/result.h"

namespace partita::launch {

struct DeviceNode {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;

  static auto parts(auto& node) { return std::tie(node.major, node.minor); }
  bool operator==(const DeviceNode&) const = default;
};

// Of character devices with a governed major, only the allowed; of all others, any.
struct DeviceRules {
  std::vector<std::uint32_t> governed;
  std::vector<DeviceNode> allowed;

  bool empty() const { return governed.empty(); }
  static auto parts(auto& rules) { return std::tie(rules.governed, rules.allowed); }
  bool operator==(const DeviceRules&) const = default;
};

struct Confinement {
  std::string cgroup;            // a folder; empty: none
  std::uint64_t memory_max = 0;  // bytes of the machine's memory; 0: no limit
  std::uint64_t pids_max = 0;    // processes and threads; 0: no limit
  DeviceRules devices;

  static auto parts(auto& self) {
    return std::tie(self.cgroup, self.memory_max, self.pids_max, self.devices);
  }
  bool operator==(const Confinement&) const = default;
};

// ---- the daemon

// The folder in which attempts get cgroups of their own: in the daemon's, named after the folder
// `state`, so that daemons do not meet. With `limits` the controllers of memory and processes are
// handed down, for which the daemon moves into a cgroup below its own. An error is why there are
// no cgroups, or no such limits.
Result<std::string> open_cgroups(const std::string& state, bool limits);

// Whether device rules can be set in there: an error is why not.
Status try_device_rules(const std::string& cgroups);

// ---- the supervisor

// Makes it and sets its limits and rules. REQUIRES: confinement.cgroup is set.
Status make_cgroup(const Confinement& confinement);
// Moves the calling process. False: it stayed where it was.
bool enter_cgroup(const std::string& folder);
// Everything in it gets SIGKILL. Nothing when there is none.
void kill_cgroup(const std::string& folder);
// Whether the kernel ended a process in it because all of them used more memory than they may.
bool ended_for_memory(const std::string& folder);
// Waits a moment for what was killed. Nothing when there is none.
void remove_cgroup(const std::string& folder);

// The rules as a program for the kernel, attached to the cgroup.
Status attach_device_rules(const std::string& folder, const DeviceRules& rules);

}  // namespace partita::launch
