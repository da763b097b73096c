// The schedulers that ask a trained network, from their model files.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "decide/policy_facts.h"
#include "decide/scheduler.h"

namespace partita::policies {

// Errors name the file and say what is wrong with it.
Result<std::unique_ptr<decide::Scheduler>> load_learned_scheduler(const std::string& path);
// What the scheduler of the file needs. `name` is what the user calls it.
Result<decide::PolicyFacts> learned_scheduler_facts(const std::string& name,
                                                    const std::string& path);

}  // namespace partita::policies
