// Verbs that change what jobs and GPUs may do: hold, release, requeue, drain, resume.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <nlohmann/json.hpp>

#include "base/parallel.h"
#include "cli/live/daemon_client.h"
#include "cli/verbs/verbs.h"

namespace partita::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kCallsAtOnce = 32;  // each waits for a commit, and those together share one

// POST /v1/jobs/JOB/WHAT for each of the jobs. With --json the numbers of those for which it was
// done stand under `done`.
Outcome steer_jobs(const Values& values, Console& console, const std::string& what,
                   const char* done) {
  if (!values.is_set("JOB")) {
    return Error{"the number of a job is missing, as in `partita " + what + " 12`"};
  }
  const auto& numbers = values.as<std::vector<std::int64_t>>("JOB");
  std::vector<DaemonAnswer> answers(numbers.size());
  std::atomic<bool> away = false;
  std::deque<DaemonClient> clients;  // one a worker
  for (std::size_t i = 0; i < std::min(kCallsAtOnce, numbers.size()); ++i) {
    clients.emplace_back(values);
  }
  const auto ask = [&](std::size_t i, std::size_t worker) {
    answers[i] = clients[worker].ask("POST", "/v1/jobs/" + std::to_string(numbers[i]) + "/" + what);
    if (answers[i].status == 0) away = true;
  };
  for_each_index(numbers.size(), kCallsAtOnce, ask, [&] { return away.load(); });
  int worst = 0;
  Json good = Json::array();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].good()) {
      good.push_back(numbers[i]);
    } else if (answers[i].status != 0) {
      worst = std::max(worst, fail(answers[i]));
    }
  }
  const auto unanswered = std::ranges::find(answers, 0, &DaemonAnswer::status);
  if (away && unanswered != answers.end()) return fail(*unanswered);
  if (values.has_switch("json")) print_json(console, Json{{done, good}});
  return worst;
}

Outcome steer_gpu(const Values& values, Console& console, const std::string& what,
                  const char* done) {
  if (!values.is_set("GPU")) {
    return Error{"the number of a GPU is missing, as in `partita " + what + " 0`"};
  }
  DaemonClient client(values);
  std::string path = fmt::format("/v1/gpus/{}/{}", values.count("GPU"), what);
  if (what == "drain" && values.is_set("reason"))
    path += "?reason=" + in_query(values.text("reason"));
  const DaemonAnswer answer = client.ask("POST", path);
  if (!answer.good()) return fail(answer);
  if (values.has_switch("json")) print_json(console, Json{{done, values.count("GPU")}});
  return 0;
}

}  // namespace

Outcome run_drain(const Values& values, Console& console) {
  return steer_gpu(values, console, "drain", "drained");
}

Outcome run_resume(const Values& values, Console& console) {
  return steer_gpu(values, console, "resume", "resumed");
}

Outcome run_hold(const Values& values, Console& console) {
  return steer_jobs(values, console, "hold", "held");
}

Outcome run_release(const Values& values, Console& console) {
  return steer_jobs(values, console, "release", "released");
}

Outcome run_requeue(const Values& values, Console& console) {
  return steer_jobs(values, console, "requeue", "requeued");
}

}  // namespace partita::cli
