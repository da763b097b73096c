#include "control/quotas/quota_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "workload/job.h"

namespace partita::control {
namespace {

constexpr std::int64_t kCountMost = 1'000'000'000;
constexpr double kUseMost = 1e18;

std::vector<std::string> amount_names() {
  std::vector<std::string> names{"jobs", "running", "slices"};
  for (const int size : workload::kSliceSizes) names.push_back(fmt::format("{}g", size));
  names.insert(names.end(), {"gpu-hours", "joules"});
  return names;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  line = line.substr(0, line.find('#'));
  constexpr std::string_view kBlanks = " \t\r";
  while (!(line = trim(line)).empty()) {
    const auto end = std::min(line.find_first_of(kBlanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

// One file, line by line; errors say which.
class QuotaFile {
 public:
  QuotaFile(std::string_view file, const AccountNumbers& accounts)
      : file_(file), accounts_(accounts) {}

  Status take(std::string_view line) {
    ++line_;
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) return {};
    if (words.front() == "period") return take_period(words);
    if (words.front() == name_of(QuotaHolder::kDefault)) return take_rule(words, 1);
    if (words.front() == name_of(QuotaHolder::kUser) ||
        words.front() == name_of(QuotaHolder::kGroup)) {
      return take_rule(words, 2);
    }
    return wrong(
        fmt::format("'{}' begins no line; wanted user, group, default or period", words.front()));
  }

  QuotaRules take_rules() { return std::move(rules_); }

 private:
  Error wrong(const std::string& what) const {
    return {fmt::format("{}:{}: {}", file_, line_, what)};
  }

  Status take_period(const std::vector<std::string_view>& words) {
    if (period_line_ > 0) {
      return wrong(fmt::format("the period is given already, in line {}", period_line_));
    }
    period_line_ = line_;
    for (const QuotaPeriod each : {QuotaPeriod::kDay, QuotaPeriod::kWeek, QuotaPeriod::kMonth}) {
      if (words.size() != 2 || words[1] != name_of(each)) continue;
      rules_.period = each;
      return {};
    }
    return wrong(fmt::format("period is '{}'; wanted one of day, week, month",
                             fmt::join(words.begin() + 1, words.end(), " ")));
  }

  // `head`: the words before the amounts.
  Status take_rule(const std::vector<std::string_view>& words, std::size_t head) {
    QuotaRule rule;
    if (words.front() == name_of(QuotaHolder::kGroup)) rule.kind = QuotaHolder::kGroup;
    if (head == 1) rule.kind = QuotaHolder::kDefault;
    if (words.size() <= head) {
      return wrong(fmt::format("{} is all of the line; wanted {}amounts, for example slices=7",
                               fmt::join(words, " "), words.size() < head ? "a name and " : ""));
    }
    if (head == 2) rule.name = words[1];
    if (const Status found = find_id(rule); !found) return found;
    for (std::size_t i = head; i < words.size(); ++i) {
      if (const Status taken = take_amount(words[i], rule.most); !taken) return taken;
    }
    for (std::size_t i = 0; i < rules_.rules.size(); ++i) {
      const QuotaRule& other = rules_.rules[i];
      if (other.kind != rule.kind || other.id != rule.id) continue;
      return wrong(fmt::format("{}{}{} has a line already, line {}", name_of(rule.kind),
                               rule.name.empty() ? "" : " ", rule.name, lines_[i]));
    }
    rules_.rules.push_back(std::move(rule));
    lines_.push_back(line_);
    return {};
  }

  Status find_id(QuotaRule& rule) const {
    if (rule.kind == QuotaHolder::kDefault) return {};
    if (const auto number = parse_int(rule.name)) {
      constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max() - 1;
      if (*number < 0 || *number > kMost) {
        return wrong(fmt::format("{} {}; wanted a name or a number from 0 to {}",
                                 name_of(rule.kind), rule.name, kMost));
      }
      rule.id = static_cast<std::uint32_t>(*number);
      return {};
    }
    const auto id =
        rule.kind == QuotaHolder::kGroup ? accounts_.group(rule.name) : accounts_.user(rule.name);
    if (!id) {
      return wrong(fmt::format("this machine has no {} '{}'", name_of(rule.kind), rule.name));
    }
    rule.id = *id;
    return {};
  }

  Status take_amount(std::string_view word, QuotaAmounts& most) const {
    const auto equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const std::vector<std::string> known = amount_names();
    if (equals == std::string_view::npos || std::ranges::find(known, name) == known.end()) {
      return wrong(fmt::format("'{}' is no amount; wanted NAME=NUMBER with one of the names {}",
                               word, fmt::join(known, ", ")));
    }
    const std::string_view value = word.substr(equals + 1);
    if (name == "gpu-hours") return take_use(name, value, most.gpu_hours);
    if (name == "joules") return take_use(name, value, most.joules);
    if (name == "jobs") return take_count(name, value, most.jobs);
    if (name == "running") return take_count(name, value, most.running);
    if (name == "slices") return take_count(name, value, most.slices);
    const std::int64_t size = *parse_int(name.substr(0, name.size() - 1));
    std::optional<std::int64_t> count;
    const auto same = std::ranges::find(most.instances, size, &QuotaAmounts::OfSize::size);
    if (same != most.instances.end()) count = same->most;
    if (const Status taken = take_count(name, value, count); !taken) return taken;
    most.instances.push_back({size, *count});
    return {};
  }

  Status take_count(std::string_view name, std::string_view value,
                    std::optional<std::int64_t>& count) const {
    if (count) return wrong(fmt::format("{} is there twice", name));
    count = parse_int(value);
    if (count && *count >= 0 && *count <= kCountMost) return {};
    return wrong(
        fmt::format("{} is '{}'; wanted a whole number from 0 to {}", name, value, kCountMost));
  }

  Status take_use(std::string_view name, std::string_view value, std::optional<double>& use) const {
    if (use) return wrong(fmt::format("{} is there twice", name));
    use = parse_double(value);
    if (use && std::isfinite(*use) && *use >= 0 && *use <= kUseMost) return {};
    return wrong(fmt::format("{} is '{}'; wanted a number from 0 to {:g}", name, value, kUseMost));
  }

  std::string_view file_;
  const AccountNumbers& accounts_;
  QuotaRules rules_;
  std::vector<int> lines_;  // of the rules
  int line_ = 0;
  int period_line_ = 0;
};

}  // namespace

std::string_view name_of(QuotaPeriod period) {
  switch (period) {
    case QuotaPeriod::kDay:
      return "day";
    case QuotaPeriod::kWeek:
      return "week";
    case QuotaPeriod::kMonth:
      return "month";
  }
  return "week";
}

Micros length_of(QuotaPeriod period) {
  constexpr std::int64_t kDaySeconds = 86'400;
  const int days = period == QuotaPeriod::kDay ? 1 : period == QuotaPeriod::kWeek ? 7 : 30;
  return Micros::seconds(days * kDaySeconds);
}

Micros start_of(QuotaPeriod period, Micros now) {
  constexpr Micros kFirstMonday = Micros::seconds(4 * std::int64_t{86'400});
  const Micros first = period == QuotaPeriod::kWeek ? kFirstMonday : Micros{};
  const std::int64_t length = length_of(period).count;
  const std::int64_t since = (now - first).count;
  const std::int64_t whole = since / length - (since % length < 0 ? 1 : 0);
  return first + Micros{whole * length};
}

std::string_view name_of(QuotaHolder kind) {
  switch (kind) {
    case QuotaHolder::kUser:
      return "user";
    case QuotaHolder::kGroup:
      return "group";
    case QuotaHolder::kDefault:
      return "default";
  }
  return "user";
}

Result<QuotaRules> parse_quotas(std::string_view text, std::string_view file,
                                const AccountNumbers& accounts) {
  QuotaFile rules(file, accounts);
  for (const std::string_view line : split(text, '\n')) {
    if (const Status taken = rules.take(line); !taken) return taken.error();
  }
  return rules.take_rules();
}

}  // namespace partita::control
