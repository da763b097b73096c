// A whole study: all runs of so many days, or of as many as it takes, and what they say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/results/summary.h"
#include "experiment/runner.h"
#include "experiment/study.h"

namespace partita::experiment {

inline constexpr std::uint64_t kDecidedDaysMax = 2'000;  // when days are added until all is decided

struct StudyRunOptions {
  std::uint64_t days = 1;
  bool until_decided = false;  // go on with more days until every difference in ET is decided
  // Also what no policy can beat on the same days, into this file.
  std::optional<std::string> bounds_path = {};
  RunnerOptions runner;  // its ending is not used
};

struct StudyRun {
  std::uint64_t days = 0;
  std::vector<RunRecord> records = {};
  std::vector<Summary> summaries = {};  // one a setting
  std::vector<RunRecord> bounds = {};   // where they were asked for
  bool cancelled = false;               // then the rest may be missing
};

Result<StudyRun> run_study(const Study& study, const StudyRunOptions& options);

}  // namespace partita::experiment
