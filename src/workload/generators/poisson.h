// Constant-rate Poisson arrivals with the papers' job mix: the papers' static experiments.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "workload/generators/papers_mix.h"

namespace partita::workload {

struct PoissonOptions {
  double rate_per_min = 8;
  // The run ends at whichever comes first; at least one is needed.
  std::optional<std::uint64_t> jobs = 1000;
  std::optional<double> hours;
  PapersMixOptions mix;
  std::uint64_t seed = 1;
};

// Jobs in order of arrival with ids 1, 2, ...
Result<std::unique_ptr<JobSource>> make_poisson(const PoissonOptions& options);

}  // namespace partita::workload
