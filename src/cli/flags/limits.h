// Limits of the command line: far beyond use, and small enough that nothing overflows behind them.
#pragma once

#include "workload/option_checks.h"

namespace partita::cli {

inline constexpr double kGpusMax = 1'000'000;
inline constexpr double kThreadsMax = 1'024;
inline constexpr double kSeedMax = 9.2e18;
inline constexpr double kSecondsMax = 1e11;  // 3,000 years, of a horizon or a cost
inline constexpr double kJobsMax = 4e9;
inline constexpr double kEtAMax = 1e6;
inline constexpr double kEstimateErrorMax = 3;  // a factor of 20 either way, within one sigma
inline constexpr double kDaysMax = 100'000;
inline constexpr double kEvaluationsMax = 1e9;
inline constexpr double kStepsMax = 1e12;
inline constexpr std::size_t kScenarioBytesMax = std::size_t{1} << 20;

}  // namespace partita::cli
