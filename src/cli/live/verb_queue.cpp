// queue and cancel: many jobs at once.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "cli/flags/live_values.h"
#include "cli/live/daemon_client.h"
#include "cli/output/console.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"

namespace partita::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kPageJobs = 10'000;      // as many as the daemon gives at once
constexpr std::size_t kRefusalsShownMax = 10;  // the rest is counted

std::string word_of(const Json& json, const char* name, const char* otherwise) {
  return json.contains(name) && json[name].is_string() ? json[name].get<std::string>() : otherwise;
}

// "0:2g.10gb:4", or nothing while it has no slice.
std::string place_of(const Json& job) {
  if (!job.contains("slice") || !job["slice"].is_string()) return "";
  const std::string slice = job["slice"].get<std::string>();
  return job["gpu"].is_number() ? fmt::format("{}:{}", job["gpu"].get<int>(), slice) : slice;
}

// "-" of a job of somebody else's, of which it is not told.
std::string need_of(const Json& job) {
  if (!job.contains("need_gib")) return "-";
  const double need = job["need_gib"].get<double>();
  return need > 0 ? fmt::format("{:.2f}", need) : "auto";
}

bool has_priority(const Json& job) {
  return job.contains("priority") && job["priority"].is_number();
}

std::string priority_of(const Json& job) {
  if (has_priority(job)) return std::to_string(job["priority"].get<std::int64_t>());
  return job.contains("priority") ? "0" : "-";
}

std::string queue_text(const Json& page, bool bold) {
  std::vector<Table::Column> columns{
      {"job", Align::kRight},       {"state", Align::kLeft},     {"name", Align::kLeft},
      {"user", Align::kLeft},       {"age", Align::kRight},      {"tries", Align::kRight},
      {"needs GiB", Align::kRight}, {"GPU:slice", Align::kLeft}, {"why", Align::kLeft}};
  constexpr std::ptrdiff_t kPriorityColumn = 4;
  const bool priorities = std::ranges::any_of(page["jobs"], has_priority);
  if (priorities) columns.insert(columns.begin() + kPriorityColumn, {"priority", Align::kRight});
  Table table(std::move(columns));
  const double now = real_clock().now().to_seconds();
  for (const Json& job : page["jobs"]) {
    std::vector<std::string> row{std::to_string(job["id"].get<std::int64_t>()),
                                 job["state"].get<std::string>(),
                                 word_of(job, "name", "-"),
                                 word_of(job, "user", "?"),
                                 shown_span(now - job["submitted_s"].get<double>()),
                                 std::to_string(job["attempts"].get<std::int64_t>()),
                                 need_of(job),
                                 place_of(job),
                                 word_of(job, "reason", "")};
    if (priorities) row.insert(row.begin() + kPriorityColumn, priority_of(job));
    table.add(std::move(row));
  }
  std::string text = table.text(bold);
  const auto total = page["total"].get<std::size_t>();
  const std::size_t shown = page["jobs"].size();
  if (page["more"].get<bool>()) {
    text += fmt::format("{} of {} jobs; {} are not shown, --limit {} shows all\n", shown, total,
                        total - std::min(total, shown), total);
  }
  return text;
}

// A line for each GPU that is drained, since jobs may wait for it.
std::string drained_text(DaemonClient& client) {
  const DaemonAnswer answer = client.ask("GET", "/v1/gpus");
  if (!answer.good()) return {};
  std::string text;
  const Json gpus = answer.json();  // named: a loop does not keep what it is part of
  for (const Json& gpu : gpus["gpus"]) {
    const std::string why = word_of(gpu, "why_unusable", "");
    if (why.starts_with("drained")) {
      text += fmt::format("GPU {} is {}\n", gpu["gpu"].get<std::int64_t>(), why);
    }
  }
  return text;
}

// Why no job is taken or started, as when the disk is full; else nothing.
std::string closed_text(DaemonClient& client) {
  const DaemonAnswer answer = client.ask("GET", "/v1/status");
  const std::string closed = answer.good() ? word_of(answer.json(), "closed", "") : "";
  return closed.empty() ? "" : closed + "\n";
}

