#include "experiment/tuning/plan_scores.h"

#include <cmath>
#include <limits>
#include <set>

#include "base/check.h"
#include "base/parallel.h"
#include "experiment/policy_run.h"
#include "policies/registry.h"

namespace partita::experiment {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Result<double> PlanScores::run(std::size_t window, decide::Repartitioner& repartitioner) const {
  const auto run = run_policy(windows_[window], setting_.run,
                              {setting_.scheduler, "", setting_.seed}, repartitioner);
  if (!run) return run.error();
  return run->result.et;
}

void PlanScores::simulate(const std::vector<Pair>& pairs) {
  struct Missing {
    const MixPlan* plan;
    std::size_t window;
    double* et;
    std::string reason;
  };
  std::vector<Missing> missing;
  std::set<const double*> asked;
  for (const Pair& pair : pairs) {
    auto [known, is_new] = known_.try_emplace(pair.plan);
    if (is_new) known->second.assign(windows_.size(), kUnknown);
    double* const et = &known->second.at(pair.window);
    if (std::isnan(*et) && asked.insert(et).second)
      missing.push_back({&known->first, pair.window, et, {}});
  }
  for_each_index(missing.size(), threads_, [&](std::size_t i, std::size_t) {
    Missing& each = missing[i];
    const auto repartitioner = repartitioner_of(*each.plan, *setting_.run.model);
    const Result<double> et = run(each.window, *repartitioner);
    *each.et = et ? *et : kCannotRun;
    if (!et) each.reason = et.error().message;
  });
  runs_ += missing.size();
  for (const Missing& each : missing) {
    if (reason_.empty()) reason_ = each.reason;
  }
}

double PlanScores::et(const MixPlan& plan, std::size_t window) const {
  const double et = known_.at(plan).at(window);
  CHECK(!std::isnan(et));
  return et;
}

std::vector<double> PlanScores::all(const MixPlan& plan, std::span<const std::size_t> windows) {
  std::vector<Pair> pairs;
  for (const std::size_t window : windows) pairs.push_back({plan, window});
  simulate(pairs);
  std::vector<double> ets;
  for (const std::size_t window : windows) ets.push_back(et(plan, window));
  return ets;
}

Result<std::vector<double>> PlanScores::of_text(const std::string& repartition) {
  std::vector<double> ets(windows_.size());
  std::vector<std::string> reasons(windows_.size());
  for_each_index(windows_.size(), threads_, [&](std::size_t window, std::size_t) {
    const auto repartitioner =
        policies::make_repartitioner(repartition, *setting_.run.model, setting_.run.gpus);
    const Result<double> et =
        repartitioner ? run(window, **repartitioner) : Result<double>(repartitioner.error());
    ets[window] = et ? *et : kCannotRun;
    if (!et) reasons[window] = et.error().message;
  });
  runs_ += windows_.size();
  for (const std::string& reason : reasons) {
    if (!reason.empty()) return Error{reason};
  }
  return ets;
}

}  // namespace partita::experiment
