#include "daemon/policy_pair.h"

#include <fmt/format.h>

#include "policies/registry.h"

namespace partita::daemon {

Result<control::PolicyPair> make_policies(const control::Beginning& beginning) {
  const auto slash = beginning.policy.find('/');
  if (slash == std::string::npos) {
    return Error{
        fmt::format("the policy '{}' is not SCHEDULER/RULE, for example "
                    "fifo+tightest/migm-b",
                    beginning.policy)};
  }
  const std::string rule = beginning.policy.substr(slash + 1);
  if (rule.starts_with("lookahead")) {
    return Error{"lookahead needs a forecast, which only the simulator gives; choose another rule"};
  }
  auto scheduler = policies::make_scheduler(beginning.policy.substr(0, slash), beginning.seed);
  if (!scheduler) return scheduler.error();
  auto repartitioner = policies::make_repartitioner(
      rule, beginning.model, static_cast<std::uint32_t>(beginning.gpus.size()));
  if (!repartitioner) return repartitioner.error();
  return control::PolicyPair{*std::move(scheduler), *std::move(repartitioner)};
}

}  // namespace partita::daemon
