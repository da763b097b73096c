#include "experiment/results/run_record.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <variant>

namespace partita::experiment {
namespace {

using Json = nlohmann::ordered_json;
using Member =
    std::variant<std::string RunRecord::*, double RunRecord::*, std::uint64_t RunRecord::*,
                 Role RunRecord::*, std::optional<double> RunRecord::*>;

struct Field {
  const char* name;
  Member member;
};

// The order is that of the file.
constexpr std::array<Field, 33> kFields{{
    {"experiment", &RunRecord::experiment},
    {"setting", &RunRecord::setting},
    {"policy", &RunRecord::policy},
    {"scheduler", &RunRecord::scheduler},
    {"repartition", &RunRecord::repartition},
    {"seed", &RunRecord::seed},
    {"role", &RunRecord::role},
    {"energy_j", &RunRecord::energy_j},
    {"energy_w_min", &RunRecord::energy_w_min},
    {"mean_tardiness_s", &RunRecord::mean_tardiness_s},
    {"p50_tardiness_s", &RunRecord::p50_tardiness_s},
    {"p95_tardiness_s", &RunRecord::p95_tardiness_s},
    {"p99_tardiness_s", &RunRecord::p99_tardiness_s},
    {"max_tardiness_s", &RunRecord::max_tardiness_s},
    {"late_share", &RunRecord::late_share},
    {"mean_wait_s", &RunRecord::mean_wait_s},
    {"compute_utilisation", &RunRecord::compute_utilisation},
    {"memory_utilisation", &RunRecord::memory_utilisation},
    {"jobs", &RunRecord::jobs},
    {"gpus", &RunRecord::gpus},
    {"events", &RunRecord::events},
    {"decisions", &RunRecord::decisions},
    {"preemptions", &RunRecord::preemptions},
    {"repartitions", &RunRecord::repartitions},
    {"instances_created", &RunRecord::instances_created},
    {"instances_destroyed", &RunRecord::instances_destroyed},
    {"out_of_memory", &RunRecord::out_of_memory},
    {"early_restarts", &RunRecord::early_restarts},
    {"makespan_s", &RunRecord::makespan_s},
    {"et_a", &RunRecord::et_a},
    {"et", &RunRecord::et},
    {"layout_shares", &RunRecord::layout_shares},
    {"fragmentation", &RunRecord::fragmentation},
}};

bool is_utf8(const std::string& text) {
  // What is not UTF-8 is left out of the printed text, which then reads back shorter.
  const std::string printed = Json(text).dump(-1, ' ', false, Json::error_handler_t::ignore);
  return Json::parse(printed).get_ref<const std::string&>() == text;
}

// ---- one member, by its type: is it sound, put it, take it

Status check_value(const char*, std::uint64_t) {
  return {};
}
Status check_value(const char*, Role) {
  return {};
}
Status check_value(const char* name, double value) {
  if (std::isfinite(value)) return {};
  return Error{fmt::format("{}: found {}, wanted a finite number", name, value)};
}
Status check_value(const char* name, std::optional<double> value) {
  return value ? check_value(name, *value) : Status{};
}
Status check_value(const char* name, const std::string& value) {
  if (is_utf8(value)) return {};
  return Error{fmt::format("{}: found bytes that are not UTF-8", name)};
}

void put(Json& json, const char* name, Role value) {
  json[name] = role_name(value);
}
void put(Json& json, const char* name, std::optional<double> value) {
  if (value) json[name] = *value;
}
template <typename T>
void put(Json& json, const char* name, const T& value) {
  json[name] = value;
}

bool take(const Json& json, std::string& value) {
  if (!json.is_string()) return false;
  value = json.get<std::string>();
  return true;
}
bool take(const Json& json, double& value) {
  if (!json.is_number()) return false;
  value = json.get<double>();
  return true;
}
bool take(const Json& json, std::optional<double>& value) {
  return take(json, value.emplace());
}
bool take(const Json& json, std::uint64_t& value) {
  if (!json.is_number_unsigned()) return false;
  value = json.get<std::uint64_t>();
  return true;
}
bool take(const Json& json, Role& value) {
  if (!json.is_string()) return false;
  const std::optional<Role> role = role_named(json.get_ref<const std::string&>());
  if (role) value = *role;
  return role.has_value();
}

constexpr std::array<const char*, std::variant_size_v<Member>> kWanted{
    "text", "a number", "a whole number of 0 or more", "test, train or tune", "a number"};

Status take_field(const Json& json, const Field& field, RunRecord& record) {
  const auto found = json.find(field.name);
  if (found == json.end()) {
    if (std::holds_alternative<std::optional<double> RunRecord::*>(field.member)) return {};
    return Error{fmt::format("key '{}' is missing", field.name)};
  }
  const bool taken =
      std::visit([&](auto member) { return take(*found, record.*member); }, field.member);
  if (taken) return {};
  return Error{fmt::format("{}: found {}, wanted {}", field.name, found->dump(),
                           kWanted[field.member.index()])};
}

Status no_other_keys(const Json& json) {
  for (const auto& item : json.items()) {
    const auto same = [&](const Field& field) { return item.key() == field.name; };
    if (std::ranges::none_of(kFields, same)) {
      return Error{fmt::format("unknown key '{}'", item.key())};
    }
  }
  return {};
}

}  // namespace

std::string RunKey::text() const {
  const std::string run = fmt::format("{}, day {}", policy, seed);
  return setting.empty() ? run : fmt::format("{}, {}", setting, run);
}

Status check_record(const RunRecord& record) {
  for (const Field& field : kFields) {
    const Status status = std::visit(
        [&](auto member) { return check_value(field.name, record.*member); }, field.member);
    if (!status) return status;
  }
  if (role_of_seed(record.seed) == record.role) return {};
  return Error{fmt::format("seed: found {}, which is a day of role {}, wanted one of role {}",
                           record.seed, role_name(role_of_seed(record.seed)),
                           role_name(record.role))};
}

std::string format_record(const RunRecord& record) {
  Json json;
  for (const Field& field : kFields) {
    std::visit([&](auto member) { put(json, field.name, record.*member); }, field.member);
  }
  return json.dump();
}

Result<RunRecord> parse_record(std::string_view line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Error{"found no JSON object, wanted one run a line"};
  RunRecord record;
  for (const Field& field : kFields) {
    if (const Status taken = take_field(json, field, record); !taken) return taken.error();
  }
  if (const Status known = no_other_keys(json); !known) return known.error();
  if (const Status sound = check_record(record); !sound) return sound.error();
  return record;
}

}  // namespace partita::experiment
