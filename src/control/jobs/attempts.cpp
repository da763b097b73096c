#include "control/jobs/attempts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

#include "base/check.h"
#include "base/round_up.h"
#include "base/text.h"
#include "control/planted.h"

namespace partita::control {
namespace {

using cluster::SliceId;
using store::AttemptOutcome;
using store::StopCause;

// What frameworks say when an allocation on the device fails.
constexpr std::array<std::string_view, 6> kMemoryMessages{"out of memory",
                                                          "out_of_memory",
                                                          "cuda_error_out_of_memory",
                                                          "cudaerrormemoryallocation",
                                                          "resource_exhausted",
                                                          "cublas_status_alloc_failed"};
// A slice this full when its job failed was too small for it.
constexpr double kFullShare = 0.97;

// Nothing says when a job of unknown length ends: it is expected to go on for half as long as it
// has run. Further, and a job that grows slowly would be moved although it ends in time; less far,
// and little of its time would be saved.
constexpr double kUnknownLengthFactor = 1.5;

bool says_out_of_memory(const std::string& output) {
  const std::string text = lower(output);
  return std::ranges::any_of(kMemoryMessages, [&](std::string_view message) {
    return text.find(message) != std::string::npos;
  });
}

std::string no_such_job(JobNumber id) {
  return fmt::format("there is no job {}", id);
}

bool has_ended_otherwise(const Job& job) {
  return has_ended(job.state()) && job.state() != JobState::kCancelled;
}

std::string how_it_ended(const Job& job) {
  return fmt::format("job {} has ended: {}", job.id, name_of(job.state()));
}

}  // namespace

launch::Start Attempts::start_message(const Job& job, SliceId slice) const {
  const launch::AttemptKey key{job.id, job.progress.attempt};
  const std::string& instance = state_.fleet.instance(slice).uuid;
  launch::Start start{key,       job.spec.argv,      job.spec.environment, job.spec.directory,
                      job.owner, job.spec.checkpoint};
  start.time_limit = job.spec.time_limit.value_or(state_.options.limits.time_limit_max);
  start.output = output_path_of(job.spec, {job.id, job.array_job, job.array_index});
  start.script = job.spec.script.value_or("");
  // Stores of older programs have jobs that set what is ours.
  std::erase_if(start.environment, [](const std::string& entry) {
    return is_reserved_variable(std::string_view(entry).substr(0, entry.find('=')));
  });
  start.environment.push_back("CUDA_VISIBLE_DEVICES=" + instance);
  start.environment.push_back(fmt::format("PARTITA_JOB={}", key.job));
  start.environment.push_back(fmt::format("PARTITA_ATTEMPT={}", key.number));
  if (job.array_job != kNoJob) {
    start.environment.push_back(fmt::format("PARTITA_ARRAY_JOB={}", job.array_job));
    start.environment.push_back(fmt::format("PARTITA_ARRAY_INDEX={}", job.array_index));
  }
  return start;
}

void Attempts::start(Job& job, SliceId slice) {
  const cluster::Slice& place = state_.fleet.cluster().slice(slice);
  cluster::start_job(state_.fleet.cluster(), slice, job.handle);
  decide::ActiveJob& active = state_.active[job.handle];
  CHECK((active.fits >> place.profile & 1U) != 0);
  active.slice = slice;
  active.size_index = place.size_index;
  active.progress_from = state_.now + std::exchange(active.restart, Micros{});
  active.finish = active.progress_from + round_up(active.work * active.time[place.size_index]);
  if (!active.started) active.first_start = state_.now;
  active.started = true;
  active.forget_on_time();

  ++job.progress.attempt;
  if (PLANTED(forget_attempt_number)) job.progress.attempt = 1;
  job.trend = MemoryTrend{};
  const mig::Profile& profile = state_.model().profiles[place.profile];
  store::AttemptRow row;
  row.job = job.id;
  row.number = job.progress.attempt;
  row.state = static_cast<std::int64_t>(AttemptState::kIntended);
  row.gpu = state_.fleet.gpus()[cluster::gpu_of(slice).value].uuid;
  row.instance = state_.fleet.instance(slice).uuid;
  row.profile = profile.name;
  row.start = cluster::start_of(slice);
  row.started_us = state_.now.count;
  job.attempts.push_back(std::move(row));
  state_.quotas.begin(job.owner, job.attempt());
  state_.turn.touch_attempt(job);
  state_.totals.began(job, state_.now);
  flow_.move_to(job, JobState::kStarting, fmt::format("on {}", state_.name_of(slice)));
  state_.turn.event(job.id, "starting",
                    fmt::format("attempt {} on {}, {:g} GiB", job.progress.attempt,
                                state_.name_of(slice), profile.memory_gib));
  state_.turn.intend("launch", launch::text_of(launch::AttemptKey{job.id, job.progress.attempt}));
  state_.turn.effect(Launch{start_message(job, slice), state_.fleet.instance(slice)});
}

// For policies it is there already, so it leaves like any other.
void Attempts::decline(Job& job, SliceId slice) {
  cluster::start_job(state_.fleet.cluster(), slice, job.handle);
  decide::ActiveJob& active = state_.active[job.handle];
  active.slice = slice;
  active.size_index = state_.fleet.cluster().slice(slice).size_index;
  leave_slice(job);
  flow_.decline(job);
}

void Attempts::take(const launch::Report& report) {
  Job* found = state_.jobs.find(report.key.job);
  const bool present = found != nullptr && holds_slice(found->state()) &&
                       found->progress.attempt == report.key.number;
  if (!present) {  // of an attempt that is over
    if (report.kind != launch::Report::Kind::kStarted) state_.turn.effect(Forget{report.key});
    return;
  }
  Job& job = *found;
  switch (report.kind) {
    case launch::Report::Kind::kStarted:
      return began(job, report);
    case launch::Report::Kind::kNotStarted:
      return did_not_begin(job, report);
    case launch::Report::Kind::kEnded:
      return ended(job, report);
    case launch::Report::Kind::kVanished:
      return lose(job, "its process vanished");
    case launch::Report::Kind::kNoSpace:
      return postpone(job, report);
  }
}

void Attempts::began(Job& job, const launch::Report& report) {
  store::AttemptRow& attempt = job.attempt();
  if (attempt.state != static_cast<std::int64_t>(AttemptState::kIntended)) return;
  const bool stopping = job.state() != JobState::kStarting;
  attempt.state =
      static_cast<std::int64_t>(stopping ? AttemptState::kStopping : AttemptState::kRunning);
  state_.turn.touch_attempt(job);
  state_.turn.met("launch", launch::text_of(report.key));
  if (stopping) return;
  state_.turn.event(job.id, "running", fmt::format("process {}", report.pid));
  flow_.move_to(job, JobState::kRunning, fmt::format("process {}", report.pid));
}

// The process is no more, or never was: the slice is free and the books of the attempt are closed.
// `ended`: when it was, where that is known; long ago, perhaps, if there was no daemon.
void Attempts::close(Job& job, AttemptOutcome outcome, std::string reason, Micros ended) {
  store::AttemptRow& attempt = job.attempt();
  attempt.state = static_cast<std::int64_t>(AttemptState::kEnded);
  const std::int64_t least = std::min(attempt.started_us, state_.now.count);
  attempt.ended_us =
      ended == Micros{} ? state_.now.count : std::clamp(ended.count, least, state_.now.count);
  attempt.reason = std::move(reason);
  attempt.outcome = outcome;
  state_.totals.attempt_ended(job, state_.model());
  state_.quotas.end(job.owner, attempt);
  state_.turn.touch_attempt(job);
  const launch::AttemptKey key{job.id, attempt.number};
  state_.turn.met("launch", launch::text_of(key));
  state_.turn.met("stop", launch::text_of(key));
  state_.turn.effect(Forget{key});
  leave_slice(job);
}

// Policies think of the job as running until here.
void Attempts::leave_slice(Job& job) {
  decide::ActiveJob& active = state_.active[job.handle];
  if (!active.slice.valid()) return;
  const SliceId slice = active.slice;
  state_.policies.withdraw(state_.view, job.handle);
  cluster::stop_job(state_.fleet.cluster(), slice);
  active.slice = {};
  state_.fleet.note_change();
  state_.pass_due = true;
  slices_.settle_unusable(cluster::gpu_of(slice));
}

void Attempts::did_not_begin(Job& job, const launch::Report& report) {
  const bool impossible = !report.message.empty();
  const std::string why = impossible ? report.message : "never started";
  close(job, AttemptOutcome::kNotStarted, why);
  if (job.state() == JobState::kCancelling) {
    return flow_.end(job, JobState::kCancelled, "before it began");
  }
  if (PLANTED(drop_job_on_launch_error) && impossible) return;
  if (impossible) return flow_.end(job, JobState::kFailed, why);
  if (job.tries() >= state_.options.limits.attempts_max) {
    return flow_.end(job, JobState::kFailed, "none of its attempts could be started");
  }
  state_.turn.event(job.id, "requeued",
                    fmt::format("attempt {} was never started", report.key.number));
  flow_.requeue(job, "its last attempt was never started");
}

// It did not begin and no fault of it is known: it waits, however often.
void Attempts::postpone(Job& job, const launch::Report& report) {
  close(job, AttemptOutcome::kNotStarted, report.message);
  if (job.state() == JobState::kCancelling) {
    return flow_.end(job, JobState::kCancelled, "before it began");
  }
  state_.turn.event(job.id, "postponed", report.message);
  if (PLANTED(fail_without_space)) return flow_.end(job, JobState::kFailed, report.message);
  flow_.requeue(job, report.message);
}

bool Attempts::out_of_memory(const Job& job, const launch::Report& report) const {
  if (report.exit_code == 0 && report.signal == 0) return false;
  if (says_out_of_memory(report.message)) return true;
  if (job.state() == JobState::kRestarting)
    return false;  // we stopped it; a full slice says nothing
  const double capacity = state_.capacity_of(job);
  return capacity > 0 && job.trend.last_gib() >= kFullShare * capacity;
}

void Attempts::ended(Job& job, const launch::Report& report) {
  store::AttemptRow& attempt = job.attempt();
  attempt.exit_code = report.exit_code;
  attempt.signal = report.signal;
  attempt.peak_gib = std::max(attempt.peak_gib, job.trend.peak_gib());
  const bool good = report.exit_code == 0 && report.signal == 0;
  const bool memory = out_of_memory(job, report);
  const std::string how = report.signal != 0 ? fmt::format("signal {}", report.signal)
                                             : fmt::format("exit status {}", report.exit_code);
  const JobState before = job.state();
  if (good && before != JobState::kCancelling) {
    state_.turn.write(state_.memory.learn(job.spec, job.owner, attempt.peak_gib));
    if (attempt.number == 1 && before == JobState::kRunning) lengths.learn(job);
  }
  if (report.over_time) {
    close(job, AttemptOutcome::kTimeLimit, "time limit, " + how, report.at);
  } else if (memory) {
    close(job, AttemptOutcome::kOutOfMemory, "out of memory, " + how, report.at);
  } else {
    close(job, AttemptOutcome::kExited, how, report.at);
  }
  if (before == JobState::kCancelling) return flow_.end(job, JobState::kCancelled, how);
  if (report.over_time) {
    const Micros limit = job.spec.time_limit.value_or(state_.options.limits.time_limit_max);
    return flow_.end(job, JobState::kFailed,
                     fmt::format("stopped at its time limit of {:g} s", limit.to_seconds()));
  }
  bool done = good;
  if (PLANTED(restart_after_done)) done = false;
  if (done) return flow_.end(job, JobState::kDone, how);
  if (memory) return begin_again_larger(job);
  if (good || before == JobState::kRestarting) return wait_again(job, before, how);
  flow_.end(job, JobState::kFailed, how);
}

// It was stopped to begin again.
void Attempts::wait_again(Job& job, JobState before, const std::string& how) {
  const std::string reason =
      before == JobState::kRestarting ? job.progress.reason + "; to begin again" : "to begin again";
  const bool asked = job.progress.stop_cause == StopCause::kRequeued;
  if (job.spec.no_requeue && !asked) {
    return flow_.end(job, JobState::kLost, job.progress.reason + "; it is not to begin again");
  }
  state_.turn.event(job.id, "requeued",
                    fmt::format("attempt {} ended with {}; needs {:.2f} GiB", job.attempt().number,
                                how, job.progress.need_gib));
  flow_.requeue(job, reason);
}

double Attempts::memory_of(const store::AttemptRow& attempt) const {
  const Result<mig::ProfileIndex> profile = mig::parse_profile(state_.model(), attempt.profile);
  return profile ? state_.model().profiles[*profile].memory_gib : 0;
}

// One size up, or the end where there is none.
void Attempts::begin_again_larger(Job& job) {
  job.work_left = 1;
  const store::AttemptRow& attempt = job.attempt();
  const double had = memory_of(attempt);
  const std::optional<double> larger = state_.memory.next_larger(had);
  if (job.spec.no_requeue) {
    return flow_.end(job, JobState::kFailed,
                     fmt::format("out of memory on {:g} GiB; it is not to begin again", had));
  }
  if (!larger || job.tries() >= state_.options.limits.attempts_max) {
    return flow_.end(job, JobState::kFailed,
                     larger ? "out of memory too often"
                            : fmt::format("out of memory on the largest slice, {:g} GiB", had));
  }
  job.progress.need_gib = std::max(job.progress.need_gib, *larger);
  if (PLANTED(shrink_after_memory_out)) job.progress.need_gib = had / 2;
  state_.turn.event(job.id, "out-of-memory",
                    fmt::format("attempt {} outgrew {:g} GiB; begins again with {:g} GiB",
                                attempt.number, had, job.progress.need_gib));
  flow_.requeue(job, "out of memory; to begin again on a larger slice");
}

// REQUIRES: nothing of the attempt runs any more.
void Attempts::lose(Job& job, const std::string& why) {
  close(job, AttemptOutcome::kLost, "lost: " + why);
  if (job.state() == JobState::kCancelling) return flow_.end(job, JobState::kCancelled, why);
  const auto losses = std::ranges::count_if(job.attempts, [&](const store::AttemptRow& each) {
    return each.outcome == AttemptOutcome::kLost && each.number > job.progress.tries_from;
  });
  if (job.spec.no_requeue) {
    return flow_.end(job, JobState::kLost, why + "; it is not to begin again");
  }
  if (losses > state_.options.limits.losses_max ||
      job.tries() >= state_.options.limits.attempts_max) {
    return flow_.end(job, JobState::kLost, why);
  }
  state_.turn.event(job.id, "requeued", fmt::format("{}; begins again", why));
  flow_.requeue(job, why);
}

void Attempts::stop(Job& job, bool checkpoint) {
  store::AttemptRow& attempt = job.attempt();
  if (attempt.state == static_cast<std::int64_t>(AttemptState::kRunning)) {
    attempt.state = static_cast<std::int64_t>(AttemptState::kStopping);
    state_.turn.touch_attempt(job);
  }
  const launch::AttemptKey key{job.id, attempt.number};
  state_.turn.intend("stop", launch::text_of(key));
  state_.turn.effect(Stop{key, checkpoint && !job.spec.checkpoint.empty()});
}

void Attempts::stop_on(SliceId slice, const std::string& why) {
  Job* job = state_.job_on(slice);
  if (job == nullptr) return;
  state_.turn.event(job->id, "stopping", why);
  if (may_move(job->state(), JobState::kRestarting)) {
    flow_.move_to(*job, JobState::kRestarting, why, StopCause::kDevice);
  }
  stop(*job, false);
}

void Attempts::take(const Cancel& cancel) {
  Job* job = state_.jobs.find(cancel.job);
  if (job == nullptr) {
    return state_.turn.reply(cancel.ticket, Reply::Kind::kNotFound, {}, no_such_job(cancel.job));
  }
  if (has_ended_otherwise(*job)) {
    return state_.turn.reply(cancel.ticket, Reply::Kind::kConflict, {}, how_it_ended(*job));
  }
  state_.turn.reply(cancel.ticket, Reply::Kind::kCancelled, {job->id});
  this->cancel(*job);
}

// The last ones first: a job that is taken away before them would only make room for one of them to
// start, if a pass came between.
void Attempts::take(const CancelJobs& cancel) {
  std::vector<JobNumber> ids = cancel.jobs;
  std::ranges::sort(ids);
  const auto same = std::ranges::unique(ids);
  ids.erase(same.begin(), same.end());
  std::vector<JobNumber> cancelled;
  std::vector<Refusal> refused;
  for (const JobNumber id : ids | std::views::reverse) {
    Job* job = state_.jobs.find(id);
    if (job == nullptr) {
      refused.push_back({id, Refusal::Kind::kNotFound, no_such_job(id)});
    } else if (cancel.only_of && job->owner.uid != *cancel.only_of) {
      refused.push_back(
          {id, Refusal::Kind::kForbidden, fmt::format("job {} belongs to somebody else", id)});
    } else if (has_ended_otherwise(*job)) {
      refused.push_back({id, Refusal::Kind::kConflict, how_it_ended(*job)});
    } else {
      cancelled.push_back(id);
      this->cancel(*job);
    }
  }
  std::ranges::reverse(cancelled);
  std::ranges::reverse(refused);
  state_.turn.reply(cancel.ticket, Reply::Kind::kSomeCancelled, std::move(cancelled), {},
                    std::move(refused));
}

// Harmless for one that is being stopped, or was.
void Attempts::cancel(Job& job) {
  if (job.state() == JobState::kCancelled || job.state() == JobState::kCancelling) return;
  if (job.state() == JobState::kQueued) {
    const bool known = job.handle.valid() && !state_.claims.has(job.id);
    if (known) state_.policies.withdraw(state_.view, job.handle);
    return flow_.end(job, JobState::kCancelled, "by its owner, while it waited");
  }
  flow_.forget_claim(job);
  state_.turn.event(job.id, "cancelling", "its owner asked for it");
  flow_.move_to(job, JobState::kCancelling, "by its owner");
  if (PLANTED(lose_cancel)) return;
  stop(job, false);
  if (PLANTED(reuse_slice_too_early)) leave_slice(job);
}

void Attempts::take(const Requeue& requeue) {
  Job* job = state_.jobs.find(requeue.job);
  if (job == nullptr) {
    return state_.turn.reply(requeue.ticket, Reply::Kind::kNotFound, {}, no_such_job(requeue.job));
  }
  if (job->state() == JobState::kCancelling) {
    return state_.turn.reply(requeue.ticket, Reply::Kind::kConflict, {},
                             fmt::format("job {} is being cancelled", job->id));
  }
  const bool ended = has_ended(job->state());
  const auto full = state_.no_room_for(job->owner, ended ? 1 : 0);
  if (ended && full) return state_.turn.reply(requeue.ticket, Reply::Kind::kFull, {}, *full);
  state_.turn.reply(requeue.ticket, Reply::Kind::kDone, {job->id});
  if (ended) return queue_again(*job);
  if (may_move(job->state(), JobState::kRestarting)) interrupt(*job);
}

void Attempts::queue_again(Job& job) {
  state_.turn.event(job.id, "requeued",
                    fmt::format("on request, after it was {}", name_of(job.state())));
  grow_after_memory_out(job);
  state_.jobs.reopen(job, "requeued on request", state_.now);
  job.progress.tries_from = job.progress.attempt;
  state_.turn.touch(job);
  state_.gates.add(job);
  flow_.look_at(job);
}

// Of a job that was not begun again after that: the same slice would be too small again.
void Attempts::grow_after_memory_out(Job& job) const {
  if (job.attempts.empty() || job.attempt().outcome != AttemptOutcome::kOutOfMemory) return;
  if (const auto larger = state_.memory.next_larger(memory_of(job.attempt()))) {
    job.progress.need_gib = std::max(job.progress.need_gib, *larger);
  }
}

void Attempts::interrupt(Job& job) {
  job.progress.tries_from = job.progress.attempt;
  const bool saves = !job.spec.checkpoint.empty();
  if (saves && job.length_known()) job.work_left = state_.active[job.handle].work_at(state_.now);
  state_.turn.event(job.id, "stopping",
                    saves ? "to wait again on request: its checkpoint command is run first"
                          : "to wait again on request");
  flow_.move_to(job, JobState::kRestarting, "requeued on request", StopCause::kRequeued);
  stop(job, true);
}

// ---- memory

void Attempts::watch_memory(Job& job, double used_gib) {
  store::AttemptRow& attempt = job.attempt();
  const double elapsed = (state_.now - Micros{attempt.started_us}).to_seconds();
  if (elapsed <= 0) return;
  const decide::EarlyRestart rule = state_.options.early_restart.value_or(decide::EarlyRestart{});
  job.trend.add(elapsed, used_gib, rule);
  attempt.peak_gib = std::max(attempt.peak_gib, used_gib);
  if (!state_.options.early_restart || job.state() != JobState::kRunning) return;
  if (!state_.no_space.empty()) return;  // it could not begin again
  if (job.spec.no_early_restart || job.spec.no_requeue) return;
  const decide::ActiveJob& active = state_.active[job.handle];
  const bool length_known = job.length_known();
  const double end =
      length_known ? active.time[active.size_index] / 1e6 : elapsed * kUnknownLengthFactor;
  // Little left to do, or it should have ended: not worth beginning again.
  if (end - elapsed <= state_.options.restart_cost.to_seconds() && length_known) return;
  const double capacity = state_.capacity_of(job);
  const auto projected = job.trend.outgrows(capacity, end, rule);
  const auto larger = state_.memory.next_larger(capacity);
  if (!projected || !larger || job.tries() >= state_.options.limits.attempts_max) return;
  if (can_begin_with(job, *larger)) restart_early(job, *projected, capacity);
}

// Whether there is a GPU that takes jobs, and quotas leave the job a slice of so much memory. Else
// it is let run: stopped, it would only wait.
bool Attempts::can_begin_with(const Job& job, double need_gib) const {
  bool some = false;
  for (std::uint32_t i = 0; i < state_.fleet.gpus().size() && !some; ++i) {
    some = state_.fleet.usable(GpuId{i});
  }
  std::uint16_t fits = state_.memory.fitting(need_gib);
  for (const Quotas::Holder holder : state_.quotas.holders_of(job.owner)) {
    fits &= state_.quotas.startable(holder);
  }
  return some && fits != 0;
}

void Attempts::restart_early(Job& job, double projected_gib, double capacity_gib) {
  job.progress.need_gib = std::min(projected_gib, state_.memory.largest());
  state_.turn.event(
      job.id, "early-restart",
      fmt::format("uses {:.2f} GiB and is projected to need {:.2f} of {:g} GiB: stopped before "
                  "it fails",
                  job.trend.last_gib(), projected_gib, capacity_gib));
  flow_.move_to(job, JobState::kRestarting, "its memory is projected to outgrow the slice",
                StopCause::kMemory);
  stop(job, true);
  if (PLANTED(requeue_before_exit)) {
    leave_slice(job);
    flow_.requeue(job, "early");
  }
}

}  // namespace partita::control
