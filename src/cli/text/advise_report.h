// How advice is told: as text, as JSON (docs/guides/advice.md) and as a page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/flags/values.h"
#include "experiment/tuning/advise.h"

namespace partita::cli {

// The two commands to copy: one that tries the advice on the jobs, one that runs it.
struct AdviceCommands {
  std::string simulate;
  std::string serve;
};
// `repartition` is that of the policy, written as it is to be shown.
AdviceCommands advice_commands(const Values& values, const experiment::AdvisedPolicy& policy,
                               const std::string& repartition);

nlohmann::ordered_json advice_json(const Values& values, const experiment::Advice& advice);
std::string advice_text(const Values& values, const experiment::Advice& advice, bool bold);

// The page of all runs on the windows that were kept back. Needs a program with a page.
Result<std::string> advice_page(const Values& values, const experiment::Advice& advice);

}  // namespace partita::cli
