#include "daemon/policy_pair.h"

#include <fmt/format.h>

#include <filesystem>

#include "policies/registry.h"
#include "sim/view_rollout.h"

namespace partita::daemon {

namespace {

// Where SCHEDULER ends. The name of a model may have slashes of its own, and so may the rule's: the
// first one behind which a scheduler can be made is meant.
std::size_t split_of(const std::string& policy, std::uint64_t seed) {
  const auto first = policy.find('/');
  if (!policy.starts_with("learned:")) return first;
  for (auto at = first; at != std::string::npos; at = policy.find('/', at + 1)) {
    if (policies::make_scheduler(policy.substr(0, at), seed).ok()) return at;
  }
  return policy.rfind('/');  // the sentence then names the file
}

std::string with_absolute_file(const std::string& name) {
  for (const std::string prefix : {"learned:", "timetable:@"}) {
    if (!name.starts_with(prefix)) continue;
    return prefix + std::filesystem::absolute(name.substr(prefix.size())).string();
  }
  return name;
}

// What a rule that looks ahead may simulate at a turn where it does not say: jobs are submitted
// meanwhile, and wait.
constexpr const char* kLiveBudget = "budget_us=5000";

std::string with_live_budget(const std::string& rule) {
  const std::string name = rule.substr(0, rule.find(':'));
  if (name != "lookahead" || rule.find("budget_us=") != std::string::npos) return rule;
  if (rule == name) return rule + ":" + kLiveBudget;
  return rule + (rule.ends_with(':') ? "" : ",") + kLiveBudget;
}

}  // namespace

std::string with_absolute_files(const std::string& policy, std::uint64_t seed) {
  const auto slash = split_of(policy, seed);
  if (slash == std::string::npos) return policy;
  return with_absolute_file(policy.substr(0, slash)) + "/" +
         with_absolute_file(policy.substr(slash + 1));
}

Result<control::PolicyPair> make_policies(const control::Beginning& beginning) {
  const auto slash = split_of(beginning.policy, beginning.seed);
  if (slash == std::string::npos) {
    return Error{
        fmt::format("the policy '{}' is not SCHEDULER/REPARTITIONER, for example "
                    "fifo+tightest/migm-b",
                    beginning.policy)};
  }
  const std::string rule = beginning.policy.substr(slash + 1);
  const auto scheduler = [&] {
    return policies::make_scheduler(beginning.policy.substr(0, slash), beginning.seed);
  };
  auto runs = scheduler();
  if (!runs) return runs.error();
  auto repartitioner = policies::make_repartitioner(
      with_live_budget(rule), beginning.model, static_cast<std::uint32_t>(beginning.gpus.size()));
  if (!repartitioner) return repartitioner.error();
  control::PolicyPair pair{*std::move(runs), *std::move(repartitioner)};
  if (!pair.repartitioner->needs_forecasts()) return pair;
  auto foresees = scheduler();
  if (!foresees) return foresees.error();
  pair.forecaster = std::make_unique<sim::ViewRollout>(*std::move(foresees));
  return pair;
}

std::string doubt_about(const std::string& policy) {
  const auto slash = policy.find('/');
  const std::string scheduler = policy.substr(0, slash);
  const std::string rule = slash == std::string::npos ? "" : policy.substr(slash + 1);
  const bool exact = scheduler.ends_with("+tightest") || scheduler.ends_with("+requested");
  const bool moves_on = policies::layout_habit(rule) == policies::LayoutHabit::kPlanned;
  if (!exact || !moves_on) return {};
  return fmt::format(
      "{} waits for exactly its profile, which {} may not make for long; other placements take any "
      "slice that fits",
      scheduler, rule);
}

}  // namespace partita::daemon
