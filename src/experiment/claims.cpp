#include "experiment/claims.h"

namespace partita::experiment {
namespace {

// An interval that reaches further than this from its middle, as a share of the published figure,
// says too little to speak of reproduction.
constexpr double kWideShare = 0.15;

std::vector<double> values_of(std::span<const RunRecord> records, const std::string& setting,
                              const std::string& policy, Claim::Kind kind) {
  std::vector<double> values;
  for (const RunRecord& record : records) {
    if (record.setting != setting || record.policy != policy) continue;
    switch (kind) {
      case Claim::Kind::kTardinessMin:
        values.push_back(record.mean_tardiness_s / 60);
        break;
      case Claim::Kind::kEnergyMWMin:
        values.push_back(record.energy_w_min / 1e6);
        break;
      case Claim::Kind::kLatePercent:
        values.push_back(100 * record.late_share);
        break;
      case Claim::Kind::kEtGainPercent:
        values.push_back(record.et);
        break;
    }
  }
  return values;
}

JudgedClaim judge_gain(const Claim& claim, std::span<const RunRecord> records) {
  const std::vector<double> policy = values_of(records, claim.setting, claim.policy, claim.kind);
  const std::vector<double> other = values_of(records, claim.setting, claim.other, claim.kind);
  JudgedClaim judged{&claim, 0, {}, ClaimVerdict::kNotReproduced};
  if (policy.empty() || policy.size() != other.size()) return judged;
  const auto change = relative_difference(policy, other);
  if (!change) return judged;
  judged.ours = -100 * change->share;
  if (change->interval) {
    judged.interval = Interval{-100 * change->interval->high, -100 * change->interval->low};
  }
  return judged;
}

JudgedClaim judge_mean(const Claim& claim, std::span<const RunRecord> records) {
  const std::vector<double> values = values_of(records, claim.setting, claim.policy, claim.kind);
  JudgedClaim judged{&claim, 0, {}, ClaimVerdict::kNotReproduced};
  if (values.empty()) return judged;
  judged.ours = mean(values);
  judged.interval = t_interval(values);
  return judged;
}

}  // namespace

std::vector<JudgedClaim> judge_claims(const Study& study, std::span<const RunRecord> records) {
  std::vector<JudgedClaim> judged;
  for (const Claim& claim : study.claims) {
    const bool gain = claim.kind == Claim::Kind::kEtGainPercent;
    JudgedClaim each = gain ? judge_gain(claim, records) : judge_mean(claim, records);
    const double slack = gain ? claim.tolerance : claim.tolerance * claim.published;
    const Interval ours = each.interval.value_or(Interval{each.ours, each.ours});
    const bool near = claim.published >= ours.low - slack && claim.published <= ours.high + slack;
    const bool wide = (ours.high - ours.low) / 2 > kWideShare * claim.published;
    each.verdict = !near  ? ClaimVerdict::kNotReproduced
                   : wide ? ClaimVerdict::kTooFewDays
                          : ClaimVerdict::kReproduced;
    judged.push_back(std::move(each));
  }
  return judged;
}

}  // namespace partita::experiment
