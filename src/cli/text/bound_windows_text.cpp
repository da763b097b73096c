#include "cli/text/bound_windows_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/text/table.h"

namespace partita::cli {
namespace {

using experiment::ComparedWindows;
using experiment::WindowBounds;

std::string share(double bound, double optimum) {
  return optimum > 0 ? fmt::format("{:.1f} %", 100 * bound / optimum) : "-";
}

}  // namespace

nlohmann::ordered_json windows_json(const ComparedWindows& compared) {
  const std::vector<WindowBounds>& windows = compared.windows;
  nlohmann::ordered_json json;
  json["window_jobs"] = compared.jobs;
  json["windows_total"] = compared.total;
  json["windows"] = nlohmann::ordered_json::array();
  for (const WindowBounds& window : windows) {
    json["windows"].push_back({{"first_job", window.first_job},
                               {"prices_s", window.prices_s},
                               {"non_preemptive_s", window.non_preemptive_s},
                               {"tardiness_bound_s", window.bound_s},
                               {"optimum_s", window.optimum_s},
                               {"optimum_proven", window.optimum_proven}});
  }
  const ComparedWindows::Sums sums = compared.sums();
  json["late"] = {{"windows", sums.windows},
                  {"prices_s", sums.prices_s},
                  {"non_preemptive_s", sums.non_preemptive_s},
                  {"tardiness_bound_s", sums.bound_s},
                  {"optimum_s", sums.optimum_s}};
  json["on_time_windows"] = sums.on_time;
  json["unproven_windows"] = sums.unproven;
  return json;
}

std::string windows_text(const ComparedWindows& compared, bool bold) {
  const std::vector<WindowBounds>& windows = compared.windows;
  Table table({{"first job", Align::kRight},
               {"optimum, s", Align::kRight},
               {"prices", Align::kRight},
               {"non-preemptive", Align::kRight},
               {"best bound", Align::kRight}});
  for (const WindowBounds& window : windows) {
    if (window.on_time()) continue;
    table.add({with_commas(window.first_job),
               fmt::format("{}{:.3f}", window.optimum_proven ? "" : "<= ", window.optimum_s),
               share(window.prices_s, window.optimum_s),
               share(window.non_preemptive_s, window.optimum_s),
               share(window.bound_s, window.optimum_s)});
  }
  const ComparedWindows::Sums sums = compared.sums();
  std::string text =
      fmt::format("mean tardiness of {} jobs that follow each other, none interrupted\n\n",
                  compared.jobs) +
      table.text(bold) +
      fmt::format(
          "\n{} windows with a known optimum above 0: prices {}, non-preemptive {}, the best bound "
          "{} of it\nnothing has to be late in {}; in {} the optimum is not known\n",
          sums.windows, share(sums.prices_s, sums.optimum_s),
          share(sums.non_preemptive_s, sums.optimum_s), share(sums.bound_s, sums.optimum_s),
          sums.on_time, sums.unproven);
  if (windows.size() < compared.total) {
    text +=
        fmt::format("the time was over after {} of {} windows; a longer --time-limit has more\n",
                    windows.size(), compared.total);
  }
  return text;
}

}  // namespace partita::cli
