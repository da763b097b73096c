// What `submit` and `run` send: a job from the values of the command line and of a batch script.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "cli/flags/values.h"
#include "cli/live/daemon_client.h"

namespace partita::cli {

// The body of POST /v1/jobs.
Result<nlohmann::ordered_json> submission_of(const Values& values);

// Sends it, again where the daemon went away before it answered: the key makes that harmless.
DaemonAnswer send_submission(DaemonClient& client, const nlohmann::ordered_json& body);

}  // namespace partita::cli
