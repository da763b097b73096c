// Timetable: the same layouts at the same times of every day.
#pragma once

#include <vector>

#include "decide/repartitioner.h"

namespace partita::policies {

// At `time_of_day` the GPUs are to have these layouts, one a GPU.
struct TimetableSwitch {
  Micros time_of_day;
  std::vector<mig::Layout> layouts;
};

// Time 0 is midnight; the day begins with the last switch of the day before.
class Timetable : public decide::Repartitioner {
 public:
  static constexpr Micros kDay = Micros::seconds(86'400);

  // REQUIRES: at least one switch, in ascending order of time, all times within a day.
  explicit Timetable(std::vector<TimetableSwitch> switches);

  std::vector<mig::Layout> initial_layouts(const decide::View& view) override;
  std::optional<Micros> next_time(Micros now) const override;
  void decide(const decide::View& view, std::vector<decide::LayoutRequest>& requests) override;

 private:
  const TimetableSwitch& in_force(Micros now) const;

  std::vector<TimetableSwitch> switches_;
};

}  // namespace partita::policies
