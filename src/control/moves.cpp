#include "control/moves.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/round_up.h"
#include "control/planted.h"

namespace partita::control {
namespace {

using cluster::SliceId;
using cluster::SliceState;

// A job that may be moved has made progress for as long as so many restarts cost; when its slice is
// to be repartitioned the same holds.
constexpr std::int64_t kRunMin = 3;

}  // namespace

std::optional<Micros> Moves::preempt_after() const {
  if (state_.options.shadow) return {};
  if (state_.options.preempt_after || !state_.preempts()) return state_.options.preempt_after;
  return Micros{kRunMin * state_.view.preemption.cost.count};
}

// The job on the slice, from now on, as policies reckon.
Micros Moves::expected_end(const Job& job, SliceId slice) const {
  const decide::ActiveJob& active = state_.active[job.handle];
  const Micros restart = active.running()
                             ? std::max(state_.view.preemption.cost, active.overhead(state_.now))
                             : active.restart;
  const std::uint8_t size = state_.fleet.cluster().slice(slice).size_index;
  return state_.now + restart + round_up(active.work_at(state_.now) * active.time[size]);
}

std::string Moves::outlook(const Job& job, SliceId slice) const {
  const Micros end = expected_end(job, slice);
  std::string text =
      fmt::format("expected to be done in {:.0f} s", (end - state_.now).to_seconds());
  if (!job.spec.deadline) return text;
  const double spare = (*job.spec.deadline - end).to_seconds();
  return text + (spare >= 0 ? fmt::format(", {:.0f} s before its deadline", spare)
                            : fmt::format(", {:.0f} s late", -spare));
}

void Moves::carry_out(const decide::Decision& decision) {
  bool moved = false;
  const auto taker_of = [&](SliceId slice) -> const Job* {
    const auto taker = std::ranges::find(decision.moves, slice, &decide::Move::to);
    return taker == decision.moves.end() ? nullptr : &state_.jobs.of(taker->job);
  };
  for (auto each = decision.moves.begin(); each != decision.moves.end(); ++each) {
    const decide::Move& move = *each;
    Job& job = state_.jobs.of(move.job);
    const SliceId from = state_.active[move.job].slice;
    if (from.valid()) {
      CHECK(state_.preempts());
      // Displaced, and placed after all when another job left its slice in the same decision.
      const bool again =
          std::find_if(each + 1, decision.moves.end(), [&](const decide::Move& later) {
            return later.job == move.job;
          }) != decision.moves.end();
      if (again) continue;
      interrupt(job, move.to, taker_of(from));
      moved = true;
      continue;
    }
    CHECK(move.to.valid());
    if (state_.fleet.cluster().slice(move.to).state == SliceState::kIdle) {
      // Policies know what each job may start on. Of several that one decision starts, those that
      // come first may leave nothing to the others.
      quotas_let(job, move.to) ? attempts_.start(job, move.to) : attempts_.decline(job, move.to);
    } else {
      claim(job, move.to);
    }
  }
  if (!moved) return;
  serve_claims();
  state_.fleet.note_change();  // the scheduler takes slices for idle that are still to be left
}

bool Moves::settle_quotas() {
  if (!state_.quotas.any()) return false;
  state_.gates.look_at_quotas();
  flow_.settle();
  return state_.pass_due;
}

bool Moves::quotas_let(const Job& job, SliceId slice) const {
  if (PLANTED(ignore_quota)) return true;
  return state_.quotas.may_start(job.owner, state_.fleet.cluster().slice(slice).profile);
}

// `taker`: who gets its slice; null when nobody does yet.
void Moves::interrupt(Job& job, SliceId to, const Job* taker) {
  CHECK(flow_.may_be_moved(job) && job.state() == JobState::kRunning);
  decide::ActiveJob& active = state_.active[job.handle];
  const SliceId from = active.slice;
  std::string text;
  if (to.valid()) {
    text = fmt::format("goes on on {}: {} there, in {:.0f} s here; ", state_.name_of(to),
                       outlook(job, to), (active.finish - state_.now).to_seconds());
  }
  if (taker != nullptr) text += fmt::format("job {} takes its slice; ", taker->id);
  state_.turn.event(job.id, to.valid() ? "moved" : "preempted",
                    text + "its checkpoint command is run, then it is stopped");

  const Micros free_at = taker == nullptr ? state_.now : expected_end(*taker, from);
  active.restart = std::max(state_.view.preemption.cost, active.overhead(state_.now));
  active.work = job.work_left = active.work_at(state_.now);
  active.forget_on_time();
  if (!to.valid()) {
    // The scheduler has put it among those that wait; it is not to start before it has stopped.
    active.slice = {};
    state_.policies.withdraw(state_.view, job.handle);
    active.slice = from;
  }
  active.progress_from = active.finish = free_at;
  const std::string why = to.valid()         ? "goes on on " + state_.name_of(to)
                          : taker != nullptr ? fmt::format("job {} takes its slice", taker->id)
                                             : "it waits again";
  flow_.move_to(job, JobState::kRestarting, "preempted: " + why, store::StopCause::kPreempted);
  attempts_.stop(job, !PLANTED(stop_without_saving));
  if (to.valid()) state_.claims.set(job.id, to);
}

// REQUIRES: whoever is on the slice leaves it in the same decision.
void Moves::claim(Job& job, SliceId slice) {
  Job* on = state_.job_on(slice);
  CHECK(on != nullptr);
  state_.turn.event(job.id, "claims",
                    fmt::format("takes {} when job {} has been stopped there: {}",
                                state_.name_of(slice), on->id, outlook(job, slice)));
  job.progress.reason = fmt::format("takes the slice of job {}", on->id);
  state_.turn.touch(job);
  if (PLANTED(take_slice_too_early)) {
    attempts_.leave_slice(*on);
    return attempts_.start(job, slice);
  }
  state_.claims.set(job.id, slice);
}

// Whether the job can still be expected to start there.
bool Moves::claim_stands(const Job& job, SliceId slice) const {
  const cluster::Slice& place = state_.fleet.cluster().slice(slice);
  if (!place.exists() || place.closing || slices_.vanished(slice)) return false;
  if (!state_.fleet.usable(cluster::gpu_of(slice))) return false;
  if ((state_.active[job.handle].fits >> place.profile & 1U) == 0) return false;
  if (state_.fleet.holder(slice) == Fleet::Holder::kClaimed) return true;
  if (state_.fleet.holder(slice) != Fleet::Holder::kNobody) return false;
  if (place.state == SliceState::kIdle) return true;
  const Job* on = state_.job_on(slice);
  return on != nullptr &&
         (on->state() == JobState::kRestarting || on->state() == JobState::kCancelling);
}

void Moves::serve_claims() {
  const auto& claims = state_.claims.all();
  for (auto each = claims.begin(); each != claims.end();) {
    const auto [id, slice] = *each++;
    Job& job = state_.jobs.at(id);
    const bool idle = state_.fleet.cluster().slice(slice).state == SliceState::kIdle;
    const bool kept = state_.fleet.holder(slice) == Fleet::Holder::kClaimed;
    const bool starts = job.state() == JobState::kQueued && (idle || kept);
    if (!claim_stands(job, slice) || (starts && !quotas_let(job, slice))) {
      flow_.give_up_claim(job);
      continue;
    }
    if (starts && state_.no_space.empty()) {
      flow_.forget_claim(job);
      attempts_.start(job, slice);
    } else if (idle) {
      state_.fleet.keep(slice, state_.active[job.handle].id, expected_end(job, slice));
    }
  }
}

// As in the simulator, a job that outlives its estimate is believed to be half done. Else such
// a job would seem to leave its slice at any moment, for hours. And where little happens, whether a
// job that waits should displace another is asked again once that one may be moved.
void Moves::look_at_running() {
  next_look_ = Micros::max();
  const bool some_wait = state_.jobs.count(JobState::kQueued) > state_.claims.all().size();
  for (std::uint32_t i = 0; i < state_.fleet.cluster().slices.size(); ++i) {
    const cluster::Slice& slice = state_.fleet.cluster().slices[i];
    if (slice.state != SliceState::kBusy) continue;
    if (state_.fleet.holder(SliceId{i}) != Fleet::Holder::kNobody) continue;
    decide::ActiveJob& active = state_.active[slice.job];
    if (active.finish <= state_.now) {
      Job& job = state_.jobs.of(slice.job);
      if (job.state() != JobState::kRunning) continue;
      believe_more(job);
    }
    next_look_ = std::min(next_look_, active.finish);
    const Micros movable =
        active.progress_from + Micros{kRunMin * state_.view.preemption.cost.count};
    if (some_wait && active.resumable && movable > state_.now)
      next_look_ = std::min(next_look_, movable);
  }
}

void Moves::believe_more(Job& job) {
  decide::ActiveJob& active = state_.active[job.handle];
  active.work = job.believed;
  job.believed += job.believed;
  active.progress_from = state_.now;
  active.finish = state_.now + round_up(active.work * active.time[active.size_index]);
  active.forget_on_time();
}

}  // namespace partita::control
