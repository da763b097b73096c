// Judging claims: a source's figure beside ours, and whether it was reproduced.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "experiment/results/run_record.h"
#include "experiment/statistics/statistics.h"
#include "experiment/study.h"

namespace partita::experiment {

enum class ClaimVerdict : std::uint8_t {
  kReproduced,  // the published figure lies in our interval widened by the tolerance
  kNotReproduced,
  kTooFewDays,     // it does, but our interval is so wide that this says little
  kNotComparable,  // something it depends on was not published, or is not in our model
};

struct JudgedClaim {
  const Claim* claim = nullptr;
  double ours = 0;
  std::optional<Interval> interval;
  ClaimVerdict verdict = ClaimVerdict::kNotReproduced;
};

// Claims about bounds (records of the policy kBoundName) are left out where there are none.
std::vector<JudgedClaim> judge_claims(const Study& study, std::span<const RunRecord> records,
                                      std::span<const RunRecord> bounds = {});

}  // namespace partita::experiment
