// What a study leaves beside its runs for its page.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/whole_file.h"
#include "cli/output/output_file.h"
#include "cli/output/report_page.h"
#include "report/study_notes.h"

namespace partita::cli {
namespace {

using Json = nlohmann::ordered_json;
using experiment::RunRecord;
using experiment::Study;
using experiment::StudyPolicy;
using experiment::StudySetting;

// A list of objects as a table of a page, its columns the keys of the first.
Json table_figure(const std::string& title, const std::string& note, const Json& rows) {
  Json figure{{"title", title}, {"note", note}, {"kind", "table"}};
  figure["columns"] = Json::array();
  figure["rows"] = Json::array();
  for (const Json& row : rows) {
    for (const auto& [key, value] : row.items()) {
      const bool known = std::ranges::find(figure["columns"], Json(key)) != figure["columns"].end();
      if (!known) figure["columns"].push_back(key);
    }
  }
  for (const Json& row : rows) {
    Json cells = Json::array();
    for (const Json& column : figure["columns"]) {
      cells.push_back(row.contains(column) ? row[column.get<std::string>()] : Json(nullptr));
    }
    figure["rows"].push_back(std::move(cells));
  }
  return figure;
}

std::string title_of(const Study& study, std::uint64_t days) {
  if (!study.title.empty()) return study.title;
  const StudySetting& setting = study.settings.front();
  return fmt::format("{}: {} days on {} × {}", study.name,
                     std::min(days, setting.days.test_days_max), setting.gpus, setting.gpu);
}

report::StudyNotes notes_of(const Values& values, const Study& study, std::uint64_t days,
                            const Json& published) {
  report::StudyNotes notes;
  notes.title = title_of(study, days);
  notes.source = study.source;
  notes.generated_by = command_text(Verb::kExperiment, values);
  notes.until_decided = values.has_switch("until-decided");
  notes.bounds = values.has_switch("bounds");
  for (const StudySetting& setting : study.settings) {
    notes.settings.push_back({setting.name, setting.policies.front().name});
  }
  if (!published.empty()) {
    notes.figures.push_back(table_figure("Published figures beside ours",
                                         study.source + ". Ours with 95 % intervals.", published));
  }
  return notes;
}

// The setting that most of the published figures are of, else the first.
const StudySetting& shown_setting(const Study& study) {
  const StudySetting* shown = &study.settings.front();
  std::ptrdiff_t most = 0;
  for (const StudySetting& setting : study.settings) {
    const auto claims = std::ranges::count(study.claims, setting.name, &experiment::Claim::setting);
    if (claims <= most) continue;
    most = claims;
    shown = &setting;
  }
  return *shown;
}

struct BestPolicy {
  std::string policy;
  std::uint64_t typical_seed = 0;  // of the day with the median ET
};

BestPolicy best_of(const StudySetting& setting, std::span<const RunRecord> runs) {
  std::map<std::string, std::vector<const RunRecord*>> days;
  for (const RunRecord& run : runs) {
    if (run.setting == setting.name) days[run.policy].push_back(&run);
  }
  CHECK(!days.empty());
  const auto mean_et = [](const auto& row) {
    double sum = 0;
    for (const RunRecord* day : row.second) sum += day->et;
    return sum / static_cast<double>(row.second.size());
  };
  auto best = std::ranges::min_element(days, {}, mean_et);
  std::ranges::sort(best->second, {},
                    [](const RunRecord* day) { return std::pair(day->et, day->seed); });
  return {best->first, best->second[(best->second.size() - 1) / 2]->seed};
}

// The best policy of the shown setting and its reference, on the day that is typical of the best.
Result<Json> days_of(const Study& study, std::span<const RunRecord> runs) {
  const StudySetting& setting = shown_setting(study);
  const BestPolicy best = best_of(setting, runs);
  Json days = Json::array();
  std::vector<std::string> names{best.policy};
  if (setting.policies.front().name != best.policy) names.push_back(setting.policies.front().name);
  for (const std::string& name : names) {
    const auto policy = std::ranges::find(setting.policies, name, &StudyPolicy::name);
    CHECK(policy != setting.policies.end());
    auto day = experiment::detailed_day(setting, *policy, best.typical_seed);
    if (!day) return day.error();
    days.push_back(*std::move(day));
  }
  return days;
}

}  // namespace

Status write_study_report(const Values& values, const Study& study, std::uint64_t days,
                          std::span<const RunRecord> runs, const Json& published) {
  const std::string results = fmt::format("{}/{}.runs.jsonl", values.text("out-dir"), study.name);
  const Status noted = write_whole_file(report::study_path(results),
                                        format_notes(notes_of(values, study, days, published)));
  if (!noted || values.given("report") == nullptr) return noted;
  auto page_file = OutputFile::open(values.text("report"));
  if (!page_file) return page_file.error();
  const auto detailed = days_of(study, runs);
  if (!detailed) return detailed.error();
  const std::string text = detailed->dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  const Status kept = write_whole_file(report::day_path(results), text);
  if (!kept) return kept;
  const auto page = page_of_results({.results = results});
  if (!page) return page.error();
  (*page_file)->writer().write(page->text);
  return (*page_file)->commit();
}

}  // namespace partita::cli
