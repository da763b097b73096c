#include "experiment/results/claims.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace partita::experiment {
namespace {

// An interval that reaches further than this from its middle, as a share of the published figure,
// says too little to speak of reproduction.
constexpr double kWideShare = 0.15;

bool is_gain(const Claim& claim) {
  return claim.kind == Claim::Kind::kEtGainPercent || claim.kind == Claim::Kind::kLateGainPercent;
}

bool is_ratio(const Claim& claim) {
  return claim.kind == Claim::Kind::kThroughputRatio || claim.kind == Claim::Kind::kEnergyRatio;
}

bool is_over_bound(const Claim& claim) {
  return claim.kind == Claim::Kind::kEnergyOverBoundPercent ||
         claim.kind == Claim::Kind::kTardinessOverBoundPercent;
}

bool is_points(const Claim& claim) {
  return is_gain(claim) || is_over_bound(claim) || claim.kind == Claim::Kind::kLayoutPercent;
}

bool needs_bounds(const Claim& claim) {
  return is_over_bound(claim) || claim.policy == kBoundName;
}

// The share of the layouts "8+9" in "1=0.25,9=0.75".
double share_of(const std::string& shares, std::string_view layouts) {
  double sum = 0;
  for (const std::string_view share : split(shares, ',')) {
    const auto parts = split(share, '=');
    if (parts.size() != 2) continue;
    for (const std::string_view layout : split(layouts, '+')) {
      if (layout == parts[0]) sum += parse_double(parts[1]).value_or(0);
    }
  }
  return sum;
}

double figure_of(const RunRecord& record, const Claim& claim) {
  switch (claim.kind) {
    case Claim::Kind::kTardinessMin:
      return record.mean_tardiness_s / 60;
    case Claim::Kind::kEnergyMWMin:
      return record.energy_w_min / 1e6;
    case Claim::Kind::kLatePercent:
    case Claim::Kind::kLateGainPercent:
      return 100 * record.late_share;
    case Claim::Kind::kEtGainPercent:
      return record.et;
    case Claim::Kind::kLayoutPercent:
      return 100 * share_of(record.layout_shares, claim.other);
    case Claim::Kind::kThroughputRatio:
      return record.makespan_s;
    case Claim::Kind::kEnergyRatio:
    case Claim::Kind::kEnergyOverBoundPercent:
      return record.energy_j;
    case Claim::Kind::kTardinessOverBoundPercent:
      return record.mean_tardiness_s;
  }
  CHECK(false);
}

std::vector<double> values_of(std::span<const RunRecord> records, const Claim& claim,
                              const std::string& policy) {
  std::vector<double> values;
  for (const RunRecord& record : records) {
    if (record.setting != claim.setting || record.policy != policy) continue;
    values.push_back(figure_of(record, claim));
  }
  return values;
}

// How much more than the reference, as `shown` makes the claim's figure of a share.
JudgedClaim judge_share(const Claim& claim, std::span<const double> values,
                        std::span<const double> reference, double (*shown)(double share)) {
  JudgedClaim judged{&claim, 0, {}, ClaimVerdict::kNotReproduced};
  if (values.empty() || values.size() != reference.size()) return judged;
  const auto more = relative_difference(values, reference);
  if (!more) return judged;
  judged.ours = shown(more->share);
  if (more->interval) {
    const auto [low, high] = std::minmax({shown(more->interval->low), shown(more->interval->high)});
    judged.interval = Interval{low, high};
  }
  return judged;
}

JudgedClaim judge_gain(const Claim& claim, std::span<const RunRecord> records) {
  return judge_share(claim, values_of(records, claim, claim.policy),
                     values_of(records, claim, claim.other),
                     [](double share) { return -100 * share; });
}

JudgedClaim judge_ratio(const Claim& claim, std::span<const RunRecord> records) {
  return judge_share(claim, values_of(records, claim, claim.other),
                     values_of(records, claim, claim.policy),
                     [](double share) { return 1 + share; });
}

JudgedClaim judge_over_bound(const Claim& claim, std::span<const RunRecord> records,
                             std::span<const RunRecord> bounds) {
  return judge_share(claim, values_of(records, claim, claim.policy),
                     values_of(bounds, claim, std::string(kBoundName)),
                     [](double share) { return 100 * share; });
}

JudgedClaim judge_mean(const Claim& claim, std::span<const RunRecord> records) {
  const std::vector<double> values = values_of(records, claim, claim.policy);
  JudgedClaim judged{&claim, 0, {}, ClaimVerdict::kNotReproduced};
  if (values.empty()) return judged;
  judged.ours = mean(values);
  judged.interval = t_interval(values);
  return judged;
}

}  // namespace

std::vector<JudgedClaim> judge_claims(const Study& study, std::span<const RunRecord> records,
                                      std::span<const RunRecord> bounds) {
  std::vector<JudgedClaim> judged;
  for (const Claim& claim : study.claims) {
    if (needs_bounds(claim) && bounds.empty()) continue;
    JudgedClaim each = is_ratio(claim)  ? judge_ratio(claim, records)
                       : is_gain(claim) ? judge_gain(claim, records)
                       : is_over_bound(claim)
                           ? judge_over_bound(claim, records, bounds)
                           : judge_mean(claim, needs_bounds(claim) ? bounds : records);
    const double slack = is_points(claim) ? claim.tolerance : claim.tolerance * claim.published;
    const Interval ours = each.interval.value_or(Interval{each.ours, each.ours});
    const bool near = claim.published >= ours.low - slack && claim.published <= ours.high + slack;
    const bool wide = (ours.high - ours.low) / 2 > kWideShare * claim.published + slack;
    each.verdict = !claim.comparable ? ClaimVerdict::kNotComparable
                   : !near           ? ClaimVerdict::kNotReproduced
                   : wide            ? ClaimVerdict::kTooFewDays
                                     : ClaimVerdict::kReproduced;
    judged.push_back(std::move(each));
  }
  return judged;
}

}  // namespace partita::experiment