// What queue asks for, without the page.
std::string filters_of(const Values& values) {
  const std::string otherwise = values.has_switch("all") ? "" : "active";
  const std::string state = values.is_set("filter-state") ? values.text("filter-state") : otherwise;
  std::string query;
  if (!state.empty()) query += "&state=" + in_query(state);
  if (values.is_set("filter-user")) query += "&user=" + in_query(values.text("filter-user"));
  if (values.is_set("filter-name")) query += "&name=" + in_query(values.text("filter-name"));
  return query;
}

// The body of a request to cancel: numbers, or what the jobs have in common.
Result<Json> cancellation_of(const Values& values) {
  Json body = Json::object();
  for (const char* name : {"user", "state", "name"}) {
    const std::string flag = std::string("filter-") + name;
    if (values.is_set(flag)) body[name] = values.text(flag);
  }
  if (values.is_set("JOB") && !body.empty()) {
    return Error{fmt::format(
        "both numbers of jobs and --{} were given; wanted one of the two, since together they "
        "could mean either",
        body.begin().key())};
  }
  if (!values.is_set("JOB") && body.empty()) {
    return Error{
        "which jobs are to be cancelled is said by their numbers, as in `partita cancel 12 14-20`, "
        "or by --user, --name and --state"};
  }
  if (values.is_set("JOB")) body["jobs"] = values.as<std::vector<std::int64_t>>("JOB");
  return body;
}

// Says why jobs were not stopped; the exit status for it.
int say_refused(const Json& refused) {
  int worst = 0;
  for (std::size_t i = 0; i < refused.size(); ++i) {
    if (i < kRefusalsShownMax) complain(refused[i]["message"].get<std::string>());
    worst = std::max(worst, refused[i]["code"].get<int>() == 403 ? kForbidden : 1);
  }
  if (refused.size() > kRefusalsShownMax) {
    complain(fmt::format("and {} more were not cancelled", refused.size() - kRefusalsShownMax));
  }
  return worst;
}

}  // namespace

Outcome run_queue(const Values& values, Console& console) {
  DaemonClient client(values);
  const auto wanted = static_cast<std::size_t>(values.count("limit"));
  const std::string filters = filters_of(values);
  Json all;
  for (std::string after; all.empty() || (!after.empty() && all["jobs"].size() < wanted);) {
    const std::size_t have = all.empty() ? 0 : all["jobs"].size();
    const DaemonAnswer answer =
        client.ask("GET", fmt::format("/v1/jobs?limit={}{}{}", std::min(kPageJobs, wanted - have),
                                      filters, after.empty() ? "" : "&after=" + after));
    if (!answer.good()) return fail(answer);
    Json page = answer.json();
    if (!all.empty()) {
      Json& jobs = all["jobs"];
      for (Json& job : page["jobs"]) jobs.push_back(std::move(job));
      page["jobs"] = std::move(jobs);
    }
    all = std::move(page);
    after = word_of(all, "after", "");
  }
  const std::string notes =
      values.has_switch("json") ? "" : drained_text(client) + closed_text(client);
  return print_either(values, console, all, queue_text(all, console.bold) + notes);
}

Outcome run_cancel(const Values& values, Console& console) {
  const Result<Json> body = cancellation_of(values);
  if (!body) return body.error();
  DaemonClient client(values);
  const DaemonAnswer answer = client.ask("POST", "/v1/jobs/cancel", body->dump());
  if (!answer.good()) return fail(answer);
  const Json json = answer.json();
  const int worst = say_refused(json["refused"]);
  if (values.has_switch("json")) {
    print_json(console, Json{{"cancelled", json["jobs"]}});
  } else if (!values.is_set("JOB")) {
    const std::size_t jobs = json["jobs"].size();
    console.out.write(fmt::format("{} job{} cancelled\n", jobs, jobs == 1 ? "" : "s"));
  }
  return worst;
}

}  // namespace partita::cli
