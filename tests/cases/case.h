// Case: everything one run needs, as a value that can be drawn at random, printed and read back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mig/layout.h"
#include "oracle/naive_simulator.h"
#include "policies/repartitioners/timetable.h"
#include "sim/engine.h"
#include "sim/run.h"
#include "workload/job.h"

namespace partita::cases {

struct Case {
  std::string gpu = "a100-40gb";
  std::string power;  // a curve's name; empty: the model's default
  std::string scheduler = "edf-ss";
  std::uint64_t seed = 1;  // of the scheduler
  decide::Preemption preemption;
  sim::RepartitionCost repartition_cost = sim::RepartitionCost::kMeasured;
  sim::MemoryRules memory;
  Micros horizon;
  double et_a = 2e-7;
  std::vector<mig::Layout> layouts;                 // at time 0, one a GPU
  std::vector<policies::TimetableSwitch> switches;  // none: the layouts stay
  workload::Trace trace;
};

const mig::GpuModel& model_of(const Case& each);
const mig::PowerCurve& power_of(const Case& each);

// Jobs and schedule are kept.
sim::RunOptions options_of(const Case& each);
Result<sim::RunResult> run_engine(const Case& each);
// With options of the caller's own.
Result<sim::RunResult> run_engine(const Case& each, const sim::RunOptions& options);

oracle::Setup oracle_setup(const Case& each);

// The case as a scenario file without expectations (tests/scenarios/README.md).
std::string to_text(const Case& each);
// Everything a run gave, for comparing byte by byte: figures with all their digits, pieces in
// microseconds in order of begin and place.
std::string to_text(const Case& each, const sim::RunResult& result);

}  // namespace partita::cases
