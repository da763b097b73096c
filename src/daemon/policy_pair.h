// The policies of a daemon by name: those of the simulator, and what answers their questions.
#pragma once

#include <string>

#include "control/journal/journal_replay.h"

namespace partita::daemon {

Result<control::Policies> make_policies(const control::Beginning& beginning);

// With the files it names by their absolute paths: whoever reads the name later, a replay above
// all, stands in another folder.
std::string with_absolute_files(const std::string& policy, std::uint64_t seed);

// Users are named on a command line; the controller knows them by uid.
Result<decide::QueueRules> with_uids(decide::QueueRules rules);

// What an operator may not have meant by a policy; empty: nothing.
std::string doubt_about(const std::string& policy);

}  // namespace partita::daemon
