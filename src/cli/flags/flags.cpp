#include "cli/flags/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "cli/text/table.h"
#include "workload/csv.h"

namespace partita::cli {
namespace {

// Letters to insert, drop or replace to make one of the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::string range_text(const FlagRecord& flag) {
  if (!flag.has_range()) return {};
  const bool says_unit = flag.unit.empty() || flag.kind == ValueKind::kSeconds;
  const std::string unit = says_unit ? "" : fmt::format(" {}", flag.unit);
  return fmt::format(" from {} to {}{}", shown_number(flag.low), shown_number(flag.high), unit);
}

// A number within the range of the record, or nothing.
template <typename Number>
std::optional<ParsedValue> in_range(const FlagRecord& flag, const Number& number, double value) {
  if (flag.has_range() && (value < flag.low || value > flag.high)) return {};
  return ParsedValue{number};
}

// What the kind of the record says of the text; nothing when it is not of that kind.
std::optional<ParsedValue> of_kind(const FlagRecord& flag, std::string_view text) {
  switch (flag.kind) {
    case ValueKind::kSwitch:
      return ParsedValue{text == "true"};
    case ValueKind::kNumber: {
      const auto number = parse_double(text);
      return number ? in_range(flag, *number, *number) : std::nullopt;
    }
    case ValueKind::kCount: {
      const auto count = parse_int(text);
      if (!count || *count < 0) return {};
      return in_range(flag, static_cast<std::uint64_t>(*count), static_cast<double>(*count));
    }
    case ValueKind::kSeconds: {
      const auto seconds = parse_seconds(text);
      return seconds ? in_range(flag, *seconds, seconds->to_seconds()) : std::nullopt;
    }
    case ValueKind::kName: {
      const std::vector<std::string> names = flag.choices();
      const bool known = std::find(names.begin(), names.end(), text) != names.end();
      return known ? std::optional(ParsedValue{}) : std::nullopt;
    }
    default:
      return text.empty() ? std::nullopt : std::optional(ParsedValue{});
  }
}

}  // namespace

const VerbRecord* find_verb(std::string_view name) {
  const auto records = verb_records();
  const auto found = std::ranges::find(records, name, &VerbRecord::name);
  return found == records.end() ? nullptr : &*found;
}

const FlagRecord* find_flag(std::string_view name) {
  const auto records = flag_records();
  const auto found = std::ranges::find(records, name, &FlagRecord::name);
  return found == records.end() ? nullptr : &*found;
}

std::string shown_name(const FlagRecord& flag) {
  if (flag.positional()) return std::string(flag.name);
  return fmt::format("--{}", flag.typed.empty() ? flag.name : flag.typed);
}

std::string scenario_key(const FlagRecord& flag) {
  if (flag.section.empty()) return {};
  std::string key = fmt::format("{}.{}", flag.section, flag.name);
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

std::string wanted(const FlagRecord& flag) {
  switch (flag.kind) {
    case ValueKind::kNumber:
      return "a number" + range_text(flag);
    case ValueKind::kCount:
      return "a whole number" + range_text(flag);
    case ValueKind::kSeconds:
      return "seconds" + range_text(flag);
    case ValueKind::kName:
      return fmt::format("one of {}", fmt::join(flag.choices(), ", "));
    default:
      return std::string(flag.metavar);
  }
}

Result<ParsedValue> parse_value(const FlagRecord& flag, std::string_view text) {
  std::optional<ParsedValue> value = of_kind(flag, text);
  if (!value) {
    return Error{fmt::format("found {}, wanted {}", workload::shown(text), wanted(flag))};
  }
  return flag.parse == nullptr ? *std::move(value) : flag.parse(text);
}

std::string nearest_name(std::string_view typed, std::span<const std::string> names) {
  constexpr std::size_t kTypedMax = 64;
  if (typed.size() > kTypedMax) return {};
  std::string nearest;
  std::size_t least = std::max<std::size_t>(2, typed.size() / 3) + 1;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(typed, name);
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

}  // namespace partita::cli
