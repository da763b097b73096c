#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.h"
#include "base/text.h"
#include "cli/flags/live_values.h"
#include "cli/live/daemon_client.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"

namespace partita::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kPatience = 30;  // tries to reach a daemon that answered before

void pause(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

std::string text_or(const Json& json, const char* name, const char* otherwise) {
  return json.contains(name) && json[name].is_string() ? json[name].get<std::string>() : otherwise;
}

double number_or_zero(const Json& json, const char* name) {
  return json.contains(name) && json[name].is_number() ? json[name].get<double>() : 0;
}

bool is_over(const std::string& state) {
  return state == "done" || state == "failed" || state == "cancelled" || state == "lost";
}

Result<std::vector<std::int64_t>> job_numbers(const Values& values, const char* verb, bool one) {
  if (!values.is_set("JOB")) {
    return Error{fmt::format("the number of a job is missing, as in `partita {} 12`", verb)};
  }
  const auto& numbers = values.as<std::vector<std::int64_t>>("JOB");
  if (one && numbers.size() != 1) return Error{"one job at a time"};
  return numbers;
}

std::string job_path(std::int64_t id) {
  return fmt::format("/v1/jobs/{}", id);
}

std::string joined(const Json& words) {
  std::string text;
  for (const Json& word : words) text += (text.empty() ? "" : " ") + word.get<std::string>();
  return text;
}

std::string attempts_text(const Json& job, bool bold) {
  Table table({{"attempt", Align::kRight},
               {"slice", Align::kLeft},
               {"began", Align::kRight},
               {"ran", Align::kRight},
               {"peak GiB", Align::kRight},
               {"joules*", Align::kRight},
               {"end", Align::kLeft}});
  const double submitted = job["submitted_s"].get<double>();
  const double now = real_clock().now().to_seconds();
  for (const Json& each : job["attempts"]) {
    const double began = each["started_s"].get<double>();
    const bool over = each["ended_s"].is_number();
    table.add({std::to_string(each["number"].get<std::int64_t>()), text_or(each, "slice", "?"),
               "+" + shown_span(began - submitted),
               shown_span((over ? each["ended_s"].get<double>() : now) - began),
               fmt::format("{:.2f}", number_or_zero(each, "peak_gib")),
               fmt::format("{:.0f}", number_or_zero(each, "energy_j_estimated")),
               over ? text_or(each, "reason", "") : "running"});
  }
  return table.text(bold);
}

// What was asked for when it was submitted, a line each; what was not is not named.
std::string wishes_text(const Json& job) {
  std::string text;
  const auto line = [&](const char* what, const std::string& value) {
    text += fmt::format("{:<11} {}\n", what, value);
  };
  if (job["memory_gib"].is_number()) {
    line("memory", fmt::format("{:g} GiB as given", job["memory_gib"].get<double>()));
  }
  if (job["deadline_s"].is_number()) {
    const double deadline = job["deadline_s"].get<double>();
    const double late = is_over(text_or(job, "state", "")) ? number_or_zero(job, "late_s") : 0;
    line("deadline", fmt::format("{} (+{}){}", shown_instant(deadline),
                                 shown_span(deadline - job["submitted_s"].get<double>()),
                                 late > 0 ? ", missed by " + shown_span(late) : ""));
  }
  if (job["time_limit_s"].is_number()) {
    line("time limit", shown_span(job["time_limit_s"].get<double>()));
  }
  std::string times;
  for (const auto& [size, seconds] : job["times_s"].items()) {
    times +=
        fmt::format("{}{}g {}", times.empty() ? "" : ", ", size, shown_span(seconds.get<double>()));
  }
  if (!times.empty()) line("takes", times);
  if (job["directory"].is_string()) line("folder", job["directory"].get<std::string>());
  if (job["output"].is_string()) line("output", job["output"].get<std::string>());
  if (!job["checkpoint"].empty()) line("checkpoint", joined(job["checkpoint"]));
  if (job["array_job"].is_number()) {
    std::string text = fmt::format("index {} of array {}", job["array_index"].get<std::int64_t>(),
                                   job["array_job"].get<std::int64_t>());
    if (job["array_limit"].is_number()) {
      text += fmt::format(", at most {} at once", job["array_limit"].get<std::int64_t>());
    }
    line("array", text);
  }
  if (job["priority"].is_number()) {
    line("priority", std::to_string(job["priority"].get<std::int64_t>()));
  }
  if (job["no_requeue"] == true) line("restarts", "none by itself");
  if (job["no_early_restart"] == true) line("restarts", "not before its memory is out");
  if (!job["after"].empty()) line("after", joined(job["after"]));
  if (job["comment"].is_string()) line("comment", job["comment"].get<std::string>());
  return text;
}

std::string story_text(const Json& job, bool bold) {
  const double submitted = job["submitted_s"].get<double>();
  std::string text =
      fmt::format("job {} {} is {}: {}\nsubmitted {} by {}: {}\n", job["id"].get<std::int64_t>(),
                  text_or(job, "name", ""), text_or(job, "state", ""), text_or(job, "reason", ""),
                  shown_instant(submitted), text_or(job, "user", "?"), joined(job["argv"]));
  text += wishes_text(job);
  text += fmt::format("energy {:.0f} J*\n", number_or_zero(job, "energy_j_estimated"));
  for (const Json& why : job["waits"]) text += "waits: " + why.get<std::string>() + "\n";
  if (!job["attempts"].empty()) text += "\n" + attempts_text(job, bold);
  text += "\n";
  for (const Json& event : job["events"]) {
    text += fmt::format("{:>10}  {:<14} {}\n",
                        "+" + shown_span(event["at_s"].get<double>() - submitted),
                        event["kind"].get<std::string>(), event["text"].get<std::string>());
  }
  return text + "\n* estimated: the board's energy, shared by its busy slices\n";
}

}  // namespace

