#include "decide/policy_driver.h"

#include <utility>

namespace partita::decide {

void PolicyDriver::begin(const View& view) {
  if (books_ != nullptr) books_->begin(view);
  if (reservations_ != nullptr) reservations_->begin(view);
  scheduler_.begin(view);
  requests_.clear();
  events_at_last_turn_ = 0;
  restricted_ = false;
  if (repartitioner_ == nullptr) return;
  watches_ = repartitioner_->watches_arrivals();
  every_events_ = repartitioner_->every_events();
  set_timer(view.now);
}

void PolicyDriver::set_timer(Micros now) {
  next_turn_ = repartitioner_->next_time(now).value_or(Micros::max());
}

bool PolicyDriver::unhide(const View& view, JobHandle job) {
  const bool hidden = reservations_->hides(view, job);
  if (hidden) reservations_->forget(job);
  return hidden;
}

// One that runs may come back at once, and is hidden until it does otherwise.
bool PolicyDriver::withdrawn(const View& view, JobHandle job) {
  reservations_->leaves(job);
  return reservations_->hides(view, job);
}

bool PolicyDriver::came_back(const View& view, JobHandle job) {
  const bool hidden = reservations_->hides(view, job);
  if (view.jobs[job].running()) return hidden;
  if (hidden) reservations_->forget(job);
  reservations_->waits(view, job);
  return false;
}

void PolicyDriver::ask_scheduler(const View& view, bool layouts_changed) {
  if (layouts_changed) scheduler_.layout_changed(view);
  scheduler_.decide(view, decision_);
}

const Decision& PolicyDriver::decide_by_rules(const View& view, bool layouts_changed) {
  decision_.moves.clear();
  if (books_ != nullptr) books_->settle(view);
  const bool restricts = reservations_ != nullptr && reservations_->restricts();
  if (restricts) {
    // The scheduler gets an empty decision, as always, and what starts without it follows.
    own_moves_.clear();
    reservations_->start_ready(view, own_moves_);
    for (const Move& move : own_moves_) scheduler_.job_withdrawn(view, move.job);
    const View shown{.now = view.now,
                     .cluster = reservations_->shown(view, own_moves_),
                     .jobs = view.jobs,
                     .preemption = view.preemption,
                     .power = view.power,
                     .et_a = view.et_a,
                     .forecaster = view.forecaster};
    ask_scheduler(shown, true);
    const std::size_t before = decision_.moves.size() + own_moves_.size();
    decision_.moves.insert(decision_.moves.end(), own_moves_.begin(), own_moves_.end());
    reservations_->backfill(view, decision_.moves);
    for (std::size_t i = before; i < decision_.moves.size(); ++i) {
      scheduler_.job_withdrawn(view, decision_.moves[i].job);
    }
  } else {
    ask_scheduler(view, layouts_changed || restricted_);
  }
  restricted_ = restricts;
  if (reservations_ != nullptr) reservations_->decided(view, decision_.moves);
  if (books_ != nullptr) books_->settle(view, decision_.moves);
  return decision_;
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
