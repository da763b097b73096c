#include "cli/text/batch_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/text/table.h"
#include "experiment/results/batches.h"

namespace partita::cli {
namespace {

using experiment::BatchRow;
using experiment::Ratio;

std::string ratio_text(const Ratio& ratio) {
  if (!ratio.interval) return fmt::format("{:.2f} x", ratio.mean);
  return fmt::format("{:.2f} x ({:.2f} to {:.2f})", ratio.mean, ratio.interval->low,
                     ratio.interval->high);
}

nlohmann::ordered_json ratio_json(const Ratio& ratio) {
  nlohmann::ordered_json json{{"ratio", ratio.mean}};
  if (ratio.interval) json["low"] = ratio.interval->low;
  if (ratio.interval) json["high"] = ratio.interval->high;
  json["best"] = ratio.best;
  return json;
}

}  // namespace

std::string batches_text(const experiment::Study& study,
                         std::span<const experiment::RunRecord> records, bool bold) {
  std::string text;
  for (const experiment::StudySetting& setting : study.settings) {
    Table table({{"policy", Align::kLeft},
                 {"makespan min", Align::kRight},
                 {"throughput", Align::kRight},
                 {"best", Align::kRight},
                 {"energy", Align::kRight},
                 {"repartitions", Align::kRight},
                 {"out of memory", Align::kRight},
                 {"early restarts", Align::kRight}});
    for (const BatchRow& row : batch_rows(setting, records)) {
      table.add({row.policy, fmt::format("{:.1f}", row.makespan_s / 60), ratio_text(row.throughput),
                 fmt::format("{:.2f} x", row.throughput.best), ratio_text(row.energy),
                 fmt::format("{:.1f}", row.repartitions), fmt::format("{:.1f}", row.out_of_memory),
                 fmt::format("{:.1f}", row.early_restarts)});
    }
    text += fmt::format("{} {}, against {}, means over the batches, 95 % intervals\n\n{}\n",
                        study.name, setting.name, setting.policies.front().name, table.text(bold));
  }
  return text;
}

nlohmann::ordered_json batches_json(const experiment::Study& study,
                                    std::span<const experiment::RunRecord> records) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const experiment::StudySetting& setting : study.settings) {
    for (const BatchRow& row : batch_rows(setting, records)) {
      json.push_back({{"setting", setting.name},
                      {"policy", row.policy},
                      {"makespan_s", row.makespan_s},
                      {"energy_j", row.energy_j},
                      {"throughput", ratio_json(row.throughput)},
                      {"energy", ratio_json(row.energy)},
                      {"repartitions", row.repartitions},
                      {"out_of_memory", row.out_of_memory},
                      {"early_restarts", row.early_restarts}});
    }
  }
  return json;
}

}  // namespace partita::cli
