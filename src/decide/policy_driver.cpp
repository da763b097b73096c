#include "decide/policy_driver.h"

#include <utility>

namespace partita::decide {

void PolicyDriver::begin(const View& view) {
  scheduler_.begin(view);
  requests_.clear();
  events_at_last_turn_ = 0;
  if (repartitioner_ == nullptr) return;
  watches_ = repartitioner_->watches_arrivals();
  every_events_ = repartitioner_->every_events();
  set_timer(view.now);
}

void PolicyDriver::set_timer(Micros now) {
  next_timer_ = repartitioner_->next_time(now).value_or(Micros::max());
}

std::vector<std::string> PolicyDriver::take_notes() {
  std::vector<std::string> notes;
  const auto keep = [&](std::string note) {
    if (!note.empty()) notes.push_back(std::move(note));
  };
  if (repartitioner_ != nullptr) keep(repartitioner_->take_note());
  keep(scheduler_.take_note());
  return notes;
}

}  // namespace partita::decide
