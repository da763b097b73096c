// Packing: with how few watts a fleet holds given instances at one moment. For exact optima of very
// small cases.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "bounds/problem.h"

namespace partita::bounds {

class Packing {
 public:
  using Counts = std::array<int, kModesMax>;  // of busy instances, by mode

  explicit Packing(const Problem& problem) : problem_(problem) {}

  // The fewest watts above idle with which so many GPUs hold them; infinite where they cannot.
  double watts(const Counts& wanted, std::uint32_t gpus);

 private:
  double exact_watts(const Counts& wanted, const Counts& left) const;

  const Problem& problem_;
  std::map<std::pair<Counts, std::uint32_t>, double> known_;
};

// Whether the job can have as many compute slices with fewer memory slices.
bool dominated(const Problem& problem, const BoundJob& job, std::size_t mode);

}  // namespace partita::bounds
