#include "cli/verbs/bound_windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bounds/exact/window_optimum.h"
#include "bounds/report.h"
#include "cli/text/table.h"

namespace partita::cli {
namespace {

constexpr double kLate = 1e-6;  // seconds; less is rounding

workload::Trace cut(const workload::Trace& trace, std::size_t first, std::size_t jobs) {
  workload::Trace window;
  window.class_names = trace.class_names;
  const Micros begin = trace.jobs[first].arrival;
  for (std::size_t i = first; i < first + jobs; ++i) {
    workload::Job job = trace.jobs[i];
    job.arrival = job.arrival - begin;
    job.deadline = job.deadline - begin;
    window.add(job, trace.id(JobId{static_cast<std::uint32_t>(i)}));
  }
  return window;
}

Result<WindowBounds> bounds_of(const workload::Trace& window, const bounds::Fleet& fleet,
                               const WindowsLimit& limit,
                               const std::function<double()>& seconds_left) {
  const auto instance = bounds::make_instance(window, fleet);
  if (!instance) return instance.error();
  bounds::Request request;
  request.kinds = {bounds::Kind::kTardiness};
  request.use_mip = false;
  request.runs = bounds::Runs::kWhole;
  request.seconds_max = seconds_left();
  request.clock = limit.clock;
  const bounds::Report report = bounds::find_bounds(*instance, request);
  WindowBounds found;
  bounds::PriceGrid prices;
  for (const bounds::Bound& bound : report.bounds) {
    if (bound.name == "prices") found.prices_s = bound.value;
    if (bound.name != bounds::kNonPreemptive) continue;
    found.non_preemptive_s = bound.value;
    prices = *bound.prices;
  }
  found.bound_s = report.best(bounds::Kind::kTardiness)->value;
  const auto optimum =
      bounds::window_optimum(*instance, *fleet.model, prices, {.seconds_left = seconds_left});
  if (!optimum) return optimum.error();
  found.optimum_s = optimum->total_s / static_cast<double>(window.jobs.size());
  found.optimum_proven = optimum->proven;
  return found;
}

// Of the windows whose optimum is known and is not 0: what a bound can be compared with.
struct Sums {
  std::size_t windows = 0;
  std::size_t on_time = 0;   // windows in which nothing has to be late
  std::size_t unproven = 0;  // whose optimum is not known
  double prices = 0;
  double non_preemptive = 0;
  double bound = 0;
  double optimum = 0;
};

Sums sums_of(const std::vector<WindowBounds>& windows) {
  Sums sums;
  for (const WindowBounds& window : windows) {
    if (!window.optimum_proven) {
      ++sums.unproven;
    } else if (window.optimum_s < kLate) {
      ++sums.on_time;
    } else {
      ++sums.windows;
      sums.prices += window.prices_s;
      sums.non_preemptive += window.non_preemptive_s;
      sums.bound += window.bound_s;
      sums.optimum += window.optimum_s;
    }
  }
  return sums;
}

std::string share(double bound, double optimum) {
  return optimum > 0 ? fmt::format("{:.1f} %", 100 * bound / optimum) : "-";
}

}  // namespace

Result<ComparedWindows> window_bounds(const workload::Trace& trace, const bounds::Fleet& fleet,
                                      std::size_t jobs, const WindowsLimit& limit) {
  bounds::Fleet alone = fleet;
  alone.horizon = Micros{};
  const double until = limit.clock() + limit.seconds_max;
  const auto seconds_left = [&] { return until - limit.clock(); };
  ComparedWindows compared{jobs, trace.jobs.size() / jobs, {}};
  for (std::size_t i = 0; i < compared.total && seconds_left() > 0; ++i) {
    auto found = bounds_of(cut(trace, i * jobs, jobs), alone, limit, seconds_left);
    if (!found) return found.error();
    found->first_job = i * jobs;
    compared.windows.push_back(*found);
  }
  return compared;
}

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
  const Sums sums = sums_of(windows);
  json["late"] = {{"windows", sums.windows},
                  {"prices_s", sums.prices},
                  {"non_preemptive_s", sums.non_preemptive},
                  {"tardiness_bound_s", sums.bound},
                  {"optimum_s", sums.optimum}};
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
    if (window.optimum_proven && window.optimum_s < kLate) continue;
    table.add({with_commas(window.first_job),
               fmt::format("{}{:.3f}", window.optimum_proven ? "" : "<= ", window.optimum_s),
               share(window.prices_s, window.optimum_s),
               share(window.non_preemptive_s, window.optimum_s),
               share(window.bound_s, window.optimum_s)});
  }
  const Sums sums = sums_of(windows);
  std::string text =
      fmt::format("mean tardiness of {} jobs that follow each other, none interrupted\n\n",
                  compared.jobs) +
      table.text(bold) +
      fmt::format(
          "\n{} windows with a known optimum above 0: prices {}, non-preemptive {}, the best bound "
          "{} of it\nnothing has to be late in {}; in {} the optimum is not known\n",
          sums.windows, share(sums.prices, sums.optimum), share(sums.non_preemptive, sums.optimum),
          share(sums.bound, sums.optimum), sums.on_time, sums.unproven);
  if (windows.size() < compared.total) {
    text +=
        fmt::format("the time was over after {} of {} windows; a longer --time-limit has more\n",
                    windows.size(), compared.total);
  }
  return text;
}

}  // namespace partita::cli
