#include "cli/flags/live_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

#include "base/text.h"

namespace partita::cli {
namespace {

constexpr double kDay = 86'400;
constexpr std::size_t kRangeJobsMax = 100'000;

Error wanted(std::string_view text, std::string_view what) {
  return {fmt::format("found '{}', wanted {}", text, what)};
}

// The number at the front; the rest stays in `text`.
std::optional<double> take_number(std::string_view& text) {
  std::size_t size = 0;
  while (size < text.size() && ((text[size] >= '0' && text[size] <= '9') || text[size] == '.')) {
    ++size;
  }
  const auto number = parse_double(text.substr(0, size));
  text.remove_prefix(size);
  return number;
}

// Days since 1970 of a date of our calendar.
std::optional<std::int64_t> days_of(std::int64_t year, std::int64_t month, std::int64_t day) {
  std::tm date{};
  date.tm_year = static_cast<int>(year - 1900);
  date.tm_mon = static_cast<int>(month - 1);
  date.tm_mday = static_cast<int>(day);
  const std::time_t time = ::timegm(&date);
  if (date.tm_mon != month - 1 || date.tm_mday != day) return {};
  return time / static_cast<std::int64_t>(kDay);
}

// "YYYY-MM-DDTHH:MM[:SS][Z]"
std::optional<double> iso_seconds(std::string_view text) {
  if (text.ends_with('Z')) text.remove_suffix(1);
  if (text.size() != 16 && text.size() != 19) return {};
  const bool shaped = text[4] == '-' && text[7] == '-' && (text[10] == 'T' || text[10] == ' ') &&
                      text[13] == ':' && (text.size() == 16 || text[16] == ':');
  const auto part = [&](std::size_t at, std::size_t size) {
    return parse_int(text.substr(at, size)).value_or(-1);
  };
  const std::int64_t year = part(0, 4);
  const std::int64_t hour = part(11, 2);
  const std::int64_t minute = part(14, 2);
  const std::int64_t second = text.size() == 19 ? part(17, 2) : 0;
  const bool in_range = year >= 1970 && part(5, 2) >= 1 && part(5, 2) <= 12 && part(8, 2) >= 1 &&
                        hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 &&
                        second < 60;
  if (!shaped || !in_range) return {};
  const auto days = days_of(year, part(5, 2), part(8, 2));
  if (!days) return {};
  return static_cast<double>(*days) * kDay +
         static_cast<double>(hour * 3600 + minute * 60 + second);
}

}  // namespace

Result<std::optional<double>> parse_memory(std::string_view text) {
  if (text == "auto") return std::optional<double>();
  std::string_view rest = text;
  const auto number = take_number(rest);
  const std::string unit = lower(rest);
  const bool gib = unit == "g" || unit == "gb" || unit == "gib";
  const bool mib = unit == "m" || unit == "mb" || unit == "mib";
  if (!number || !(*number > 0) || *number > 1e7 || (!gib && !mib)) {
    return wanted(text, "auto, or memory such as 10G or 512M");
  }
  return std::optional<double>(gib ? *number : *number / 1024);
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  std::string_view rest = text;
  const auto number = take_number(rest);
  const std::string unit = lower(rest);
  constexpr std::array<std::string_view, 5> kUnits{"", "k", "m", "g", "t"};
  for (std::size_t i = 0; number && i < kUnits.size(); ++i) {
    const double bytes = *number * std::pow(1024.0, static_cast<double>(i));
    const bool named = unit == kUnits[i] || (i > 0 && unit == std::string(kUnits[i]) + "ib");
    if (named && bytes >= 1 && bytes <= 1e15) return static_cast<std::uint64_t>(bytes);
  }
  return wanted(text, "a number of bytes such as 512M or 1G");
}

Result<Micros> parse_time_span(std::string_view text) {
  std::string_view rest = text;
  double seconds = 0;
  bool good = !text.empty();
  while (good && !rest.empty()) {
    const auto number = take_number(rest);
    good = number.has_value();
    if (!good) break;
    double unit = 1;
    if (!rest.empty()) {
      switch (rest.front()) {
        case 's':
          break;
        case 'm':
          unit = 60;
          break;
        case 'h':
          unit = 3600;
          break;
        case 'd':
          unit = kDay;
          break;
        default:
          good = false;
      }
      rest.remove_prefix(1);
    }
    seconds += *number * unit;
  }
  if (!good || !(seconds > 0) || seconds > 1e9) {
    return wanted(text, "a time such as 90, 20m, 1h30m or 2d, at most 11574d");
  }
  return micros_from_seconds(seconds);
}

Result<Deadline> parse_deadline(std::string_view text) {
  if (text.starts_with('+')) {
    const Result<Micros> span = parse_time_span(text.substr(1));
    if (!span) return span.error();
    return Deadline{*span, true};
  }
  const auto seconds = iso_seconds(text);
  if (!seconds)
    return wanted(text, "+TIME such as +2h, or an instant such as 2026-11-15T18:30:00Z");
  return Deadline{micros_from_seconds(*seconds)};
}

Result<Since> parse_since(std::string_view text) {
  if (const auto seconds = iso_seconds(text)) return Since{micros_from_seconds(*seconds)};
  const Result<Micros> span = parse_time_span(text);
  if (span) return Since{*span, true};
  return wanted(text, "a time ago such as 7d, or an instant such as 2026-11-15T18:30:00Z");
}

Result<std::vector<std::string>> parse_variables(std::string_view text) {
  std::vector<std::string> variables;
  for (const std::string_view entry : split(text, '\n')) {
    const auto equals = entry.find('=');
    if (equals == 0 || equals == std::string_view::npos) return wanted(entry, "NAME=VALUE");
    variables.emplace_back(entry);
  }
  return variables;
}

Result<SliceTimes> parse_slice_times(std::string_view text) {
  SliceTimes times;
  for (const std::string_view part : split(text, ',')) {
    const auto mark = part.find("g=");
    const auto size =
        mark == std::string_view::npos ? std::nullopt : parse_int(part.substr(0, mark));
    if (!size || (*size != 1 && *size != 2 && *size != 3 && *size != 4 && *size != 7)) {
      return wanted(part, "SIZEg=TIME with a size of 1, 2, 3, 4 or 7, such as 1g=20m");
    }
    const bool again = std::ranges::any_of(times, [&](const auto& t) { return t.first == *size; });
    if (again) return wanted(text, fmt::format("one time for slices of {}g", *size));
    const Result<Micros> time = parse_time_span(part.substr(mark + 2));
    if (!time) return time.error();
    times.emplace_back(static_cast<int>(*size), *time);
  }
  return times;
}

Result<std::vector<std::int64_t>> parse_job_numbers(std::string_view text) {
  std::vector<std::int64_t> numbers;
  // Several words stand on lines of their own.
  std::string joined(text);
  std::ranges::replace(joined, '\n', ',');
  for (const std::string_view part : split(joined, ',')) {
    const auto dash = part.find('-');
    const auto first = parse_int(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_int(part.substr(dash + 1));
    const bool good = first && last && *first >= 1 && *last >= *first;
    if (!good) return wanted(part, "numbers of jobs such as 12 or 12,14-20");
    const auto left = static_cast<std::int64_t>(kRangeJobsMax - numbers.size());
    if (*last - *first >= left) return wanted(part, fmt::format("at most {} jobs", kRangeJobsMax));
    for (std::int64_t i = *first; i <= *last; ++i) numbers.push_back(i);
  }
  return numbers;
}

Result<std::vector<std::string>> parse_after(std::string_view text) {
  std::vector<std::string> jobs;
  for (const std::string_view line : split(text, '\n')) {
    for (const std::string_view part : split(line, ',')) {
      const auto colon = part.find(':');
      const std::string how(colon == std::string_view::npos ? ":ok" : part.substr(colon));
      const auto numbers = parse_job_numbers(part.substr(0, colon));
      if (!numbers || (how != ":ok" && how != ":any")) {
        return wanted(part, "the job to run after, such as 12, 12:any or 14-20:ok");
      }
      for (const std::int64_t number : *numbers) jobs.push_back(std::to_string(number) + how);
    }
  }
  return jobs;
}

Result<ArrayShape> parse_array(std::string_view text) {
  const auto percent = text.find('%');
  const auto jobs = parse_int(text.substr(0, percent));
  const bool limited = percent != std::string_view::npos;
  const auto limit = limited ? parse_int(text.substr(percent + 1)) : jobs;
  constexpr std::int64_t most = 10'000;  // of one submission, as the daemon takes them
  if (!jobs || *jobs < 1 || *jobs > most || !limit || *limit < 1 || *limit > most) {
    return wanted(text, fmt::format("1 to {} jobs, and after a % how many run at once, such as "
                                    "100 or 100%8",
                                    most));
  }
  ArrayShape shape{static_cast<std::uint64_t>(*jobs), {}};
  if (limited) shape.limit = static_cast<std::uint64_t>(*limit);
  return shape;
}

Result<std::int64_t> parse_priority(std::string_view text) {
  constexpr std::int64_t kMost = 1'000'000;
  const auto number = parse_int(text);
  if (number && *number >= -kMost && *number <= kMost) return *number;
  return wanted(text, fmt::format("a whole number from {} to {}", -kMost, kMost));
}

Result<std::vector<std::string>> split_command(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0' && c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
      inside = true;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
      inside = true;
    } else if (quote == '\0' && (c == ' ' || c == '\t')) {
      if (inside) words.push_back(std::exchange(word, {}));
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (quote != '\0') return Error{fmt::format("a quote is open in '{}'", text)};
  if (inside) words.push_back(word);
  if (words.empty()) return wanted(text, "a command");
  return words;
}

std::string shown_instant(double seconds) {
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm utc{};
  ::gmtime_r(&whole, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%SZ", &utc);
  return text.data();
}

std::string shown_span(double seconds) {
  if (seconds < 0) return "-" + shown_span(-seconds);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const std::int64_t whole = std::llround(seconds);
  const std::int64_t minutes = whole / 60;
  if (minutes < 60) return fmt::format("{}m {}s", minutes, whole % 60);
  return fmt::format("{}h {}m", minutes / 60, minutes % 60);
}

}  // namespace partita::cli