Outcome run_job(const Values& values, Console& console) {
  const auto numbers = job_numbers(values, "job", true);
  if (!numbers) return numbers.error();
  DaemonClient client(values);
  const DaemonAnswer answer = client.ask("GET", job_path(numbers->front()));
  if (!answer.good()) return fail(answer);
  const Json json = answer.json();
  return print_either(values, console, json, story_text(json, console.bold));
}

Outcome run_logs(const Values& values, Console& console) {
  const auto numbers = job_numbers(values, "logs", true);
  if (!numbers) return numbers.error();
  DaemonClient client(values);
  std::uint64_t offset = 0;
  bool offset_known = false;  // it answered once
  int unreachable = 0;
  std::string all;
  for (;;) {
    const DaemonAnswer answer =
        client.ask("GET", fmt::format("{}/output?offset={}", job_path(numbers->front()), offset));
    // A daemon that is being started anew comes back, and the job goes on meanwhile.
    const bool away = answer.status == 0 && offset_known && values.has_switch("follow");
    if (away && ++unreachable <= kPatience) {
      pause(1'000);
      continue;
    }
    if (!answer.good()) return fail(answer);
    offset_known = true;
    unreachable = 0;
    offset += answer.body.size();
    if (values.has_switch("json")) {
      all += answer.body;
    } else if (!console.out.write(answer.body) || !console.out.flush()) {
      return 0;
    }
    if (!answer.body.empty()) continue;
    if (!values.has_switch("follow") || is_over(answer.state_header)) break;
    pause(200);
  }
  if (values.has_switch("json")) print_json(console, Json{{"output", all}});
  return 0;
}

Outcome run_wait(const Values& values, Console& console) {
  const auto numbers = job_numbers(values, "wait", false);
  if (!numbers) return numbers.error();
  DaemonClient client(values);
  Json ended = Json::array();
  bool all_done = true;
  for (const std::int64_t id : *numbers) {
    int unreachable = 0;
    for (int wait = 50;; wait = std::min(wait * 2, 1'000)) {
      const DaemonAnswer answer = client.ask("GET", job_path(id));
      // A daemon that is being started anew comes back.
      if (answer.status == 0 && ++unreachable > kPatience) return fail(answer);
      if (answer.status != 0 && !answer.good()) return fail(answer);
      if (answer.good()) {
        unreachable = 0;
        const Json job = answer.json();
        const std::string state = job["state"].get<std::string>();
        if (is_over(state)) {
          all_done = all_done && state == "done";
          if (state != "done" && !values.has_switch("json")) {
            console.out.write(
                fmt::format("job {} {}: {}\n", id, state, text_or(job, "reason", "")));
          }
          ended.push_back({{"id", id}, {"state", state}, {"reason", job["reason"]}});
          break;
        }
      }
      pause(wait);
    }
  }
  if (values.has_switch("json")) print_json(console, Json{{"jobs", ended}});
  return all_done ? 0 : 1;
}

}  // namespace partita::cli
