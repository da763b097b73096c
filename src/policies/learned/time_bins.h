// Times in minutes, and the bins of the histograms that networks are shown.
#pragma once

#include <array>
#include <cstddef>

namespace partita::policies {

inline constexpr double kMicrosPerMinute = 6e7;

// Upper edges in minutes of all bins but the last (notebook of SMART-MIG's authors). What is below
// the first belongs to it: the notebooks drop jobs more than 100 minutes late.
inline constexpr std::array<double, 9> kBinEdges{0, .05, .2, .5, 1, 5, 10, 20, 30};
inline constexpr std::size_t kBins = kBinEdges.size() + 1;

inline std::size_t bin_of(double minutes) {
  std::size_t bin = 0;
  for (const double edge : kBinEdges) bin += minutes >= edge ? 1 : 0;
  return bin;
}

}  // namespace partita::policies
