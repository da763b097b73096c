#include <fmt/format.h>
#include <pwd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "cli/flags/live_values.h"
#include "cli/live/daemon_client.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"

namespace partita::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kHour = 3600;

// One line: a user, a name or a job.
struct Usage {
  std::string what;
  std::string user;  // of a job
  std::string name;
  std::string state;
  double ended = 0;
  std::uint64_t jobs = 0;
  std::uint64_t done = 0;
  double energy_j = 0;
  double slice_s = 0;

  double slice_hours() const { return slice_s / kHour; }
};

struct History {
  std::vector<Usage> lines;
  Usage sum;
  double since = 0;  // what was asked for
  double until = 0;
  std::optional<double> kept_since;
};

std::string user_name(std::uint32_t uid) {
  const passwd* user = ::getpwuid(uid);
  return user == nullptr ? std::to_string(uid) : user->pw_name;
}

void add(Usage& usage, const Json& job) {
  ++usage.jobs;
  if (job["state"] == "done") ++usage.done;
  usage.energy_j += job["energy_j_estimated"].get<double>();
  usage.slice_s += job["slice_s"].get<double>();
}

// All pages; the answer of the first that fails.
class Reader {
 public:
  Reader(const Values& values, std::string by) : client_(values), by_(std::move(by)) {}

  DaemonAnswer read(History& history) {
    constexpr int kPage = 5'000;
    std::int64_t after = 0;
    for (;;) {
      const DaemonAnswer answer =
          client_.ask("GET", fmt::format("/v1/history?since={:.6f}&until={:.6f}&after={}&limit={}",
                                         history.since, history.until, after, kPage));
      if (!answer.good()) return answer;
      const Json page = answer.json();
      for (const Json& job : page["jobs"]) take(job);
      if (page["kept_since_s"].is_number()) history.kept_since = page["kept_since_s"].get<double>();
      if (page["next"].is_number()) {
        after = page["next"].get<std::int64_t>();
        continue;
      }
      for (auto& [key, usage] : usages_) history.lines.push_back(std::move(usage));
      history.sum = sum_;
      return answer;
    }
  }

 private:
  void take(const Json& job) {
    add(sum_, job);
    const auto uid = job["uid"].get<std::uint32_t>();
    const std::string name = job["name"].get<std::string>();
    const auto id = job["id"].get<std::int64_t>();
    const auto known = users_.find(uid);
    const std::string& user =
        known != users_.end() ? known->second : users_.emplace(uid, user_name(uid)).first->second;
    // Jobs in the order of their numbers, the others by name.
    const std::string key = by_ == "user" ? user : by_ == "name" ? name : fmt::format("{:020}", id);
    Usage& usage = usages_[key];
    usage.what = by_ == "job" ? std::to_string(id) : key;
    if (by_ == "job") {
      usage.user = user;
      usage.name = name;
      usage.state = job["state"].get<std::string>();
      usage.ended = job["ended_s"].get<double>();
    }
    add(usage, job);
  }

  DaemonClient client_;
  std::string by_;
  std::map<std::uint32_t, std::string> users_;
  std::map<std::string, Usage> usages_;
  Usage sum_;
};

std::string span_text(const History& history) {
  std::string text = fmt::format(
      "{} jobs ended {}before {}", history.sum.jobs,
      history.since > 0 ? fmt::format("since {} and ", shown_instant(history.since)) : "",
      shown_instant(history.until));
  if (!history.kept_since) return text + "; the daemon keeps none\n";
  text += fmt::format("; the daemon keeps those that ended since {}",
                      shown_instant(*history.kept_since));
  return text + "\n";
}

