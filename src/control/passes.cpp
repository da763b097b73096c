#include "control/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace partita::control {
namespace {

// Each starts a job or leaves one less to choose from, so there are few.
constexpr int kRoundsMax = 100;

}  // namespace

bool Passes::due() const {
  const bool rested = state_.now - last_ >= state_.options.pass_interval;
  return state_.policies.timer_due(state_.now) || (state_.pass_due && rested);
}

Micros Passes::next() const {
  const Micros timer = state_.policies.next_timer();
  return state_.pass_due ? std::min(timer, last_ + state_.options.pass_interval) : timer;
}

void Passes::run() {
  ++count_;
  last_ = state_.now;
  state_.pass_due = false;
  decide();
  // What started changes what quotas leave, for those that were declined and for those behind them.
  for (int round = 1; round < kRoundsMax && moves_.settle_quotas(); ++round) decide();
  log_notes();
}

void Passes::log_notes() {
  log_reservations();
  for (std::string& note : state_.policies.take_notes()) {
    state_.turn.event(kNoJob, "guard", std::move(note));
  }
}

// Each is said once, when it is made.
void Passes::log_reservations() {
  const decide::Reservations* reservations = state_.queue.reservations();
  if (reservations == nullptr || reservations->made() == reservations_said_) return;
  for (const decide::Reservation& each : reservations->all()) {
    if (each.made < state_.now) continue;
    state_.turn.event(
        state_.jobs.of(each.handle).id, "reserved",
        fmt::format("{} is kept for it; expected in {:.0f} s", state_.name_of(each.gpu, each.place),
                    std::max(0.0, (each.start - state_.now).to_seconds())));
  }
  reservations_said_ = reservations->made();
}

void Passes::decide() {
  repartition();
  state_.fleet.renew_requests();
  moves_.serve_claims();
  state_.pass_due = false;  // whom it sent back is seen now
  if (state_.preempts()) moves_.look_at_running();
  moves_.carry_out(state_.policies.decide(state_.view, state_.fleet.take_changed()));
}

void Passes::show_forecaster() {
  if (!state_.owned.forecaster) return;
  state_.fleet.list_courses(courses_);
  state_.owned.forecaster->take_position(state_.view, courses_, lengths_.outlook());
}

void Passes::repartition() {
  state_.policies.repartition(
      state_.view, state_.events,
      [this](const decide::LayoutRequest& asked) { state_.fleet.request(asked.gpu, asked.layout); },
      [this] { show_forecaster(); });
}

}  // namespace partita::control
