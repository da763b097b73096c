#include "workload/readers/timestamp.h"

#include <algorithm>
#include <chrono>

namespace partita::workload {
namespace {

// Exactly `digits` digits from the front.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return {};
  int value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return {};
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<std::chrono::sys_days> take_date(std::string_view& text) {
  const auto year = take_number(text, 4);
  if (!year || !take(text, '-')) return {};
  const auto month = take_number(text, 2);
  if (!month || !take(text, '-')) return {};
  const auto day = take_number(text, 2);
  if (!day) return {};
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return {};
  return std::chrono::sys_days{date};
}

std::optional<Micros> take_clock(std::string_view& text) {
  const auto hour = take_number(text, 2);
  if (!hour || *hour > 23 || !take(text, ':')) return {};
  const auto minute = take_number(text, 2);
  if (!minute || *minute > 59 || !take(text, ':')) return {};
  const auto second = take_number(text, 2);
  if (!second || *second > 60) return {};  // 60: a leap second
  return Micros::seconds(*hour * 3600 + *minute * 60 + *second);
}

std::optional<Micros> take_decimals(std::string_view& text) {
  if (!take(text, '.')) return Micros{0};
  std::int64_t unit = 100'000;
  std::int64_t count = 0;
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    count += (text[digits] - '0') * unit;
    unit /= 10;
    ++digits;
  }
  if (digits == 0) return {};
  text.remove_prefix(digits);
  return Micros{count};
}

}  // namespace

std::optional<Micros> parse_timestamp(std::string_view text) {
  const auto date = take_date(text);
  if (!date || (!take(text, ' ') && !take(text, 'T'))) return {};
  const std::optional<Micros> clock = take_clock(text);
  if (!clock) return {};
  const std::optional<Micros> decimals = take_decimals(text);
  if (!decimals || (!text.empty() && text != "Z" && text != "+00:00")) return {};
  return Micros::seconds(date->time_since_epoch().count() * 86'400LL) + *clock + *decimals;
}

}  // namespace partita::workload
