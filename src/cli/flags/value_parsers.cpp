#include "cli/flags/value_parsers.h"

#include <fmt/format.h>

#include <optional>

#include <algorithm>

#include "base/text.h"
#include "cli/flags/limits.h"
#include "policies/registry.h"
#include "workload/csv.h"

namespace partita::cli {
namespace {

using decide::Preemption;

Error found_wanted(std::string_view found, std::string_view wanted) {
  return {fmt::format("found {}, wanted {}", workload::shown(found), wanted)};
}

}  // namespace

Result<Span> parse_span(std::string_view text) {
  const auto colon = text.find(':');
  const auto low = parse_double(text.substr(0, colon));
  const auto high = colon == std::string_view::npos ? low : parse_double(text.substr(colon + 1));
  if (colon == std::string_view::npos || !low || !high) {
    return found_wanted(text, "LOW:HIGH, for example 1.0:1.5");
  }
  if (*low > *high) return found_wanted(text, "LOW:HIGH with LOW not above HIGH");
  return Span{*low, *high};
}

Result<experiment::Policy> parse_policy(std::string_view word) {
  std::optional<Error> first;
  for (std::size_t slash = word.find('/'); slash != std::string_view::npos;
       slash = word.find('/', slash + 1)) {
    const experiment::Policy policy{std::string(word.substr(0, slash)),
                                    std::string(word.substr(slash + 1))};
    const auto facts = policies::scheduler_facts(policy.scheduler);
    if (facts) return policy;
    if (!first) first = facts.error();
  }
  return first.value_or(Error{fmt::format("'{}': wanted SCHEDULER/REPARTITIONER", word)});
}

Result<Preemption> parse_preemption(std::string_view text) {
  if (text == "free") return Preemption{Preemption::Mode::kFree, {}};
  if (text == "none") return Preemption{Preemption::Mode::kNone, {}};
  constexpr std::pair<std::string_view, Preemption::Mode> kWithCost[] = {
      {"cost=", Preemption::Mode::kCost}, {"pays=", Preemption::Mode::kPays}};
  for (const auto& [prefix, mode] : kWithCost) {
    if (!text.starts_with(prefix)) continue;
    const auto cost = parse_seconds(text.substr(prefix.size()));
    if (cost && cost->count >= 0 && cost->to_seconds() <= kSecondsMax) {
      return Preemption{mode, *cost};
    }
  }
  return found_wanted(text,
                      "free, none, cost=SECONDS or pays=SECONDS up to 1e11, for example pays=30");
}

std::string format_preemption(const Preemption& preemption) {
  switch (preemption.mode) {
    case Preemption::Mode::kFree:
      return "free";
    case Preemption::Mode::kNone:
      return "none";
    case Preemption::Mode::kCost:
      return "cost=" + format_seconds(preemption.cost);
    case Preemption::Mode::kPays:
      return "pays=" + format_seconds(preemption.cost);
  }
  return {};
}

Result<std::optional<Micros>> parse_reserve_after(std::string_view text) {
  if (text == "off") return std::optional<Micros>{};
  const auto after = parse_seconds(text);
  const bool good = after && after->count >= 0 && after->to_seconds() <= kSecondsMax;
  if (!good) return found_wanted(text, "SECONDS up to 1e11, or off, for example 600");
  return std::optional<Micros>{*after};
}

std::string format_reserve_after(const std::optional<Micros>& after) {
  return after ? format_seconds(*after) : "off";
}

std::vector<std::string> fair_share_names() {
  return {"off", "priority", "slice-seconds", "joules"};
}

Result<decide::FairOrder> parse_fair_share(std::string_view text) {
  const auto names = fair_share_names();
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) return found_wanted(text, "off, priority, slice-seconds or joules");
  return static_cast<decide::FairOrder>(found - names.begin());
}

std::string format_fair_share(decide::FairOrder order) {
  return fair_share_names()[static_cast<std::size_t>(order)];
}

Result<std::vector<std::pair<std::string, double>>> parse_shares(std::string_view text) {
  constexpr double kShareMax = 1e6;
  std::vector<std::pair<std::string, double>> shares;
  for (const std::string_view part : split(text, ',')) {
    const auto equals = part.rfind('=');
    const bool named = equals != std::string_view::npos && equals > 0;
    const auto share = named ? parse_double(part.substr(equals + 1)) : std::nullopt;
    const bool good = share && *share > 0 && *share <= kShareMax;
    const std::string name(trim(part.substr(0, equals)));
    const bool twice =
        std::ranges::find(shares, name, &std::pair<std::string, double>::first) != shares.end();
    if (!good || name.empty() || twice) {
      return found_wanted(part, "USER=SHARE with a share above 0 and up to 1e6, each user once");
    }
    shares.emplace_back(name, *share);
  }
  return shares;
}

