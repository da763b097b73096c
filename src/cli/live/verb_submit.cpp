#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.h"
#include "base/rng.h"
#include "cli/flags/live_values.h"
#include "cli/live/daemon_client.h"
#include "cli/verbs/verbs.h"

#include <unistd.h>

namespace partita::cli {
namespace {

using Json = nlohmann::ordered_json;

// Sent again when the answer is lost, and known by it then.
std::string fresh_key() {
  Rng rng(static_cast<std::uint64_t>(real_clock().now().count),
          static_cast<std::uint64_t>(::getpid()));
  return fmt::format("{:016x}{:016x}", rng.next(), rng.next());
}

Result<Json> body_of(const Values& values) {
  if (values.command.empty()) {
    return Error{"there is no program to run; it stands after --, as in submit -- ./train --fast"};
  }
  Json body;
  body["argv"] = values.command;
  std::error_code gone;
  body["directory"] = std::filesystem::current_path(gone).string();
  if (gone) return Error{"the folder this is called from, and the job would run in, is gone"};
  if (values.is_set("job-name")) body["name"] = values.text("job-name");
  const auto& memory = values.as<std::optional<double>>("mem");
  if (memory) body["memory_gib"] = *memory;
  if (values.is_set("job-deadline")) {
    const Micros now = real_clock().now();
    const Micros deadline = values.as<Deadline>("job-deadline").at(now);
    if (deadline <= now) {
      return values.wrong("job-deadline",
                          Error{fmt::format("{} has passed; it is {}", values.text("job-deadline"),
                                            shown_instant(now.to_seconds()))});
    }
    body["deadline_s"] = deadline.to_seconds();
  }
  if (values.is_set("time")) {
    for (const auto& [size, time] : values.as<SliceTimes>("time")) {
      body["times_s"][std::to_string(size)] = time.to_seconds();
    }
  }
  if (values.is_set("job-time-limit")) {
    body["time_limit_s"] = values.as<Micros>("job-time-limit").to_seconds();
  }
  if (values.is_set("env")) {
    body["env"] = values.as<std::vector<std::string>>("env");
  }
  if (values.is_set("job-checkpoint")) {
    body["checkpoint"] = values.as<std::vector<std::string>>("job-checkpoint");
  }
  if (values.is_set("after")) body["after"] = values.as<std::vector<std::string>>("after");
  if (values.is_set("priority")) body["priority"] = values.as<std::int64_t>("priority");
  if (values.has_switch("hold")) body["hold"] = true;
  if (values.has_switch("no-requeue")) body["no_requeue"] = true;
  if (values.has_switch("job-no-early-restart")) body["no_early_restart"] = true;
  if (values.is_set("comment")) body["comment"] = values.text("comment");
  const auto& array = values.as<ArrayShape>("array");
  body["array"] = array.jobs;
  if (array.limit) body["array_limit"] = *array.limit;
  body["key"] = fresh_key();
  return body;
}

}  // namespace

Outcome run_submit(const Values& values, Console& console) {
  const Result<Json> body = body_of(values);
  if (!body) return body.error();
  DaemonClient client(values);
  // Bytes that are no text would be changed on the way; the program would see others.
  const std::string text = body->dump(-1, ' ', false, Json::error_handler_t::ignore);
  if (text != body->dump(-1, ' ', false, Json::error_handler_t::replace)) {
    return Error{"the command, its folder or its environment is not all UTF-8"};
  }
  DaemonAnswer answer = client.ask("POST", "/v1/jobs", text);
  // It may have been taken before the daemon went away; the key makes asking again harmless.
  constexpr int kTries = 5;
  for (int i = 0;
       i < kTries && answer.status == 0 && answer.message.find("went away") != std::string::npos;
       ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    answer = client.ask("POST", "/v1/jobs", text);
  }
  if (!answer.good()) return fail(answer);
  const Json json = answer.json();
  if (values.has_switch("json")) {
    print_json(console, json);
    return 0;
  }
  for (const auto& id : json["jobs"])
    console.out.write(fmt::format("{}\n", id.get<std::int64_t>()));
  return 0;
}

}  // namespace partita::cli
