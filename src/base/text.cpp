#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace partita {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::optional<double> parse_double(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::optional<Micros> parse_seconds(std::string_view text) {
  // Digits with at most six decimals go through integers; everything else (exponents, more
  // decimals) through the nearest double, whose error is far below a microsecond in range.
  const auto dot = text.find('.');
  const std::string_view whole = text.substr(0, dot);
  const std::string_view decimals = dot == std::string_view::npos ? "" : text.substr(dot + 1);
  const auto all_digits = [](std::string_view part) {
    return std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  constexpr std::size_t kWholeDigitsMax = 12;
  if (!whole.empty() && whole.size() <= kWholeDigitsMax && decimals.size() <= 6 &&
      all_digits(whole) && all_digits(decimals)) {
    std::int64_t count = 0;
    for (const char c : whole) count = count * 10 + (c - '0');
    for (std::size_t i = 0; i < 6; ++i) {
      count = count * 10 + (i < decimals.size() ? decimals[i] - '0' : 0);
    }
    return Micros{count};
  }
  const std::optional<double> seconds = parse_double(text);
  if (!seconds || std::abs(*seconds) >= 1e12) return {};
  return micros_from_seconds(*seconds);
}

std::string format_seconds(Micros time) {
  const bool negative = time.count < 0;
  const auto magnitude = negative ? 0 - static_cast<std::uint64_t>(time.count)
                                  : static_cast<std::uint64_t>(time.count);
  std::string text = fmt::format("{}{}", negative ? "-" : "", magnitude / 1'000'000);
  const std::uint64_t fraction = magnitude % 1'000'000;
  if (fraction != 0) {
    text += fmt::format(".{:06}", fraction);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text;
}

Error unknown_name(std::string_view what, std::string_view name,
                   std::span<const std::string> known) {
  return {fmt::format("unknown {} '{}'; known: {}", what, name, fmt::join(known, ", "))};
}

}  // namespace partita
