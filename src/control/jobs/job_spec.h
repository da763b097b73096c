// JobSpec: what a user asks for, and its text in the store.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "control/limits.h"
#include "workload/job.h"

namespace partita::control {

struct JobSpec {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // NAME=VALUE, beside what every job gets
  std::string directory;                 // absolute
  std::string name;                      // [A-Za-z0-9._-]+
  std::optional<double> memory_gib;      // nothing: to be found out
  std::optional<Micros> deadline;        // of the wall clock
  std::array<std::optional<Micros>, workload::kSliceSizeCount> times;
  std::vector<std::string> checkpoint;  // a command; empty: none
  std::optional<Micros> time_limit;     // of each attempt

  bool operator==(const JobSpec&) const = default;
};

// Why it cannot be accepted: names, sizes, bytes that no program could be given.
Status check_spec(const JobSpec& spec, const Limits& limits);

// Fields one after the other, each as LENGTH:BYTES, so that any byte may stand in them.
std::string encode_spec(const JobSpec& spec);
Result<JobSpec> decode_spec(std::string_view text);

// As policies see the job: times that were not given are filled in from those that were, or from an
// hour on the whole GPU; so is a deadline (30 days). `need_gib` is the memory it is believed to
// need.
workload::Job as_policy_job(const JobSpec& spec, Micros submitted, double need_gib);

}  // namespace partita::control
