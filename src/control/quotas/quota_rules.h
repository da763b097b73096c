// QuotaRules: the most that users and groups may have, as an operator writes it in a file.
//
// docs/guides/operating.md has the file's form, docs/concepts/fairness.md what the amounts mean.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/record.h"
#include "base/result.h"
#include "base/units.h"

namespace partita::control {

// Values are in journals.
enum class QuotaPeriod : std::uint8_t { kDay = 0, kWeek = 1, kMonth = 2 };
std::string_view name_of(QuotaPeriod period);
// Periods follow each other in UTC: days from midnight on, weeks from Monday on, months of 30 days
// from 1970-01-01 on.
Micros length_of(QuotaPeriod period);
// Of the one that the instant is in.
Micros start_of(QuotaPeriod period, Micros now);

enum class QuotaHolder : std::uint8_t {
  kUser = 0,
  kGroup = 1,
  kDefault = 2,  // each user without a line of their own
};
std::string_view name_of(QuotaHolder kind);

// The most of each; nothing: as much as there is.
struct QuotaAmounts {
  struct OfSize {
    std::int64_t size = 0;  // compute slices
    std::int64_t most = 0;

    static auto parts(auto& self) { return std::tie(self.size, self.most); }
    bool operator==(const OfSize&) const = default;
  };
  std::optional<std::int64_t> jobs;     // that have not ended
  std::optional<std::int64_t> running;  // jobs that hold a slice
  std::optional<std::int64_t> slices;   // compute slices held at once
  std::vector<OfSize> instances;        // GPU instances of that size held at once
  std::optional<double> gpu_hours;      // of whole GPUs, in a period
  std::optional<double> joules;         // estimated, in a period

  // Whether something is counted from period to period.
  bool of_period() const { return gpu_hours || joules; }
  static auto parts(auto& self) {
    return std::tie(self.jobs, self.running, self.slices, self.instances, self.gpu_hours,
                    self.joules);
  }
  bool operator==(const QuotaAmounts&) const = default;
};

struct QuotaRule {
  QuotaHolder kind = QuotaHolder::kUser;
  std::string name;      // as in the file
  std::uint32_t id = 0;  // uid or gid
  QuotaAmounts most;

  static void fields(auto& self, auto&& visit) {
    visit(Field{.most = static_cast<double>(QuotaHolder::kDefault)}, self.kind);
    visit_each(visit, self.name, self.id, self.most);
  }
};

struct QuotaRules {
  QuotaPeriod period = QuotaPeriod::kWeek;
  std::vector<QuotaRule> rules;

  bool any() const { return !rules.empty(); }
  static void fields(auto& self, auto&& visit) {
    visit(Field{.most = static_cast<double>(QuotaPeriod::kMonth)}, self.period);
    visit_each(visit, self.rules);
  }
};

// Numbers of the machine's accounts; nothing: there is none of that name.
struct AccountNumbers {
  std::function<std::optional<std::uint32_t>(const std::string&)> user;
  std::function<std::optional<std::uint32_t>(const std::string&)> group;
};

// `file` is what errors call it. Names that are numbers are taken for such.
Result<QuotaRules> parse_quotas(std::string_view text, std::string_view file,
                                const AccountNumbers& accounts);

}  // namespace partita::control
