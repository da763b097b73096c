// History: what ended jobs used, over a span of time, a page at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/record.h"
#include "control/controller.h"

namespace partita::control {

// One ended job and what all its attempts used together.
struct UsageView {
  JobNumber id;
  std::uint32_t uid = 0;
  std::string_view name;
  std::string_view state;
  Micros submitted;
  Micros ended;
  std::int64_t attempts = 0;
  double energy_j = 0;
  double slice_s = 0;  // seconds times compute slices

  static void fields(auto& self, auto&& visit) {
    visit_named(visit, "id", self.id, "uid", self.uid, "name", self.name, "state", self.state,
                "submitted_s", self.submitted, "ended_s", self.ended, "attempts", self.attempts,
                "energy_j_estimated", self.energy_j, "slice_s", self.slice_s);
  }
};

struct HistoryView {
  std::vector<UsageView> jobs;       // in order of their numbers
  std::optional<JobNumber> next;     // ask for those after this one; nothing: that was all
  std::optional<Micros> kept_since;  // jobs that ended before may have been forgotten

  static void fields(auto& self, auto&& visit) {
    visit_named(visit, "jobs", self.jobs, "next", self.next, "kept_since_s", self.kept_since);
  }
};

struct HistoryQuery {
  Micros since;                  // ended then or later
  Micros until = Micros::max();  // ended before
  JobNumber after = kNoJob;      // of higher numbers only
  std::size_t rows_max = 1'000;
  std::optional<std::uint32_t> uid;  // of one user only
};

// Looks at 20,000 jobs at most, so that no request holds others up; `next` says where to go on.
inline constexpr std::size_t kHistoryScanMax = 20'000;
HistoryView history_of(const Controller& controller, const HistoryQuery& query);

}  // namespace partita::control
