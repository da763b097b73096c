#include "live/life.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace partita::live_test {
namespace {

bool is_over(const std::string& state) {
  return state == "done" || state == "failed" || state == "cancelled" || state == "lost";
}

}  // namespace

void Life::submit(const std::string& key, double seconds, std::optional<double> memory_gib) {
  {
    const std::lock_guard lock(mutex_);
    unanswered_[key] = {seconds, memory_gib};
  }
  const cli::DaemonAnswer answer =
      daemon_.ask("POST", "/v1/jobs",
                  submission({job_program(), notes_, fmt::format("{}", seconds)}, key, memory_gib));
  if (!answer.good()) return;
  const std::lock_guard lock(mutex_);
  accepted_[answer.json()["jobs"][0].get<std::int64_t>()] = key;
  unanswered_.erase(key);
}

void Life::submit_unanswered_again() {
  std::map<std::string, Wish> again;
  {
    const std::lock_guard lock(mutex_);
    again = unanswered_;
  }
  for (const auto& [key, wish] : again) submit(key, wish.seconds, wish.memory_gib);
}

void Life::cancel_some() {
  std::vector<std::int64_t> ids;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, key] : accepted_) {
      if (id % 7 == 0) ids.push_back(id);
    }
    cancelled_.insert(ids.begin(), ids.end());
  }
  for (const std::int64_t id : ids) daemon_.ask("DELETE", fmt::format("/v1/jobs/{}", id));
}

void Life::cancel(const std::string& key) {
  for (const auto& [id, its_key] : accepted_) {
    if (its_key != key) continue;
    cancelled_.insert(id);
    daemon_.ask("DELETE", fmt::format("/v1/jobs/{}", id));
  }
}

std::optional<std::string> Life::settle(double seconds) {
  const auto begun = std::chrono::steady_clock::now();
  for (;;) {
    const auto status = daemon_.get("/v1/status");
    if (status.is_object()) {
      int open = 0;
      for (const auto& [state, count] : status["jobs"].items()) {
        if (!is_over(state)) open += count.get<int>();
      }
      if (open == 0) return {};
    }
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begun;
    if (waited.count() > seconds) {
      return "jobs are left: " + daemon_.get("/v1/jobs?state=active").dump();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

std::optional<std::string> Life::check(bool reruns) {
  std::map<std::string, int> begins;
  std::map<std::int64_t, int> ends;
  std::ifstream in(notes_);
  std::string what;
  std::string attempt;
  std::string slice;
  while (in >> what >> attempt >> slice) {
    if (what == "begin" && ++begins[attempt] > 1) return attempt + " began twice";
    if (what == "end") ++ends[std::stoll(attempt)];
  }
  std::map<std::string, std::int64_t> keys;
  for (const auto& [id, key] : accepted_) {
    if (!keys.emplace(key, id).second) return "the key " + key + " has two jobs";
    const auto job = daemon_.get(fmt::format("/v1/jobs/{}", id));
    if (!job.is_object()) return fmt::format("job {} is lost", id);
    const std::string state = job["state"].get<std::string>();
    const bool cancelled = cancelled_.contains(id);
    if (state != "done" && !(cancelled && state == "cancelled")) {
      return fmt::format("job {} is {}: {}", id, state, job.dump());
    }
    if (state == "done" && (ends[id] < 1 || (ends[id] > 1 && !reruns))) {
      return fmt::format("job {} is done and ended {} times", id, ends[id]);
    }
  }
  // One slice cannot have two owners nor be without one, and nothing is left to be watched.
  const auto gpus = daemon_.get("/v1/gpus")["gpus"];
  for (const auto& gpu : gpus) {
    for (const auto& each : gpu["slices"]) {
      if (each["holder"] != "partita") return "a slice leaked: " + each.dump();
      if (each["state"] == "busy") return "a slice is busy without a job: " + each.dump();
    }
  }
  for (int i = 0; i < 100; ++i) {  // the last supervisors may still be on their way out
    const auto run = std::filesystem::path(daemon_.folder()) / "state" / "run";
    if (std::filesystem::is_empty(run)) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return {};
}

}  // namespace partita::live_test
