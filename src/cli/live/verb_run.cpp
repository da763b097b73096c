#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/live/submission_request.h"
#include "cli/verbs/verbs.h"

namespace partita::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kInterrupted = 130;  // as shells have it
constexpr int kSignalBase = 128;   // and a signal
constexpr int kReachTries = 30;    // of a daemon that answered before
constexpr int kPauseMs = 100;      // between two looks at the output
constexpr int kPauseUnreachableMs = 1'000;

// How often we were asked to stop. A handler, not a descriptor: what waits is to be woken.
volatile std::sig_atomic_t g_interrupts = 0;

void count_interrupt(int) {
  g_interrupts = g_interrupts + 1;
}

// Ctrl-C, a closed terminal and kill reach us instead of ending us, as long as this lives.
class InterruptWatch {
 public:
  InterruptWatch() {
    g_interrupts = 0;
    struct sigaction action {};
    action.sa_handler = count_interrupt;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      ::sigaction(kSignals[i], &action, &before_[i]);
    }
  }
  ~InterruptWatch() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      ::sigaction(kSignals[i], &before_[i], nullptr);
    }
  }
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  int count() const { return g_interrupts; }

 private:
  static constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, 3> before_{};
};

// One job from its submission to its end.
class InteractiveRun {
 public:
  InteractiveRun(const Values& values, Console& console)
      : client_(values), console_(console), json_(values.has_switch("json")) {}

  Outcome run(const Json& body);

 private:
  bool follow(Outcome& outcome);
  bool cancel_if_asked();
  bool show(const DaemonAnswer& answer);
  Outcome end();

  DaemonClient client_;
  Console& console_;
  bool json_;
  InterruptWatch interrupts_;
  std::int64_t job_ = 0;
  std::uint64_t offset_ = 0;
  bool cancelled_ = false;
  std::string output_;
};

// Whether to go on: not after the second wish to stop.
bool InteractiveRun::cancel_if_asked() {
  if (interrupts_.count() == 0) return true;
  if (cancelled_) return interrupts_.count() < 2;
  cancelled_ = true;
  complain(fmt::format("cancelling job {}; Ctrl-C again leaves it to end by itself", job_));
  const DaemonAnswer answer = client_.ask("DELETE", fmt::format("/v1/jobs/{}", job_));
  // 409: it has ended meanwhile, which the output will say.
  if (!answer.good() && answer.status != 409) complain(answer.message);
  return true;
}

// Whether somebody still reads it.
bool InteractiveRun::show(const DaemonAnswer& answer) {
  offset_ += answer.body.size();
  if (json_) {
    output_ += answer.body;
    return true;
  }
  return console_.out.write(answer.body) && console_.out.flush();
}

// Shows what the job writes until it has ended; false: leave with `outcome`.
bool InteractiveRun::follow(Outcome& outcome) {
  int unreachable = 0;
  for (;;) {
    if (!cancel_if_asked()) {
      outcome = kInterrupted;
      return false;
    }
    const DaemonAnswer answer =
        client_.ask("GET", fmt::format("/v1/jobs/{}/output?offset={}", job_, offset_));
    if (answer.status == 0 && ++unreachable <= kReachTries) {  // it is being started anew
      std::this_thread::sleep_for(std::chrono::milliseconds(kPauseUnreachableMs));
      continue;
    }
    if (!answer.good()) {
      outcome = fail(answer);
      return false;
    }
    unreachable = 0;
    if (!show(answer)) {
      outcome = 0;
      return false;
    }
    if (!answer.body.empty()) continue;
    const std::string& state = answer.state_header;
    if (state == "done" || state == "failed" || state == "cancelled" || state == "lost") {
      return true;
    }
    ::usleep(kPauseMs * 1'000);  // ends early when a signal comes, unlike sleep_for
  }
}

Outcome InteractiveRun::end() {
  const DaemonAnswer answer = client_.ask("GET", fmt::format("/v1/jobs/{}", job_));
  if (!answer.good()) return fail(answer);
  const Json job = answer.json();
  const std::string state = job["state"].get<std::string>();
  const Json& attempts = job["attempts"];
  const Json last = attempts.empty() ? Json::object() : attempts.back();
  int status = state == "done" ? 0 : 1;
  if (last.contains("exit_code") && last["exit_code"].is_number()) status = last["exit_code"];
  const bool by_signal = last.contains("signal") && last["signal"].is_number();
  if (by_signal) status = kSignalBase + last["signal"].get<int>();
  if (state == "cancelled") status = kInterrupted;
  if (state != "done" && status == 0) status = 1;
  if (json_) {
    print_json(console_, Json{{"job", job_},
                              {"state", state},
                              {"reason", job["reason"]},
                              {"exit_status", status},
                              {"energy_j_estimated", job["energy_j_estimated"]},
                              {"output", output_}});
  } else if (state != "done") {
    complain(fmt::format("job {} is {}: {}", job_, state, job["reason"].get<std::string>()));
  }
  return status;
}

Outcome InteractiveRun::run(const Json& body) {
  const DaemonAnswer answer = send_submission(client_, body);
  if (!answer.good()) return fail(answer);
  job_ = answer.json()["jobs"][0].get<std::int64_t>();
  complain(fmt::format("job {}", job_));
  Outcome outcome = 0;
  return follow(outcome) ? end() : outcome;
}

}  // namespace

Outcome run_run(const Values& values, Console& console) {
  const Result<Json> body = submission_of(values);
  if (!body) return body.error();
  return InteractiveRun(values, console).run(*body);
}

}  // namespace partita::cli
