#include "cli/text/run_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/flags/value_parsers.h"
#include "cli/text/table.h"
#include "policies/layout_list.h"

namespace partita::cli {
namespace {

std::string_view cost_name(sim::RepartitionCost cost) {
  return cost == sim::RepartitionCost::kPaper ? "paper" : "measured";
}

void add_settings(nlohmann::ordered_json& json, const RunSettings& settings) {
  const sim::RunOptions& options = settings.options;
  json["gpu"] = options.model->key;
  json["power"] = options.power->name;
  json["scheduler"] = settings.policy.scheduler;
  json["repartition"] = settings.policy.repartition;
  json["preemption"] = format_preemption(options.preemption);
  const decide::QueueRules& queue = options.queue;
  if (queue.reserve_after) json["reserve_after_s"] = seconds_of(*queue.reserve_after);
  if (queue.fair()) {
    json["fair_share"] = format_fair_share(queue.fair_share);
    json["half_life_s"] = seconds_of(queue.half_life);
  }
  json["repartition_cost"] = cost_name(options.repartition_cost);
  json["memory_restart_s"] = seconds_of(options.memory.restart);
  json["early_restart"] = format_early_restart(options.memory.early_restart);
  json["seed"] = settings.policy.seed;
  json["horizon_s"] = seconds_of(options.horizon);
}

void add_figures(nlohmann::ordered_json& json, double et_a, const sim::RunResult& result) {
  const EtParts parts = et_parts(et_a, result);
  json["energy_j"] = result.energy_j;
  json["energy_w_min"] = result.energy_w_min();
  json["energy_kwh"] = result.energy_kwh();
  json["mean_tardiness_s"] = result.mean_tardiness_s;
  json["p50_tardiness_s"] = result.p50_tardiness_s;
  json["p95_tardiness_s"] = result.p95_tardiness_s;
  json["p99_tardiness_s"] = result.p99_tardiness_s;
  json["max_tardiness_s"] = result.max_tardiness_s;
  json["late_share"] = result.late_share();
  json["et"] = result.et;
  json["et_a"] = et_a;
  json["et_energy_part"] = parts.energy;
  json["et_tardiness_part"] = parts.tardiness;
  json["mean_wait_s"] = result.mean_wait_s;
  json["compute_utilisation"] = result.compute_utilisation;
  json["memory_utilisation"] = result.memory_utilisation;
  json["fragmentation"] = result.fragmentation;
}

void add_users(nlohmann::ordered_json& json, const sim::RunOptions& options,
               const sim::RunResult& result) {
  const bool joules = options.queue.fair_share == decide::FairOrder::kJoules;
  for (const sim::UserUsage& user : result.users) {
    json["users"].push_back({{"user", user.user},
                             {"jobs", user.jobs},
                             {joules ? "joules" : "slice_seconds", user.usage},
                             {"share", user.share},
                             {"fair_share", user.fair_share}});
  }
}

void add_counts(nlohmann::ordered_json& json, std::uint32_t gpus, const sim::RunResult& result) {
  json["jobs"] = result.jobs;
  json["gpus"] = gpus;
  json["events"] = result.events;
  json["decisions"] = result.decisions;
  json["preemptions"] = result.preemptions;
  json["repartitions"] = result.repartitions;
  json["instances_created"] = result.instances_created;
  json["instances_destroyed"] = result.instances_destroyed;
  json["out_of_memory"] = result.out_of_memory;
  json["early_restarts"] = result.early_restarts;
  json["makespan_s"] = seconds_of(result.makespan);
  json["end_s"] = seconds_of(result.end);
}

std::string shown_tardiness(double seconds) {
  return fmt::format("{:.3f} min  ({:.1f} s)", seconds / 60, seconds);
}

void add_result_rows(Table& table, double et_a, const sim::RunResult& result) {
  const EtParts parts = et_parts(et_a, result);
  table.add(
      {"energy",
       fmt::format("{:.3f} kWh  ({} W·min)", result.energy_kwh(),
                   with_commas(static_cast<std::uint64_t>(std::llround(result.energy_w_min()))))});
  table.add({"tardiness mean", shown_tardiness(result.mean_tardiness_s)});
  table.add({"  median", shown_tardiness(result.p50_tardiness_s)});
  table.add({"  95 %", shown_tardiness(result.p95_tardiness_s)});
  table.add({"  99 %", shown_tardiness(result.p99_tardiness_s)});
  table.add({"  largest", shown_tardiness(result.max_tardiness_s)});
  table.add({"late jobs", fmt::format("{:.2f} %  ({} of {})", 100 * result.late_share(),
                                      with_commas(result.late_jobs), with_commas(result.jobs))});
  table.add({"ET", fmt::format("{:.6g} = {:.6g} energy + {:.6g} tardiness  (a = {:g})", result.et,
                               parts.energy, parts.tardiness, et_a)});
  table.add({"wait mean", shown_tardiness(result.mean_wait_s)});
  table.add({"slices in use",
             fmt::format("{:.1f} % of compute, {:.1f} % of memory",
                         100 * result.compute_utilisation, 100 * result.memory_utilisation)});
  table.add({"fragmentation", fmt::format("{:.1f} % of the queued work fits nowhere with enough "
                                          "slices idle",
                                          100 * result.fragmentation)});
}

void add_count_rows(Table& table, const experiment::PolicyRun& run) {
  const sim::RunResult& result = run.result;
  table.add({"preemptions", with_commas(result.preemptions)});
  table.add({"repartitions",
             fmt::format("{}  ({} instances made, {} unmade)", with_commas(result.repartitions),
                         with_commas(result.instances_created),
                         with_commas(result.instances_destroyed))});
  if (result.out_of_memory + result.early_restarts > 0) {
    table.add({"restarts for memory",
               fmt::format("{} out of memory, {} early", with_commas(result.out_of_memory),
                           with_commas(result.early_restarts))});
  }
  table.add({"end of the run", shown_seconds(result.end.to_seconds())});
  table.add(
      {"simulated in", fmt::format("{:.3g} s  ({} events, {} decisions)", run.wall_s,
                                   with_commas(result.events), with_commas(result.decisions))});
}

}  // namespace

double seconds_of(Micros time) {
  return static_cast<double>(time.count) / 1e6;
}

EtParts et_parts(double et_a, const sim::RunResult& result) {
  return {et_a * result.energy_w_min() / (et_a + 1), result.mean_tardiness_s / 60 / (et_a + 1)};
}

nlohmann::ordered_json run_json(const RunSettings& settings, const experiment::PolicyRun& run) {
  nlohmann::ordered_json json;
  add_settings(json, settings);
  add_figures(json, settings.options.et_a, run.result);
  add_counts(json, settings.options.gpus, run.result);
  if (settings.options.queue.reserve_after) {
    json["reservations"] = run.result.reservations;
    json["backfilled"] = run.result.backfilled;
  }
  add_users(json, settings.options, run.result);
  json["wall_s"] = run.wall_s;
  return json;
}

std::string run_text(const RunSettings& settings, const experiment::PolicyRun& run, bool bold) {
  const sim::RunOptions& options = settings.options;
  Table table({{"simulate", Align::kLeft}, {settings.policy.scheduler, Align::kLeft}});
  table.add({"GPUs", fmt::format("{} x {}, power {}", with_commas(options.gpus), options.model->key,
                                 options.power->name)});
  table.add(
      {"repartition", fmt::format("{}, cost {}", policies::with_runs(settings.policy.repartition),
                                  cost_name(options.repartition_cost))});
  table.add({"preemption", format_preemption(options.preemption)});
  if (options.queue.reserve_after) {
    table.add({"reservations",
               fmt::format("{} after {}, {} jobs beside them", with_commas(run.result.reservations),
                           shown_seconds(options.queue.reserve_after->to_seconds()),
                           with_commas(run.result.backfilled))});
  }
  if (options.queue.fair()) {
    table.add(
        {"fair share", fmt::format("{}, half-life {}", format_fair_share(options.queue.fair_share),
                                   shown_seconds(options.queue.half_life.to_seconds()))});
  }
  add_result_rows(table, options.et_a, run.result);
  add_count_rows(table, run);
  return table.text(bold);
}

std::string shown_seconds(double seconds) {
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.1f} min", seconds / 60);
  return fmt::format("{:.2f} h", seconds / 3600);
}

}  // namespace partita::cli
