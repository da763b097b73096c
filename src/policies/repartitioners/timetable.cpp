#include "policies/repartitioners/timetable.h"

#include "base/check.h"

namespace partita::policies {

Timetable::Timetable(std::vector<TimetableSwitch> switches) : switches_(std::move(switches)) {
  CHECK(!switches_.empty());
  CHECK(switches_.front().time_of_day >= Micros{0} && switches_.back().time_of_day < kDay);
  for (std::size_t i = 1; i < switches_.size(); ++i) {
    CHECK(switches_[i - 1].time_of_day < switches_[i].time_of_day);
  }
}

const TimetableSwitch& Timetable::in_force(Micros now) const {
  const Micros time_of_day{now.count % kDay.count};
  const TimetableSwitch* latest = &switches_.back();
  for (const TimetableSwitch& entry : switches_) {
    if (entry.time_of_day <= time_of_day) latest = &entry;
  }
  return *latest;
}

std::vector<mig::Layout> Timetable::initial_layouts(const decide::View& view) {
  return in_force(view.now).layouts;
}

std::optional<Micros> Timetable::next_time(Micros now) const {
  const Micros midnight{now.count - now.count % kDay.count};
  for (const TimetableSwitch& entry : switches_) {
    if (midnight + entry.time_of_day > now) return midnight + entry.time_of_day;
  }
  return midnight + kDay + switches_.front().time_of_day;
}

void Timetable::decide(const decide::View& view, std::vector<decide::LayoutRequest>& requests) {
  const TimetableSwitch& wanted = in_force(view.now);
  for (std::uint32_t gpu = 0; gpu < wanted.layouts.size(); ++gpu) {
    requests.push_back({GpuId{gpu}, wanted.layouts[gpu]});
  }
}

}  // namespace partita::policies
