// A second simulator, as simple as it can be, that the fast one must agree with piece by piece.
//
// It shares no code with sim, policies, decide or cluster: plain vectors, linear scans, everything
// recomputed from its definition (docs/concepts/model.md) at every event. Slow and easy to believe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "mig/layout.h"
#include "workload/job.h"

namespace partita::oracle {

enum class Interruption : std::uint8_t { kFree, kNone, kCost, kPays };

// From this time of every day on the GPUs are to have these layouts, one a GPU.
struct Switch {
  Micros time_of_day;
  std::vector<mig::Layout> layouts;
};

// When a job is restarted before its memory is out.
struct EarlyRule {
  std::uint32_t readings = 0;
  std::uint32_t window = 0;
  std::uint32_t least = 0;
  double z = 0;
  std::uint32_t confirmations = 0;
};

struct Setup {
  const mig::GpuModel* model = nullptr;
  std::vector<double> watts;         // by busy compute slices
  std::vector<mig::Layout> layouts;  // at time 0, one a GPU
  std::vector<Switch> switches;      // none: the layouts stay
  std::string order;                 // "edf", "llf", ...
  std::string placement;             // "slowest", "first", ...
  std::uint64_t seed = 0;            // of the placement "random"
  Interruption interruption = Interruption::kFree;
  Micros interruption_cost;
  std::vector<workload::MemoryCurve> memory_curves;  // none, or one a job
  Micros restart;                                    // of a job that lost its work
  std::optional<EarlyRule> early;
  bool paper_cost = false;  // repartitioning as SMART-MIG, else with measured times
  Micros horizon;
  double et_a = 2e-7;
};

// The order and the placement that one of the seventeen names stands for, from the papers and not
// from the registry under test. REQUIRES: a known name, or "order+placement".
void set_scheduler(Setup& setup, const std::string& name);

struct Piece {
  std::size_t job = 0;
  std::size_t gpu = 0;
  mig::Placement placement;
  Micros begin;
  Micros end;

  auto operator<=>(const Piece&) const = default;
};

struct LayoutSpan {
  std::size_t gpu = 0;
  Micros begin;
  Micros end;
  mig::Layout layout;

  bool operator==(const LayoutSpan&) const = default;
};

struct JobOutcome {
  Micros first_start;
  Micros completion;
  Micros deadline;  // after penalties
  std::uint32_t preemptions = 0;
  std::uint32_t restarts = 0;
};

struct Outcome {
  // Jobs are left that nothing to come can run; or they are interrupted again and again before they
  // get anywhere. The rest is then not filled.
  bool stuck = false;
  bool endless = false;
  std::vector<Piece> pieces;
  std::vector<LayoutSpan> layouts;
  std::vector<JobOutcome> jobs;
  Micros end;
  double energy_j = 0;
  double mean_tardiness_s = 0;
  std::uint64_t late_jobs = 0;
  std::uint64_t events = 0;
  std::uint64_t decisions = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t repartitions = 0;
  std::uint64_t instances_created = 0;
  std::uint64_t instances_destroyed = 0;
  std::uint64_t out_of_memory = 0;
  std::uint64_t early_restarts = 0;
};

// REQUIRES: jobs in order of arrival; every job has a time for some size.
Outcome simulate(const std::vector<workload::Job>& jobs, const Setup& setup);

}  // namespace partita::oracle
