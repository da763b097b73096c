#include "daemon/policy_pair.h"

#include <fmt/format.h>
#include <pwd.h>

#include <filesystem>

#include "base/check.h"
#include "base/text.h"
#include "policies/registry.h"
#include "sim/view_rollout.h"

namespace partita::daemon {

namespace {

// Where SCHEDULER ends. The name of a model may have slashes of its own, and so may the rule's: the
// first one behind which a scheduler can be made is meant.
std::size_t split_of(const std::string& policy, std::uint64_t seed) {
  const auto first = policy.find('/');
  if (policies::scheduler_file_at(policy) == std::string::npos) return first;
  for (auto at = first; at != std::string::npos; at = policy.find('/', at + 1)) {
    if (policies::make_scheduler(policy.substr(0, at), seed).ok()) return at;
  }
  return policy.rfind('/');  // the sentence then names the file
}

std::string with_absolute_file(const std::string& name, std::size_t file_at) {
  if (file_at == std::string::npos) return name;
  return name.substr(0, file_at) + std::filesystem::absolute(name.substr(file_at)).string();
}

// What a rule that looks ahead may simulate at a turn where it does not say: jobs are submitted
// meanwhile, and wait.
constexpr Micros kLiveBudget{5'000};

std::string with_live_budget(const std::string& rule) {
  const policies::RepartitionerTraits& traits = policies::repartitioner_traits(rule);
  const std::string key = traits.budget_key + "=";
  if (!traits.looks_ahead() || rule.find(key) != std::string::npos) return rule;
  const bool bare = rule.find(':') == std::string::npos;
  return fmt::format("{}{}{}{}", rule,
                     bare                  ? ":"
                     : rule.ends_with(':') ? ""
                                           : ",",
                     key, kLiveBudget.count);
}

}  // namespace

std::string with_absolute_files(const std::string& policy, std::uint64_t seed) {
  const auto slash = split_of(policy, seed);
  if (slash == std::string::npos) return policy;
  const std::string scheduler = policy.substr(0, slash);
  const std::string rule = policy.substr(slash + 1);
  return with_absolute_file(scheduler, policies::scheduler_file_at(scheduler)) + "/" +
         with_absolute_file(rule, policies::repartitioner_file_at(rule));
}

Result<control::Policies> make_policies(const control::Beginning& beginning) {
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
  control::Policies pair{*std::move(runs), *std::move(repartitioner), nullptr};
  if (beginning.options.queue.fair()) {
    pair.make_scheduler = [name = beginning.policy.substr(0, slash), seed = beginning.seed] {
      auto made = policies::make_scheduler(name, seed);
      CHECK(made.ok());  // it could be made just before
      return *std::move(made);
    };
  }
  if (!pair.repartitioner->needs_forecasts()) return pair;
  auto foresees = scheduler();
  if (!foresees) return foresees.error();
  pair.forecaster = std::make_unique<sim::ViewRollout>(*std::move(foresees));
  return pair;
}

Result<decide::QueueRules> with_uids(decide::QueueRules rules) {
  for (auto& [user, weight] : rules.weights) {
    if (parse_int(user)) continue;
    const passwd* account = ::getpwnam(user.c_str());
    if (account == nullptr) {
      return Error{fmt::format("--shares: this machine has no user '{}'", user)};
    }
    user = std::to_string(account->pw_uid);
  }
  return rules;
}

std::string doubt_about(const std::string& policy) {
  const auto slash = policy.find('/');
  const std::string scheduler = policy.substr(0, slash);
  const std::string rule = slash == std::string::npos ? "" : policy.substr(slash + 1);
  const bool moves_on =
      policies::repartitioner_traits(rule).habit == policies::LayoutHabit::kPlanned;
  if (!moves_on || !policies::waits_for_one_profile(scheduler)) return {};
  return fmt::format(
      "{} waits for exactly its profile, which {} may not make for long; other placements take any "
      "slice that fits",
      scheduler, rule);
}

}  // namespace partita::daemon
