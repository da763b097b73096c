#include "control/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace partita::control {

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
  if (state_.options.shadow) {
    run_shadow();
  } else {
    decide();
  }
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

void Passes::say_layout(const decide::LayoutRequest& request) {
  const std::string layout = mig::format_layout(state_.model(), request.layout);
  std::string& said = said_of_gpu_[request.gpu];
  const bool same = request.layout == state_.fleet.cluster().gpus[request.gpu.value].layout;
  if (same || said == layout) return;
  said = layout;
  state_.turn.event(kNoJob, "shadow",
                    fmt::format("would cut GPU {} to {}", request.gpu.value, layout));
}

// What the policies would do, said once for each change of mind; the slices that would be made are
// not made, so most of what they say is about layouts.
void Passes::run_shadow() {
  const auto say = [this](const decide::LayoutRequest& request) { say_layout(request); };
  state_.policies.relieve(state_.view, say);
  const bool cheap = !state_.owned.forecaster;
  if (cheap || state_.policies.turn_due(state_.now, state_.events)) {
    show_forecaster();
    state_.policies.ask_for_layouts(state_.view, state_.events, say);
  }
  const decide::Decision& decision =
      state_.policies.decide(state_.view, state_.fleet.take_changed());
  for (const decide::Move& move : decision.moves) {
    const JobNumber id = state_.jobs.of(move.job).id;
    const std::string place =
        state_.subject_of(cluster::gpu_of(move.to), cluster::start_of(move.to));
    std::string& said = said_of_job_[id];
    if (said != place) state_.turn.event(id, "shadow", fmt::format("would start on {}", place));
    said = place;
    state_.policies.put_back(state_.view, move.job);
  }
  if (!decision.moves.empty()) state_.fleet.note_change();
}

}  // namespace partita::control