std::string history_text(const History& history, const std::string& by, bool bold) {
  const bool of_jobs = by == "job";
  std::vector<Table::Column> columns{{by, of_jobs ? Align::kRight : Align::kLeft}};
  if (of_jobs) {
    for (const char* title : {"user", "name", "state", "ended"}) {
      columns.push_back({title, Align::kLeft});
    }
  } else {
    columns.push_back({"jobs", Align::kRight});
    columns.push_back({"done", Align::kRight});
  }
  columns.push_back({"slice-hours", Align::kRight});
  columns.push_back({"joules*", Align::kRight});
  columns.push_back({"kWh*", Align::kRight});
  Table table(columns);
  const auto line = [&](const Usage& usage, const std::string& what) {
    std::vector<std::string> cells{what};
    if (of_jobs) {
      const std::string ended = usage.ended > 0 ? shown_instant(usage.ended) : "";
      cells.insert(cells.end(), {usage.user, usage.name, usage.state, ended});
    } else {
      cells.insert(cells.end(), {std::to_string(usage.jobs), std::to_string(usage.done)});
    }
    constexpr double kJoulesPerKwh = 3.6e6;
    cells.insert(cells.end(),
                 {fmt::format("{:.3f}", usage.slice_hours()), fmt::format("{:.0f}", usage.energy_j),
                  fmt::format("{:.4f}", usage.energy_j / kJoulesPerKwh)});
    table.add(cells);
  };
  for (const Usage& usage : history.lines) line(usage, usage.what);
  if (history.lines.size() > 1) line(history.sum, "all");
  return (history.lines.empty() ? "" : table.text(bold) + "\n") + span_text(history) +
         "* estimated: the board's energy, shared by its busy slices\n";
}

std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\n") == std::string::npos) return cell;
  std::string text = "\"";
  for (const char c : cell) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

std::string history_csv(const History& history, const std::string& by) {
  const bool of_jobs = by == "job";
  std::string text = of_jobs ? "job,user,name,state,ended_s,slice_hours,energy_j_estimated\n"
                             : by + ",jobs,done,slice_hours,energy_j_estimated\n";
  for (const Usage& usage : history.lines) {
    const std::string middle = of_jobs ? fmt::format("{},{},{},{:.6f}", quoted(usage.user),
                                                     quoted(usage.name), usage.state, usage.ended)
                                       : fmt::format("{},{}", usage.jobs, usage.done);
    text += fmt::format("{},{},{:.6f},{:.3f}\n", quoted(usage.what), middle, usage.slice_hours(),
                        usage.energy_j);
  }
  return text;
}

Json usage_json(const Usage& usage, const std::string& by) {
  Json json;
  json[by] = usage.what;
  if (by == "job") {
    json = Json{{"job", std::stoll(usage.what)},
                {"user", usage.user},
                {"name", usage.name},
                {"state", usage.state},
                {"ended_s", usage.ended}};
  } else {
    json["jobs"] = usage.jobs;
    json["done"] = usage.done;
  }
  json["slice_hours"] = usage.slice_hours();
  json["energy_j_estimated"] = usage.energy_j;
  return json;
}

Json history_json(const History& history, const std::string& by) {
  Json json;
  json["by"] = by;
  json["since_s"] = history.since;
  json["until_s"] = history.until;
  json["kept_since_s"] = history.kept_since ? Json(*history.kept_since) : Json();
  json["usage"] = Json::array();
  for (const Usage& usage : history.lines) json["usage"].push_back(usage_json(usage, by));
  json["jobs"] = history.sum.jobs;
  json["slice_hours"] = history.sum.slice_hours();
  json["energy_j_estimated"] = history.sum.energy_j;
  return json;
}

}  // namespace

Outcome run_history(const Values& values, Console& console) {
  const Micros now = real_clock().now();
  History history;
  history.until = now.to_seconds();
  if (values.is_set("since")) history.since = values.as<Since>("since").at(now).to_seconds();
  if (values.is_set("until")) history.until = values.as<Since>("until").at(now).to_seconds();
  history.since = std::max(0.0, history.since);
  if (history.since >= history.until) {
    return Error{fmt::format("--since is {} and --until {}; wanted the first before the second",
                             shown_instant(history.since), shown_instant(history.until))};
  }
  if (values.has_switch("csv") && values.has_switch("json")) {
    return Error{"--csv and --json are two ways to print the same; wanted one of them"};
  }
  const std::string by = values.text("by");
  const DaemonAnswer answer = Reader(values, by).read(history);
  if (!answer.good()) return fail(answer);
  if (values.has_switch("csv")) {
    console.out.write(history_csv(history, by));
    return 0;
  }
  return print_either(values, console, history_json(history, by),
                      history_text(history, by, console.bold));
}

}  // namespace partita::cli
