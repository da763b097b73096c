#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/live/daemon_client.h"
#include "cli/output/screen.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"

namespace partita::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kRefreshMs = 1'000;

std::string word_of(const Json& json, const char* name) {
  return json.contains(name) && json[name].is_string() ? json[name].get<std::string>() : "";
}

// "" or why jobs are not placed there.
std::string trouble_of(const Json& gpu) {
  const std::string state = word_of(gpu, "state");
  const std::string why = word_of(gpu, "why_unusable");
  if (state == "usable") return "";
  return why.starts_with(state) ? ", " + why : fmt::format(", {}: {}", state, why);
}

// Nothing where all that waits fits somewhere, waits for want of slices, or was not told.
std::string fragmentation_line(const Json& status) {
  const double share = status.value("fragmentation", 0.0);
  if (share <= 0) return "";
  return fmt::format("{:.1f} % of the queued work fits nowhere although enough slices are idle\n",
                     100 * share);
}

// " 251 of 400 W, 61 C, 86 % busy": what the board says of it.
std::string board_text(const Json& gpu) {
  std::vector<std::string> parts;
  const auto has = [&](const char* name) { return gpu.contains(name) && gpu[name].is_number(); };
  if (has("power_w")) {
    const std::string limit =
        has("power_limit_w") ? fmt::format(" of {:.0f}", gpu["power_limit_w"].get<double>()) : "";
    parts.push_back(fmt::format("{:.0f}{} W", gpu["power_w"].get<double>(), limit));
  }
  if (has("temperature_c")) {
    parts.push_back(fmt::format("{:.0f} C", gpu["temperature_c"].get<double>()));
  }
  if (has("utilisation")) {
    parts.push_back(fmt::format("{:.0f} % busy", 100 * gpu["utilisation"].get<double>()));
  }
  return parts.empty() ? "" : fmt::format(" {}", fmt::join(parts, ", "));
}

std::string head_text(const Json& status) {
  std::string text =
      fmt::format("{}, {}{}\n", word_of(status, "backend"), word_of(status, "policy"),
                  status["shadow"].get<bool>() ? ", in shadow mode" : "");
  if (status.value("simulated", false)) text += "SIMULATED GPUs: jobs run, but on no GPU\n";
  for (const auto& [state, count] : status["jobs"].items()) {
    if (count.get<int>() > 0) text += fmt::format("{} {}  ", count.get<int>(), state);
  }
  const std::string closed = word_of(status, "closed");
  return text + "\n" + (closed.empty() ? closed : closed + "\n") + fragmentation_line(status);
}

std::string gpu_text(const Json& gpu, bool bold) {
  std::string text = fmt::format("GPU {} {}{}{}\n", gpu["gpu"].get<int>(),
                                 gpu["name"].get<std::string>(), board_text(gpu), trouble_of(gpu));
  Table table({{"slice", Align::kLeft},
               {"state", Align::kLeft},
               {"job", Align::kRight},
               {"used GiB", Align::kRight},
               {"of", Align::kRight},
               {"whose", Align::kLeft}});
  for (const Json& slice : gpu["slices"]) {
    table.add({slice["slice"].get<std::string>(), slice["state"].get<std::string>(),
               slice["job"].is_number() ? std::to_string(slice["job"].get<std::int64_t>()) : "",
               slice["used_gib"].is_number()
                   ? fmt::format("{:.2f}", slice["used_gib"].get<double>())
                   : "",
               fmt::format("{:g}", slice["memory_gib"].get<double>()),
               slice["holder"].get<std::string>()});
  }
  if (!gpu["slices"].empty()) text += table.text(bold);
  return text;
}

std::string whole_text(const Json& gpus, const Json& status, bool bold) {
  std::string text = head_text(status);
  for (const Json& gpu : gpus) text += "\n" + gpu_text(gpu, bold);
  return text;
}

// Slices with a job; where no job is, the power says who works.
std::pair<std::int64_t, double> business(const Json& gpu) {
  const auto busy = std::ranges::count_if(
      gpu["slices"], [](const Json& slice) { return slice["job"].is_number(); });
  return {busy, gpu["power_w"].is_number() ? gpu["power_w"].get<double>() : 0};
}

// For a screen: the busiest first, so that what is cut off matters least.
ScreenPage page_of(const Json& gpus, const Json& status, bool bold) {
  std::vector<const Json*> order;
  for (const Json& gpu : gpus) order.push_back(&gpu);
  std::ranges::stable_sort(
      order, [](const Json* a, const Json* b) { return business(*a) > business(*b); });
  ScreenPage page;
  page.head = head_text(status);
  page.noun = "GPUs";
  for (const Json* gpu : order) page.blocks.push_back(gpu_text(*gpu, bold));
  return page;
}

}  // namespace

Outcome run_top(const Values& values, Console& console) {
  DaemonClient client(values);
  const bool again = console.bold && !values.has_switch("once") && !values.has_switch("json");
  std::optional<Screen> screen;
  for (;;) {
    const DaemonAnswer gpus = client.ask("GET", "/v1/gpus");
    const DaemonAnswer status = gpus.good() ? client.ask("GET", "/v1/status") : gpus;
    if (!gpus.good() || !status.good()) {
      screen.reset();  // what is said is to stay on the terminal
      return fail(gpus.good() ? status : gpus);
    }
    Json json = gpus.json();
    if (values.has_switch("json")) {
      json["status"] = status.json();
      print_json(console, json);
      return 0;
    }
    if (!again) {
      console.out.write(whole_text(json["gpus"], status.json(), console.bold));
      return 0;
    }
    if (!screen) screen.emplace(console.out);
    if (!screen->show(page_of(json["gpus"], status.json(), console.bold), kRefreshMs)) return 0;
  }
}

}  // namespace partita::cli
