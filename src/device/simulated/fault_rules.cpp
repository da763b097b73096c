#include "device/simulated/fault_rules.h"

#include <fmt/format.h>

#include <limits>

#include "base/text.h"

namespace partita::device {
namespace {

constexpr std::string_view kWanted =
    "expected F1 to F19, with gpu=N, after=N, times=N, xid=N, gi=N, pid=N, seconds=X, orphan, "
    "vanish or mismatch after it, separated by commas";

Status set_number(FaultRule& rule, std::string_view name, std::int64_t value) {
  const auto number = static_cast<int>(value);
  if (name == "gpu") {
    rule.gpu = GpuId{static_cast<std::uint32_t>(value)};
  } else if (name == "after") {
    rule.after = number;
  } else if (name == "times") {
    rule.times = number;
  } else if (name == "xid") {
    rule.xid = number;
  } else if (name == "gi") {
    rule.gi = static_cast<std::uint32_t>(value);
  } else if (name == "pid") {
    rule.pids.push_back(number);
  } else {
    return Error{fmt::format("'{}': {}", name, kWanted)};
  }
  return {};
}

Status set_option(FaultRule& rule, std::string_view option) {
  if (option == "orphan" || option == "vanish" || option == "mismatch") {
    rule.orphan = rule.orphan || option == "orphan";
    rule.vanish = rule.vanish || option == "vanish";
    rule.mismatch = rule.mismatch || option == "mismatch";
    return {};
  }
  const std::size_t equals = option.find('=');
  if (equals == std::string_view::npos) return Error{fmt::format("'{}': {}", option, kWanted)};
  const std::string_view name = option.substr(0, equals);
  const std::string_view text = option.substr(equals + 1);
  if (name == "seconds") {
    rule.seconds = parse_double(text);
    if (rule.seconds && *rule.seconds >= 0 && *rule.seconds <= 1e6) return {};
    return Error{fmt::format("seconds={}: expected seconds from 0", text)};
  }
  const std::optional<std::int64_t> value = parse_int(text);
  const std::int64_t low = name == "times" ? -1 : 0;
  if (!value || *value < low || *value > std::numeric_limits<int>::max()) {
    return Error{fmt::format("{}={}: expected a whole number from {}", name, text, low)};
  }
  return set_number(rule, name, *value);
}

Result<FaultRule> parse_rule(std::string_view text) {
  const auto parts = split(text, ',');
  FaultRule rule;
  const std::string_view name = trim(parts.front());
  const std::optional<std::int64_t> number =
      name.starts_with('F') ? parse_int(name.substr(1)) : std::nullopt;
  if (!number || *number < 1 || *number > kFaultsMax) {
    return Error{fmt::format("fault '{}': {}", name, kWanted)};
  }
  rule.number = static_cast<int>(*number);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Status status = set_option(rule, trim(parts[i]));
    if (!status) return Error{fmt::format("fault {}: {}", name, status.error().message)};
  }
  return rule;
}

}  // namespace

Result<std::vector<FaultRule>> parse_fault_rules(std::string_view text) {
  std::vector<FaultRule> rules;
  for (const std::string_view part : split(text, ';')) {
    if (trim(part).empty()) continue;
    Result<FaultRule> rule = parse_rule(trim(part));
    if (!rule) return rule.error();
    rules.push_back(std::move(*rule));
  }
  return rules;
}

}  // namespace partita::device
