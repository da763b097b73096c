// The part of the controller that carries out decisions, those about jobs that run among them.
//
// A job that runs is moved by running its checkpoint command, stopping it and starting it again;
// that takes seconds. Until then whoever is to be on a slice next has a claim to it. Policies see
// the slice as busy until that job will have ended, and nobody who takes part can be moved. Claims
// are not written down: after a crash those who are being stopped wait again when they have been,
// the others wait, and policies decide anew.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "control/controller.h"
#include "control/planted.h"

namespace partita::control {
namespace {

using cluster::SliceId;
using cluster::SliceState;

// A job that may be moved has made progress for as long as so many restarts cost; when its slice is
// to be cut anew the same holds.
constexpr std::int64_t kRunMin = 3;

}  // namespace

std::optional<SliceId> Controller::claim_of(std::int64_t job) const {
  const auto found = claims_.find(job);
  if (found == claims_.end()) return {};
  return found->second;
}

const Job* Controller::claimant_of(SliceId slice) const {
  const auto found =
      std::ranges::find_if(claims_, [&](const auto& claim) { return claim.second == slice; });
  return found == claims_.end() ? nullptr : find(found->first);
}

std::optional<Micros> Controller::preempt_after() const {
  if (options_.shadow || options_.preempt_after || !preempts()) {
    return options_.shadow ? std::nullopt : options_.preempt_after;
  }
  return Micros{kRunMin * view_.preemption.cost.count};
}

// Half of its attempts are left for what it cannot help.
bool Controller::may_be_moved(const Job& job) const {
  const bool settled = job.state() == JobState::kQueued || job.state() == JobState::kRunning;
  return settled && !job.spec.checkpoint.empty() &&
         job.progress.attempt <= options_.limits.attempts_max / 2;
}

// The job on the slice, from now on, as policies reckon.
Micros Controller::expected_end(const Job& job, SliceId slice) const {
  const decide::ActiveJob& active = active_[job.handle];
  const Micros restart =
      active.running() ? std::max(view_.preemption.cost, active.overhead(now_)) : active.restart;
  const std::uint8_t size = fleet_.cluster().slice(slice).size_index;
  const double takes = std::max(1.0, std::ceil(active.work_at(now_) * active.time[size]));
  return now_ + restart + Micros{static_cast<std::int64_t>(takes)};
}

std::string Controller::outlook(const Job& job, SliceId slice) const {
  const Micros end = expected_end(job, slice);
  std::string text = fmt::format("expected to be done in {:.0f} s", (end - now_).to_seconds());
  if (!job.spec.deadline) return text;
  const double spare = (*job.spec.deadline - end).to_seconds();
  return text + (spare >= 0 ? fmt::format(", {:.0f} s before its deadline", spare)
                            : fmt::format(", {:.0f} s late", -spare));
}

void Controller::carry_out(const decide::Decision& decision) {
  bool moved = false;
  const auto taker_of = [&](SliceId slice) -> const Job* {
    const auto taker = std::ranges::find(decision.moves, slice, &decide::Move::to);
    return taker == decision.moves.end() ? nullptr : find(job_of_handle_[taker->job.value]);
  };
  for (auto each = decision.moves.begin(); each != decision.moves.end(); ++each) {
    const decide::Move& move = *each;
    Job& job = jobs_.at(job_of_handle_[move.job.value]);
    const SliceId from = active_[move.job].slice;
    if (from.valid()) {
      CHECK(preempts());
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
    if (fleet_.cluster().slice(move.to).state == SliceState::kIdle) {
      start(job, move.to);
    } else {
      claim(job, move.to);
    }
  }
  if (!moved) return;
  serve_claims();
  fleet_.note_change();  // the scheduler takes slices for idle that are still to be left
}

// `taker`: who gets its slice; null when nobody does yet.
void Controller::interrupt(Job& job, SliceId to, const Job* taker) {
  CHECK(may_be_moved(job) && job.state() == JobState::kRunning);
  decide::ActiveJob& active = active_[job.handle];
  const SliceId from = active.slice;
  std::string text;
  if (to.valid()) {
    text = fmt::format("goes on on {}: {} there, in {:.0f} s here; ", place_name(to),
                       outlook(job, to), (active.finish - now_).to_seconds());
  }
  if (taker != nullptr) text += fmt::format("job {} takes its slice; ", taker->id);
  event(job.id, to.valid() ? "moved" : "preempted",
        text + "its checkpoint command is run, then it is stopped");

  const Micros free_at = taker == nullptr ? now_ : expected_end(*taker, from);
  active.restart = std::max(view_.preemption.cost, active.overhead(now_));
  active.work = job.work_left = active.work_at(now_);
  active.forget_on_time();
  if (!to.valid()) {
    // The scheduler has put it among those that wait; it is not to start before it has stopped.
    active.slice = {};
    scheduler_->job_withdrawn(view_, job.handle);
    active.slice = from;
  }
  active.progress_from = active.finish = free_at;
  const std::string why = to.valid()         ? "goes on on " + place_name(to)
                          : taker != nullptr ? fmt::format("job {} takes its slice", taker->id)
                                             : "it waits again";
  move_to(job, JobState::kRestarting, fmt::format("{}: {}", kPreempted, why));
  stop(job, !PLANTED(stop_without_saving));
  if (to.valid()) claims_[job.id] = to;
}

// REQUIRES: whoever is on the slice leaves it in the same decision.
void Controller::claim(Job& job, SliceId slice) {
  const Job* on = job_on(slice);
  CHECK(on != nullptr);
  event(job.id, "claims",
        fmt::format("takes {} when job {} has been stopped there: {}", place_name(slice), on->id,
                    outlook(job, slice)));
  job.progress.reason = fmt::format("takes the slice of job {}", on->id);
  touch(job);
  if (PLANTED(take_slice_too_early)) {
    leave_slice(jobs_.at(on->id));
    return start(job, slice);
  }
  claims_[job.id] = slice;
}

// Whether the job can still be expected to start there.
bool Controller::claim_stands(const Job& job, SliceId slice) const {
  const cluster::Slice& place = fleet_.cluster().slice(slice);
  if (!place.exists() || place.closing || vanished_.contains(slice.value)) return false;
  if (!fleet_.usable(cluster::gpu_of(slice))) return false;
  if ((active_[job.handle].fits >> place.profile & 1U) == 0) return false;
  if (fleet_.holder(slice) == Fleet::Holder::kClaimed) return true;
  if (fleet_.holder(slice) != Fleet::Holder::kNobody) return false;
  if (place.state == SliceState::kIdle) return true;
  const Job* on = job_on(slice);
  return on != nullptr &&
         (on->state() == JobState::kRestarting || on->state() == JobState::kCancelling);
}

// Starts the jobs whose time has come, keeps slices that are free already for those that are still
// being stopped elsewhere, and gives up what cannot be any more.
void Controller::serve_claims() {
  for (auto each = claims_.begin(); each != claims_.end();) {
    const auto [id, slice] = *each++;
    Job& job = jobs_.at(id);
    if (!claim_stands(job, slice)) {
      give_up_claim(job);
      continue;
    }
    const bool idle = fleet_.cluster().slice(slice).state == SliceState::kIdle;
    const bool kept = fleet_.holder(slice) == Fleet::Holder::kClaimed;
    if (job.state() == JobState::kQueued && (idle || kept)) {
      forget_claim(id);
      start(job, slice);
    } else if (idle) {
      fleet_.keep(slice, active_[job.handle].id, expected_end(job, slice));
    }
  }
}

void Controller::forget_claim(std::int64_t job) {
  const auto found = claims_.find(job);
  if (found == claims_.end()) return;
  const SliceId slice = found->second;
  claims_.erase(found);
  if (fleet_.holder(slice) == Fleet::Holder::kClaimed) fleet_.release(slice);
  pass_due_ = true;
}

// It waits like any other again, once it has been stopped if it has to be.
void Controller::give_up_claim(Job& job) {
  forget_claim(job.id);
  event(job.id, "claim-lost", "the slice it was to start on cannot be had any more");
  if (job.state() != JobState::kQueued || PLANTED(lose_claimant)) return;
  job.progress.reason = "the slice it was to start on is gone";
  touch(job);
  tell_returned(job);
}

// As in the simulator, a job that outlives its estimate is believed to be half done. Else such
// a job would seem to leave its slice at any moment, for hours. And where little happens, whether a
// job that waits should displace another is asked again once that one may be moved.
void Controller::look_at_running() {
  next_look_ = Micros::max();
  const bool some_wait = count(JobState::kQueued) > claims_.size();
  for (std::uint32_t i = 0; i < fleet_.cluster().slices.size(); ++i) {
    const cluster::Slice& slice = fleet_.cluster().slices[i];
    if (slice.state != SliceState::kBusy) continue;
    if (fleet_.holder(SliceId{i}) != Fleet::Holder::kNobody) continue;
    decide::ActiveJob& active = active_[slice.job];
    if (active.finish <= now_) {
      Job& job = jobs_.at(job_of_handle_[slice.job.value]);
      if (job.state() != JobState::kRunning) continue;
      believe_more(job);
    }
    next_look_ = std::min(next_look_, active.finish);
    const Micros movable = active.progress_from + Micros{kRunMin * view_.preemption.cost.count};
    if (some_wait && active.resumable && movable > now_) next_look_ = std::min(next_look_, movable);
  }
}

void Controller::believe_more(Job& job) {
  decide::ActiveJob& active = active_[job.handle];
  active.work = job.believed;
  job.believed += job.believed;
  active.progress_from = now_;
  const double takes = std::max(1.0, std::ceil(active.work * active.time[active.size_index]));
  active.finish = now_ + Micros{static_cast<std::int64_t>(takes)};
  active.forget_on_time();
}

// How long it has run, in times it was said to take. REQUIRES: it runs at its first attempt, or
// waits for it: what later ones have of earlier ones is not known for certain.
double Controller::age_of(const Job& job) const {
  const decide::ActiveJob& active = active_[job.handle];
  if (!active.running()) return 0;
  const Micros ran = std::max(Micros{}, now_ - active.progress_from);
  const double done = static_cast<double>(ran.count) / active.time[active.size_index];
  return std::max(0.0, job.believed - active.work + done);
}

std::optional<double> Controller::work_left_of(cluster::JobHandle handle) const {
  if (handle.value >= job_of_handle_.size()) return {};
  const Job* job = find(job_of_handle_[handle.value]);
  if (job == nullptr || job->handle != handle) return {};  // it only keeps a slice for somebody
  const bool waits = job->state() == JobState::kQueued && job->progress.attempt == 0;
  const bool runs = job->state() == JobState::kRunning && job->progress.attempt == 1;
  if (!waits && !runs) return {};
  const double age = age_of(*job);
  double believed = job->believed;
  while (believed <= age) believed += believed;
  return survival_.expected_left(age, believed - age);
}

// What forecasts reckon with, once jobs that ended have shown that estimates are wrong.
decide::Outlook Controller::outlook() const {
  if (!survival_.has_experience()) return {};
  return {.work_left = [this](cluster::JobHandle handle) { return work_left_of(handle); },
          .newcomer_length = survival_.expected_left(0, 1)};
}

}  // namespace partita::control
