// Real traces as settings of studies.
#include "experiment/studies/traces.h"

#include <fmt/format.h>

#include <filesystem>

#include "experiment/studies/sensitivity.h"

namespace partita::experiment {
namespace {

using Mode = decide::Preemption::Mode;

// Real jobs last for days, and forecasts run to the end of them: a budget keeps a day to seconds.
constexpr const char* kPaceOfTraces = "every=20,budget_us=5000";

workload::ReaderOptions scaled_durations(double scale) {
  workload::ReaderOptions options;
  options.duration_scale = scale;
  return options;
}

constexpr Micros kDay = Micros::seconds(86'400);

// Shares are such that the fleet would be asked for 1.04 times what it has if every job had a whole
// GPU to itself; Philly's GPUs were four times as slow as an A100. `mix_none` and `mix_pays` are
// what
//   partita tune static --jobs FILE --gpu GPU --gpus N --scheduler mdd-fastest --preemption none
//     --sample SHARE --window HOURS --duration-scale FACTOR --days 60 --folds 0
// and the same with `--scheduler mdd --preemption pays=30` find on the windows for tuning. `mix`
// and the timetables, of the sensitivity study, were found for modified due date by the fastest
// size under `preemption`.
std::vector<TraceRow> rows() {
  const decide::Preemption costs{Mode::kCost, Micros::seconds(30)};
  const decide::Preemption none{Mode::kNone, {}};
  return {
      {"Philly",
       {"philly_jobs.csv"},
       scaled_durations(0.25),
       {kDay, 0.5},
       "a100-40gb",
       8,
       costs,
       "static:6,6,6,6,6,6,6,6",
       "static:6,6,6,6,6,6,6,6",
       "static:6,6,6,7,7,7,7,7",
       "",
       kPaceOfTraces},
      {"openb",
       {"openb_pod_list_default.csv", "alibaba_gpu2023_openb_pod_list_default.csv"},
       {},
       {kDay, 1},
       "a100-40gb",
       8,
       costs,
       "static:1,1,1,1,1,1,1,5",
       "static:1,2,2,2,2,2,2,2",
       "static:1,1,1,1,1,2,7,8",
       "timetable:02:00=1,1,1,1,1,1,1,1,06:00=1,1,1,1,1,1,3,3,12:00=1,1,1,1,1,2,2,9,"
       "20:00=1,1,1,1,1,2,5,6",
       kPaceOfTraces},
      {"GenAI",
       {"lora_request_trace.csv", "alibaba_genai2026_lora_request_trace.csv"},
       {},
       {kDay, 1},
       "h100-80gb",
       1,
       none,
       "static:2",
       "static:2",
       "static:2",
       "",
       kPaceOfTraces},
      {"Azure LLM",
       {"AzureLLMInferenceTrace_conv.csv", "azure_llm2023_conv.csv"},
       {},
       {Micros::seconds(300), 0.28},
       "a100-40gb",
       8,
       none,
       "static:1,1,1,1,1,1,1,1",
       "static:1,1,1,1,1,1,1,1",
       "static:1,1,1,1,1,1,1,1",
       "",
       "every=40,horizon=60,screen=60"},
  };
}

std::string find_file(const std::string& folder, const TraceRow& row) {
  for (const std::string& file : row.files) {
    for (const char* ending : {"", ".zst", ".gz"}) {
      const std::filesystem::path path = std::filesystem::path(folder) / (file + ending);
      std::error_code failed;
      if (std::filesystem::is_regular_file(path, failed)) return path.string();
    }
  }
  return "";
}

Result<StudySetting> setting_of(const TraceRow& row, const std::string& path) {
  const auto source = workload::open_trace(workload::Input::file(path), row.reader);
  if (!source) return source.error();
  const auto trace = workload::read_all(**source);
  if (!trace) return trace.error();
  auto days = trace_days(*trace, path, row.windows);
  if (!days) return days.error();
  StudySetting setting;
  setting.name = row.name;
  setting.days = *std::move(days);
  setting.gpu = row.gpu;
  setting.gpus = row.gpus;
  setting.cost = sim::RepartitionCost::kMeasured;
  return setting;
}

}  // namespace

Result<std::vector<FoundTrace>> find_traces(const std::string& folder) {
  std::vector<FoundTrace> found;
  std::vector<std::string> wanted;
  for (const TraceRow& row : rows()) {
    wanted.push_back(row.files.front());
    const std::string path = find_file(folder, row);
    if (path.empty()) continue;
    auto setting = setting_of(row, path);
    if (!setting) return setting.error();
    found.push_back({row, *std::move(setting)});
  }
  if (!found.empty()) return found;
  return Error{fmt::format("{} has none of the traces {} (also as .gz or .zst)", folder,
                           fmt::join(wanted, ", "))};
}

Result<Study> sensitivity_study_with(const std::string& folder) {
  const auto traces = find_traces(folder);
  if (!traces) return traces.error();
  Study study = sensitivity_study();
  study.name = "sensitivity-traces";
  for (const FoundTrace& trace : *traces) {
    const TraceRow& row = trace.row;
    StudySetting setting = trace.setting;
    setting.preemption = row.preemption;
    setting.shown = StudySetting::Shown::kRow;
    setting.policies = sensitivity_policies("mdd", row.mix, row.timetable, "flat", row.pace);
    study.settings.push_back(std::move(setting));
  }
  return study;
}

}  // namespace partita::experiment
