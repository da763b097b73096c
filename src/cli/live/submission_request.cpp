#include "cli/live/submission_request.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.h"
#include "base/rng.h"
#include "base/whole_file.h"
#include "cli/flags/batch_script.h"
#include "cli/flags/live_values.h"
#include "cli/output/console.h"

namespace partita::cli {
namespace {

using Json = nlohmann::ordered_json;

// Sent again when the answer is lost, and known by it then.
std::string fresh_key() {
  Rng rng(static_cast<std::uint64_t>(real_clock().now().count),
          static_cast<std::uint64_t>(::getpid()));
  return fmt::format("{:016x}{:016x}", rng.next(), rng.next());
}

constexpr std::size_t kScriptBytesMax = 65536;

std::vector<std::string> caller_environment() {
  std::vector<std::string> variables;
  for (char** each = ::environ; each != nullptr && *each != nullptr; ++each) {
    variables.emplace_back(*each);
  }
  return variables;
}

// Absolute, wherever the daemon runs. The folder need not exist here: the job finds out.
Result<std::string> directory_of(const Values& values) {
  std::error_code gone;
  const std::filesystem::path here = std::filesystem::current_path(gone);
  const std::filesystem::path wanted = values.is_set("chdir") ? values.text("chdir") : "";
  if (gone && !wanted.is_absolute()) {
    return Error{"the folder this is called from, and the job would run in, is gone"};
  }
  return wanted.empty() ? here.string() : (here / wanted).lexically_normal().string();
}

// What says when: deadline, run times, limit.
Status add_times(const Values& values, Json& body) {
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
  return {};
}

// Variables that --export takes along, under those of --env.
std::vector<std::string> environment_of(const Values& values) {
  std::vector<std::string> variables;
  if (values.is_set("env")) variables = values.as<std::vector<std::string>>("env");
  const auto named = [&](const std::string& variable) {
    const std::string front = variable.substr(0, variable.find('=') + 1);
    return std::ranges::any_of(variables,
                               [&](const auto& each) { return each.starts_with(front); });
  };
  for (std::string& each :
       exported_variables(values.as<Exported>("export"), caller_environment())) {
    if (!named(each)) variables.push_back(std::move(each));
  }
  return variables;
}

// What says whether it may start, and how often; `partita run` has no arrays and no holds.
void add_queue_rules(const Values& values, Json& body) {
  if (values.is_set("after")) body["after"] = values.as<std::vector<std::string>>("after");
  if (values.is_set("priority")) body["priority"] = values.as<std::int64_t>("priority");
  if (values.has_switch("hold")) body["hold"] = true;
  if (values.has_switch("no-requeue")) body["no_requeue"] = true;
  if (values.has_switch("job-no-early-restart")) body["no_early_restart"] = true;
  if (!values.is_set("array")) return;
  const auto& array = values.as<ArrayShape>("array");
  body["array"] = array.jobs;
  if (array.limit) body["array_limit"] = *array.limit;
}

Result<Json> body_of(const Values& values, std::vector<std::string> argv) {
  Json body;
  if (values.is_set("job-name")) body["name"] = values.text("job-name");
  body["argv"] = std::move(argv);
  const Result<std::string> directory = directory_of(values);
  if (!directory) return directory.error();
  body["directory"] = *directory;
  const auto& memory = values.as<std::optional<double>>("mem");
  if (memory) body["memory_gib"] = *memory;
  const Status times = add_times(values, body);
  if (!times) return times.error();
  const std::vector<std::string> environment = environment_of(values);
  if (!environment.empty()) body["env"] = environment;
  if (values.is_set("job-checkpoint")) {
    body["checkpoint"] = values.as<std::vector<std::string>>("job-checkpoint");
  }
  if (values.is_set("comment")) body["comment"] = values.text("comment");
  if (values.given("job-output") != nullptr) {
    body["output"] =
        (std::filesystem::path(*directory) / values.text("job-output")).lexically_normal().string();
  }
  add_queue_rules(values, body);
  body["key"] = fresh_key();
  return body;
}

Result<Json> body_of_script(Values values) {
  const std::string path = values.text("SCRIPT");
  const Result<std::string> script = read_whole_file(path);
  if (!script) {
    return Error{fmt::format("{}; a program, and not a script, stands after --, as in -- {}",
                             script.error().message, path)};
  }
  if (script->size() > kScriptBytesMax) {
    return Error{fmt::format("{} has {} bytes; wanted a script of at most {}", path, script->size(),
                             kScriptBytesMax)};
  }
  const Status good = check_script(*script, path);
  if (!good) return good.error();
  const Status set = set_script_flags(*script, path, values);
  if (!set) return set.error();
  if (const std::size_t line = first_sbatch_line(*script); line > 0) {
    complain(
        fmt::format("{} line {}: #SBATCH lines are not read; flags of submit stand in lines "
                    "#PARTITA, as in #PARTITA --mem 4G",
                    path, line));
  }
  std::vector<std::string> argv{path};
  argv.insert(argv.end(), values.command.begin(), values.command.end());
  Result<Json> body = body_of(values, std::move(argv));
  if (body) (*body)["script"] = *script;
  return body;
}

}  // namespace

Result<Json> submission_of(const Values& values) {
  const bool script = values.given("SCRIPT") != nullptr;
  if (!script && values.command.empty()) {
    return Error{"there is no program to run; it stands after --, as in -- ./train --fast"};
  }
  Result<Json> body = script ? body_of_script(values) : body_of(values, values.command);
  if (!body) return body;
  // Bytes that are no text would be changed on the way; the program would see others.
  if (body->dump(-1, ' ', false, Json::error_handler_t::ignore) !=
      body->dump(-1, ' ', false, Json::error_handler_t::replace)) {
    return Error{"the command, its folder, its script or its environment is not all UTF-8"};
  }
  return body;
}

DaemonAnswer send_submission(DaemonClient& client, const Json& body) {
  const std::string text = body.dump();
  DaemonAnswer answer = client.ask("POST", "/v1/jobs", text);
  constexpr int kTries = 5;
  for (int i = 0;
       i < kTries && answer.status == 0 && answer.message.find("went away") != std::string::npos;
       ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    answer = client.ask("POST", "/v1/jobs", text);
  }
  return answer;
}

}  // namespace partita::cli
