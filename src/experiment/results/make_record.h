// What the engine says of a run, as a record of a result file.
#pragma once

#include <cstdint>
#include <string>

#include "experiment/results/run_record.h"
#include "sim/run.h"

namespace partita::experiment {

// What the engine does not know: which run this is.
struct RunIdentity {
  std::string experiment;
  std::string setting;
  std::string policy;
  std::string scheduler;
  std::string repartition;
  std::uint64_t seed = 0;
  Role role = Role::kTest;
};

RunRecord make_record(const RunIdentity& identity, const sim::RunOptions& options,
                      const sim::RunResult& result);

}  // namespace partita::experiment
