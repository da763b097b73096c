// Batches in the manner of MIGM: all jobs there at once, packed by the memory they need.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "workload/job_source.h"

namespace partita::workload {

// docs/reference/workloads.md says of every constant behind a mix where it is from or that it is
// assumed.
struct MigmOptions {
  std::string mix = "general";  // one of migm_mixes()
  std::uint64_t jobs = 50;
  // What one decoder layer of a language model takes at least, whatever the slice: its kernels have
  // to be launched.
  double layer_ms = 0.64;
  std::uint64_t seed = 1;
};

std::vector<std::string> migm_mixes();

// Jobs with ids 1, 2, ..., all at time 0, with deadlines so far away that none matters.
Result<std::unique_ptr<JobSource>> make_migm(const MigmOptions& options);

}  // namespace partita::workload
