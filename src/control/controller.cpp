#include "control/controller.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "control/dry_run.h"
#include "control/planted.h"

namespace partita::control {
namespace {

template <typename... Handlers>
struct Dispatch : Handlers... {
  using Handlers::operator()...;
};
template <typename... Handlers>
Dispatch(Handlers...) -> Dispatch<Handlers...>;  // clang 14 needs to be told

void note(const Storage& storage, ControlState& state) {
  const bool before = state.no_space.empty();
  state.no_space = storage.space ? std::string() : storage.why;
  if (before == storage.space) return;
  if (!storage.space) return state.turn.event(kNoJob, "disk-full", storage.why);
  state.turn.event(kNoJob, "disk-space", "jobs are taken and started again");
  state.note_event();
}

}  // namespace

Controller::Controller(Options options, const mig::GpuModel& model, std::vector<GpuFact> gpus,
                       std::unique_ptr<decide::Scheduler> scheduler,
                       std::unique_ptr<decide::Repartitioner> repartitioner,
                       std::unique_ptr<decide::PositionForecaster> forecaster)
    : Controller(std::move(options), model, std::move(gpus),
                 {std::move(scheduler), std::move(repartitioner), std::move(forecaster)}) {}

Controller::Controller(Options options, const mig::GpuModel& model, std::vector<GpuFact> gpus,
                       Policies policies)
    : state_(std::move(options), model, std::move(gpus), std::move(policies)),
      slices_(state_),
      flow_(state_),
      attempts_(state_, flow_, slices_),
      devices_(state_, flow_, slices_, attempts_),
      moves_(state_, flow_, slices_, attempts_),
      passes_(state_, moves_, attempts_.lengths) {}

Controller::~Controller() = default;

void Controller::rehearse_with(std::unique_ptr<DryRun> dry_run) {
  CHECK(state_.options.shadow);
  dry_run_ = std::move(dry_run);
}

Turn Controller::step(Micros now, std::span<const Input> inputs) {
  begin_turn(now);
  for (const Input& input : inputs) take(input);
  state_.gates.look_at_quotas();
  flow_.settle();
  slices_.remove_vanished();
  moves_.serve_claims();
  if (state_.now >= moves_.next_look()) {
    moves_.forget_look();
    state_.pass_due = true;
  }
  if (state_.no_space.empty() || PLANTED(start_without_space)) make_decisions();
  if (dry_run_) dry_run_->step(state_.now, inputs, state_.turn.replies(), state_.turn);
  return finish_turn();
}

// In shadow mode the copy of the dry run decides.
void Controller::make_decisions() {
  if (!state_.options.shadow && passes_.due()) passes_.run();
  if (const auto ran_min = moves_.preempt_after()) devices_.preempt_for_layouts(*ran_min);
  slices_.begin_layout_steps();
}

void Controller::begin_turn(Micros now) {
  // The wall clock may be set back; ours never is.
  state_.now = state_.view.now = std::max(state_.now, now);
  state_.quotas.set_time(state_.now);
  state_.turn.begin(state_.now);
}

Turn Controller::finish_turn() {
  Turn turn = state_.turn.finish(state_.jobs, state_.options.limits.finished_jobs_kept_max);
  turn.batch.totals = state_.totals.take_changed();
  for (store::TotalRow& row : state_.quotas.take_changed()) {
    turn.batch.totals.push_back(std::move(row));
  }
  return turn;
}

void Controller::take(const Input& input) {
  std::visit(Dispatch{[this](const Submit& each) { flow_.take(each); },
                      [this](const Cancel& each) { attempts_.take(each); },
                      [this](const CancelJobs& each) { attempts_.take(each); },
                      [this](const Hold& each) { flow_.take(each); },
                      [this](const Requeue& each) { attempts_.take(each); },
                      [this](const launch::Report& each) { attempts_.take(each); },
                      [this](const CreateDone& each) { slices_.take(each); },
                      [this](const DestroyDone& each) { slices_.take(each); },
                      [this](const Remark& each) {
                        state_.turn.event(kNoJob, each.kind, each.text);
                        state_.totals.reported({}, each.text);
                      },
                      [this](const GpuHealth& each) {
                        state_.totals.reported(each.gpu, each.why);
                        devices_.take(each);
                      },
                      [this](const Storage& each) { note(each, state_); },
                      [this](const auto& each) { devices_.take(each); }},
             input);
}

// On a full disk nothing is begun, so nothing is to be done but with what comes in.
std::optional<Micros> Controller::next_wake() const {
  if (!state_.no_space.empty()) return {};
  const Micros decisions = dry_run_                ? dry_run_->next_wake()
                           : state_.options.shadow ? Micros::max()
                                                   : passes_.next();
  const Micros own = std::min({decisions, moves_.next_look(), state_.quotas.next_time()});
  const auto retry = state_.fleet.next_retry(state_.now);
  if (own == Micros::max()) return retry;
  return std::min(own, retry.value_or(own));
}

const decide::Reservation* Controller::reservation_of(const Job& job) const {
  const decide::Reservations* reservations = state_.queue.reservations();
  if (reservations == nullptr || !job.handle.valid()) return nullptr;
  return reservations->find(state_.active[job.handle].id);
}

const Job* Controller::claimant_of(cluster::SliceId slice) const {
  const auto job = state_.claims.claimant(slice);
  return job ? find(*job) : nullptr;
}

}  // namespace partita::control
