#include "report/day_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "report/json_text.h"

namespace partita::report {
namespace {

using Json = nlohmann::ordered_json;

enum class Cell : std::uint8_t { kNumber, kText, kId };

struct Column {
  const char* name;
  Cell cell;
};

struct Table {
  const char* name;
  std::vector<Column> columns;
};

const std::vector<Table>& tables() {
  static const std::vector<Table> kTables{
      {"jobs",
       {{"id", Cell::kId},
        {"class", Cell::kText},
        {"arrival_s", Cell::kNumber},
        {"deadline_s", Cell::kNumber},
        {"completion_s", Cell::kNumber}}},
      {"pieces",
       {{"job", Cell::kId},
        {"gpu", Cell::kNumber},
        {"start_slot", Cell::kNumber},
        {"slots", Cell::kNumber},
        {"profile", Cell::kText},
        {"begin_s", Cell::kNumber},
        {"end_s", Cell::kNumber}}},
      {"layouts",
       {{"gpu", Cell::kNumber},
        {"begin_s", Cell::kNumber},
        {"end_s", Cell::kNumber},
        {"layout", Cell::kText}}},
      {"power", {{"time_s", Cell::kNumber}, {"watts", Cell::kNumber}}},
      {"queue", {{"time_s", Cell::kNumber}, {"waiting", Cell::kNumber}}},
      {"rates", {{"hour", Cell::kNumber}, {"jobs_per_hour", Cell::kNumber}}},
  };
  return kTables;
}

bool is_a(const Json& value, Cell cell) {
  switch (cell) {
    case Cell::kNumber:
      return value.is_number();
    case Cell::kText:
      return value.is_string();
    case Cell::kId:
      return value.is_string() || value.is_number();
  }
  return false;
}

std::string_view wanted(Cell cell) {
  switch (cell) {
    case Cell::kNumber:
      return "a number";
    case Cell::kText:
      return "a text";
    case Cell::kId:
      return "a number or a text";
  }
  return "";
}

Error missing(std::string_view place, std::string_view what) {
  return {fmt::format("{}: found nothing of the kind, wanted {}", place, what)};
}

Status check_table(const Json& day, const Table& table) {
  const auto found = day.find(table.name);
  if (found == day.end() || !found->is_object()) {
    return missing(table.name, "an object of columns");
  }
  std::optional<std::size_t> rows;
  for (const Column& column : table.columns) {
    const std::string place = fmt::format("{}.{}", table.name, column.name);
    const auto values = found->find(column.name);
    if (values == found->end() || !values->is_array()) return missing(place, "a list");
    if (rows && values->size() != *rows) {
      return Error{fmt::format("{}: wanted {} values as in {}.{}, found {}", place, *rows,
                               table.name, table.columns.front().name, values->size())};
    }
    rows = values->size();
    const auto wrong = std::ranges::find_if_not(
        *values, [&](const Json& value) { return is_a(value, column.cell); });
    if (wrong != values->end()) {
      return missing(fmt::format("{}[{}]", place, wrong - values->begin()), wanted(column.cell));
    }
  }
  return {};
}

// What says which run it is; a day of another program may leave it out.
Status check_run_keys(const Json& day) {
  if (day.contains("setting") && !day["setting"].is_string()) return missing("setting", "a text");
  if (day.contains("seed") && !day["seed"].is_number_unsigned()) {
    return missing("seed", "a whole number");
  }
  if (day.contains("energy_j") && !day["energy_j"].is_number()) {
    return missing("energy_j", "a number");
  }
  return {};
}

Status check_day(const Json& day) {
  if (!day.is_object())
    return Error{"found something else, wanted a day: an object with jobs, ..."};
  for (const char* key : {"policy", "gpu"}) {
    const auto found = day.find(key);
    if (found == day.end() || !found->is_string()) return missing(key, "a text");
  }
  for (const char* key : {"gpus", "memory_slices"}) {
    const auto found = day.find(key);
    if (found == day.end() || !found->is_number_unsigned()) return missing(key, "a whole number");
  }
  if (const Status good = check_run_keys(day); !good) return good;
  for (const Table& table : tables()) {
    if (const Status good = check_table(day, table); !good) return good;
  }
  return {};
}

Status check_day_is_of(const Json& day, std::span<const experiment::RunRecord> runs) {
  const std::string setting = day.value("setting", "");
  const std::string policy = day.value("policy", "");
  const auto seed = day.find("seed");
  const auto energy = day.find("energy_j");
  const auto run = std::ranges::find_if(runs, [&](const experiment::RunRecord& record) {
    return record.setting == setting && record.policy == policy && seed != day.end() &&
           *seed == record.seed;
  });
  if (run == runs.end()) {
    return Error{fmt::format("the day of {} is none of these runs",
                             experiment::RunKey{setting, policy, day.value("seed", 0ULL)}.text())};
  }
  if (energy == day.end() || *energy != run->energy_j) {
    return Error{fmt::format("the day of {} differs from its run, which another version made",
                             run->key().text())};
  }
  return {};
}

}  // namespace

Result<Json> parse_days(std::string_view text) {
  auto parsed = parse_json(text);
  if (!parsed) return parsed.error();
  Json json = *std::move(parsed);
  if (json.is_object()) json = Json::array({std::move(json)});
  if (!json.is_array() || json.empty()) return Error{"wanted a day, or a list of days"};
  for (std::size_t i = 0; i < json.size(); ++i) {
    const Status good = check_day(json[i]);
    if (good) continue;
    if (json.size() == 1) return good.error();
    return Error{fmt::format("day {}: {}", i + 1, good.error().message)};
  }
  return json;
}

Status check_days_are_of(const Json& days, std::span<const experiment::RunRecord> runs) {
  for (const Json& day : days) {
    if (const Status good = check_day_is_of(day, runs); !good) return good;
  }
  return {};
}

}  // namespace partita::report
