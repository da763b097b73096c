// Distilling: what a learned repartitioner does, written down as a table of hour and backlog that a
// person can read and edit (policies/repartitioners/backlog_table.h).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "nn/model.h"
#include "sim/run.h"
#include "workload/job.h"

namespace partita::learn {

struct DistillOptions {
  sim::RunOptions run;
  std::string scheduler;
  std::vector<workload::Trace> days;
  int hours_per_row = 4;
  int parts = 8;              // a mix is written in so many parts of the fleet
  std::uint64_t visits = 50;  // a cell that was seen less often is left out
};

// Runs the model on the days and writes for every hour and backlog the mean mix it had.
Result<std::string> distill(const nn::Model& model, const DistillOptions& options);

}  // namespace partita::learn
