// The second simulator's own statement of every order of jobs and every placement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "oracle/naive_simulator.h"

namespace partita::oracle {

// A job that could be placed now.
struct Waiting {
  std::size_t job = 0;
  const workload::Job* facts = nullptr;
  Micros deadline;      // after penalties
  double work = 1;      // fraction left
  Micros restart;       // before it makes progress
  double need_gib = 0;  // memory, as it is believed
  // While it runs and may go on: when it will complete, and the size of its slice.
  std::optional<Micros> finish;
  int size = 0;
  std::int64_t key = 0;  // filled by set_keys
};

// A slice that could take a job now.
struct Free {
  std::size_t gpu = 0;
  mig::Placement placement;
  double gpu_mean_size = 0;  // compute slices per instance of the GPU
  int gpu_busy = 0;          // busy compute slices of the GPU
};

// Microseconds of the whole job on a slice of this many compute slices; infinite when not allowed.
double whole_time(const workload::Job& job, int compute_slices);
double fastest_time(const workload::Job& job);
bool can_run(const mig::GpuModel& model, const workload::Job& job, mig::ProfileIndex profile);
// The same for a job whose need has become known better.
bool can_run(const mig::GpuModel& model, const Waiting& job, mig::ProfileIndex profile);
bool on_time(const mig::GpuModel& model, const Waiting& job, Micros now, mig::ProfileIndex profile);

// The mean of the time still needed over `jobs`, which "atc" compares with.
double mean_remaining(const std::vector<Waiting>& jobs);

// What keys are computed from besides the job.
struct Round {
  Micros now;
  double mean = 1;            // of the time still needed, for "atc"
  std::vector<Free> offered;  // the slices whose times "mdd" takes
};
// The last of all numbers for a job that "mdd" finds no slice for.
std::int64_t key_of(const Setup& setup, const Waiting& job, const Round& round);

// The index of the slice this job gets, or nothing when none fits.
std::optional<std::size_t> pick(const Setup& setup, const Waiting& job, Micros now,
                                const std::vector<Free>& free, Rng& rng);

}  // namespace partita::oracle