namespace {

// Sets one figure of the rule from KEY=VALUE; false when the key or the value is none.
bool set_rule_figure(decide::EarlyRestart& rule, std::string_view part) {
  const auto equals = part.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view key = part.substr(0, equals);
  const auto value = parse_double(part.substr(equals + 1));
  if (key == "z") {
    if (!value || *value < 0 || *value > 100) return false;
    rule.z = *value;
    return true;
  }
  constexpr std::int64_t kReadingsMax = 10'000;
  const auto count = parse_int(part.substr(equals + 1));
  if (!count || *count < 1 || *count > kReadingsMax) return false;
  const auto whole = static_cast<std::uint32_t>(*count);
  if (key == "readings") return (rule.readings = whole) >= 3;
  if (key == "window") return (rule.window = whole) >= 3;
  if (key == "least") return (rule.least = whole) >= 3;
  return key == "confirmations" && (rule.confirmations = whole) >= 1;
}

}  // namespace

Result<std::optional<decide::EarlyRestart>> parse_early_restart(std::string_view text) {
  if (text == "off") return std::optional<decide::EarlyRestart>{};
  decide::EarlyRestart rule;
  if (text == "on") return std::optional(rule);
  for (const std::string_view part : split(text, ',')) {
    if (set_rule_figure(rule, part)) continue;
    return found_wanted(part,
                        "off, on, or z=0 to 100, readings, window or least of 3 to 10000, "
                        "confirmations of 1 to 10000, separated by commas");
  }
  return std::optional(rule);
}

std::string format_early_restart(const std::optional<decide::EarlyRestart>& rule) {
  if (!rule) return "off";
  return fmt::format("readings={},window={},least={},z={},confirmations={}", rule->readings,
                     rule->window, rule->least, rule->z, rule->confirmations);
}

Result<sim::RepartitionCost> parse_repartition_cost(std::string_view text) {
  if (text == "paper") return sim::RepartitionCost::kPaper;
  if (text == "measured") return sim::RepartitionCost::kMeasured;
  return found_wanted(text, "paper or measured");
}

Result<std::vector<double>> parse_numbers(std::string_view text, std::size_t count, double high) {
  std::vector<double> numbers;
  for (const std::string_view part : split(text, ',')) {
    const auto number = parse_double(trim(part));
    if (!number || *number < 0 || *number > high) {
      return found_wanted(part, fmt::format("a number from 0 to {}", high));
    }
    numbers.push_back(*number);
  }
  if (numbers.size() == count) return numbers;
  return Error{
      fmt::format("found {} numbers, wanted {} separated by commas", numbers.size(), count)};
}

Result<std::vector<int>> parse_widths(std::string_view text) {
  constexpr std::int64_t kWidthMax = 4096;
  constexpr std::size_t kLayersMax = 8;
  std::vector<int> widths;
  for (const std::string_view part : split(text, ',')) {
    const auto width = parse_int(trim(part));
    const bool good = width && *width >= 1 && *width <= kWidthMax && widths.size() < kLayersMax;
    if (!good) return found_wanted(text, "up to eight widths from 1 to 4096 such as 64,64");
    widths.push_back(static_cast<int>(*width));
  }
  return widths;
}

Result<std::vector<std::string>> parse_schedulers(std::string_view text) {
  std::vector<std::string> names;
  if (text == "all") {
    for (const policies::SchedulerRow& row : policies::schedulers()) names.push_back(row.name);
    return names;
  }
  for (const std::string_view part : split(text, ',')) {
    const std::string name(trim(part));
    const auto facts = policies::scheduler_facts(name);
    if (!facts) return facts.error();
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return Error{fmt::format("scheduler '{}' stands twice in the list", name)};
    }
    names.push_back(name);
  }
  return names;
}

Result<double> parse_share(std::string_view text) {
  const bool percent = text.ends_with('%');
  const auto number = parse_double(percent ? text.substr(0, text.size() - 1) : text);
  const double share = number.value_or(-1) / (percent ? 100 : 1);
  if (share < 0 || share > 1) {
    return Error{fmt::format("found '{}', wanted a share such as 5% or 0.05", text)};
  }
  return share;
}

}  // namespace partita::cli
