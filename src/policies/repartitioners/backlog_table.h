// BacklogTable: a timetable that also looks at the backlog: hour of the day and jobs for each GPU
// say which mix of layouts the fleet should have. What a learned policy becomes when it is written
// down for people (learn/distill.h), and a file an operator can edit.
//
// A line is HOUR JOBS MIX: from that hour on, and from that many jobs for each GPU on, the fleet is
// to have that mix (policies/learned/mix_menu.h). `#` begins a comment.
//
//   0  0    1*8
//   0  1.5  1*4,2*4
//   8  0    1*7,3*1
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "decide/repartitioner.h"
#include "policies/learned/fleet_mix.h"
#include "policies/learned/mix_menu.h"

namespace partita::policies {

struct BacklogRule {
  struct Row {
    int hour = 0;
    double jobs_per_gpu = 0;
    std::size_t entry = 0;  // of the menu
  };
  MixMenu menu;
  std::vector<Row> rows;  // by hour, then by jobs

  // The row of the latest hour that has begun (else of the last of the day before) with the most
  // jobs that are there; the first of that hour when there are fewer.
  std::size_t entry_for(int hour, double jobs_per_gpu) const;
};

// Lines in order of hour and jobs. Errors name the line.
Result<BacklogRule> parse_backlog_rule(std::string_view text, const mig::GpuModel& model);

class BacklogTable : public decide::Repartitioner {
 public:
  BacklogTable(BacklogRule rule, std::uint32_t gpus);

  std::vector<mig::Layout> initial_layouts(const decide::View& view) override;
  std::optional<Micros> next_time(Micros) const override { return {}; }
  std::uint64_t every_events() const override { return kEveryEvents; }
  void decide(const decide::View& view, std::vector<decide::LayoutRequest>& requests) override;

 private:
  static constexpr std::uint64_t kEveryEvents = 5;
  static constexpr int kMovesMax = 8;

  BacklogRule rule_;
  std::uint32_t gpus_;
  FleetMix mix_;
};

// From a file of rules.
Result<std::unique_ptr<decide::Repartitioner>> load_backlog_table(const std::string& path,
                                                                  const mig::GpuModel& model,
                                                                  std::uint32_t gpus);

}  // namespace partita::policies
