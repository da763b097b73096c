// Batches: how soon each policy is done with the same jobs, and at what energy, in times of the
// reference.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/results/run_record.h"
#include "experiment/statistics/statistics.h"
#include "experiment/study.h"

namespace partita::experiment {

// The reference's mean over the policy's, and the largest such ratio of a single batch.
struct Ratio {
  double mean = 1;
  std::optional<Interval> interval;  // nothing for fewer than two batches
  double best = 1;
};

struct BatchRow {
  std::string policy;
  double makespan_s = 0;  // means over the batches, as all below
  double energy_j = 0;
  double repartitions = 0;
  double out_of_memory = 0;
  double early_restarts = 0;
  Ratio throughput;
  Ratio energy;
};

// One row a policy, in the order of the setting, whose first is the reference. Policies that were
// not run on the same batches are left out.
std::vector<BatchRow> batch_rows(const StudySetting& setting, std::span<const RunRecord> records);

}  // namespace partita::experiment
