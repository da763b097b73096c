#include "control/jobs/job_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "control/planted.h"

namespace partita::control {

// Why the submission cannot be taken; the ticket is still to be filled in.
std::optional<Reply> JobFlow::refusal(const Submit& submit) const {
  const Limits& limits = state_.options.limits;
  const auto refuse = [](std::string message, Reply::Kind kind = Reply::Kind::kRefused) {
    return Reply{0, kind, {}, std::move(message)};
  };
  if (const Status good = check_spec(submit.spec, limits); !good) {
    return refuse(good.error().message);
  }
  if (submit.count < 1 || submit.count > limits.array_jobs_max) {
    return refuse(fmt::format("an array has 1 to {} jobs", limits.array_jobs_max));
  }
  if (submit.key.size() > limits.key_bytes_max) {
    return refuse("the key of the submission is too long");
  }
  if (state_.memory.fitting(submit.spec.memory_gib.value_or(0)) == 0) {
    return refuse(fmt::format("no slice of {} has {:g} GiB; the largest has {:g}",
                              state_.model().title, *submit.spec.memory_gib,
                              state_.memory.largest()));
  }
  for (const std::string& text : submit.spec.after) {
    const auto dependency = parse_dependency(text);
    if (state_.jobs.find(dependency->job) != nullptr) continue;
    return refuse(
        fmt::format("after names job {}, and there is none of that number", dependency->job));
  }
  if (const auto full = state_.no_room_for(submit.owner, submit.count)) {
    return refuse(*full, Reply::Kind::kFull);
  }
  if (!state_.quotas.any()) return {};
  const double need = state_.memory.first_need(submit.spec, submit.owner);
  const std::uint16_t fits = state_.memory.fitting(std::min(need, state_.memory.largest()));
  if (const auto never = state_.quotas.never(submit.owner, fits)) return refuse(*never);
  return {};
}

void JobFlow::take(const Submit& submit) {
  const std::vector<JobNumber>* known = state_.jobs.with_key(submit.owner, submit.key);
  if (PLANTED(accept_key_twice)) known = nullptr;
  if (known != nullptr) {
    return state_.turn.reply(submit.ticket, Reply::Kind::kAccepted, *known);
  }
  if (!state_.no_space.empty()) {
    return state_.turn.reply(submit.ticket, Reply::Kind::kNoSpace, {}, state_.no_space);
  }
  if (auto refused = refusal(submit)) {
    return state_.turn.reply(submit.ticket, refused->kind, {}, std::move(refused->message));
  }
  std::vector<JobNumber> ids;
  const JobNumber first = submit.count > 1 ? state_.jobs.next_number() : kNoJob;
  for (std::size_t i = 0; i < submit.count; ++i) ids.push_back(add(submit, first, i).id);
  state_.jobs.set_key(submit.owner, submit.key, ids);
  state_.turn.reply(submit.ticket, Reply::Kind::kAccepted, std::move(ids));
}

// Of a job that runs it counts when it waits again.
void JobFlow::take(const Hold& hold) {
  Job* job = state_.jobs.find(hold.job);
  if (job == nullptr) {
    return state_.turn.reply(hold.ticket, Reply::Kind::kNotFound, {},
                             fmt::format("there is no job {}", hold.job));
  }
  if (has_ended(job->state())) {
    return state_.turn.reply(hold.ticket, Reply::Kind::kConflict, {},
                             fmt::format("job {} has ended: {}", job->id, name_of(job->state())));
  }
  store::Held& held = job->progress.held;
  if (!hold.hold && held == store::Held::kByAdmin && !hold.admin) {
    return state_.turn.reply(hold.ticket, Reply::Kind::kForbidden, {},
                             fmt::format("job {} is held by an admin, who releases it", job->id));
  }
  state_.turn.reply(hold.ticket, Reply::Kind::kDone, {job->id});
  const store::Held by = hold.admin ? store::Held::kByAdmin : store::Held::kByOwner;
  const store::Held wanted = hold.hold ? std::max(held, by) : store::Held::kNo;
  if (held == wanted) return;
  held = wanted;
  state_.turn.touch(*job);
  state_.turn.event(job->id, hold.hold ? "held" : "released",
                    hold.admin ? "by an admin" : "by its owner");
  look_at(*job);
}

Job& JobFlow::add(const Submit& submit, JobNumber array_job, std::size_t index) {
  Job& job = state_.jobs.add(submit.owner, submit.key, submit.spec, state_.now);
  job.array_job = array_job;
  job.array_index = static_cast<std::int64_t>(index);
  const double need = state_.memory.first_need(submit.spec, submit.owner);
  job.progress.need_gib = need;
  job.progress.reason = "submitted";
  if (submit.spec.hold) job.progress.held = store::Held::kByOwner;
  state_.turn.add_new(job);
  state_.totals.submitted(job);
  const bool from_history = !submit.spec.memory_gib && need > 0;
  state_.turn.event(job.id, "submitted",
                    submit.spec.memory_gib ? fmt::format("needs {:g} GiB as given", need)
                    : from_history ? fmt::format("needs {:.2f} GiB as earlier jobs named {}", need,
                                                 submit.spec.name)
                                   : "its memory is unknown: begins on the smallest slice");
  state_.gates.add(job);
  look_at(job);
  return job;
}

// The store may be of a time when the policy offered more.
std::uint16_t JobFlow::profiles_with_memory(const Job& job) const {
  return state_.memory.fitting(std::min(job.progress.need_gib, state_.memory.largest()));
}

std::uint16_t JobFlow::profiles_for(const Job& job) const {
  std::uint16_t profiles = profiles_with_memory(job);
  if (job.state() != JobState::kQueued) return profiles;
  for (const Quotas::Holder holder : state_.quotas.holders_of(job.owner)) {
    state_.quotas.note_wait(holder);
    profiles &= state_.quotas.startable(holder);
  }
  return profiles;
}

std::optional<QueueGates::Bar> JobFlow::bar_of(const Job& job) const {
  const std::uint16_t fits = state_.quotas.any() ? profiles_with_memory(job) : std::uint16_t{0};
  return state_.gates.bar_of(state_.jobs, job, fits);
}

void JobFlow::give_handle(Job& job) {
  const workload::Job seen = as_policy_job(job.spec, job.submitted, job.progress.need_gib);
  state_.jobs.set_handle(
      job,
      state_.active.add(seen, JobId{static_cast<std::uint32_t>(job.id.value)}, profiles_for(job)));
  decide::ActiveJob& active = state_.active[job.handle];
  active.resumable = may_be_moved(job);
  active.work = std::exchange(job.work_left, 1);
}

void JobFlow::take_handle(Job& job) {
  state_.active.remove(job.handle);
  job.handle = {};
  state_.fleet.note_change();
  state_.pass_due = true;
}

void JobFlow::look_at(Job& job) {
  if (job.state() != JobState::kQueued) return;
  auto why = bar_of(job);
  if (PLANTED(ignore_bars)) why = {};
  if (!why) {
    if (!job.handle.valid()) return admit(job);
    return narrow(job);
  }
  if (job.handle.valid()) {
    const bool claims = state_.claims.has(job.id);
    forget_claim(job);
    if (!claims) state_.policies.withdraw(state_.view, job.handle);
    take_handle(job);
  }
  bar(job, *why);
}

// What fits it is what policies place it by.
void JobFlow::narrow(Job& job) {
  if (!state_.quotas.any()) return;
  decide::ActiveJob& active = state_.active[job.handle];
  const std::uint16_t profiles = profiles_for(job);
  if (active.fits == profiles) return;
  const bool known = !state_.claims.has(job.id);
  if (known) state_.policies.withdraw(state_.view, job.handle);
  active.fits = profiles;
  if (known) state_.policies.put_back(state_.view, job.handle);
  state_.pass_due = true;
}

bool JobFlow::bar_or_fit(Job& job) {
  const auto why = bar_of(job);
  if (why) {
    take_handle(job);
    bar(job, *why);
  } else {
    state_.active[job.handle].fits = profiles_for(job);
  }
  return why.has_value();
}

void JobFlow::decline(Job& job) {
  if (!bar_or_fit(job)) state_.policies.put_back(state_.view, job.handle);
}

void JobFlow::admit(Job& job) {
  const bool is_new = job.progress.attempt == 0;
  state_.gates.note_admitted(job);
  give_handle(job);
  if (is_new) state_.policies.job_arrived(state_.view, job.handle);
  if (!is_new) state_.policies.job_found(state_.view, job.handle);
  state_.note_event();
  if (!job.barred) return;
  job.barred = false;
  job.progress.reason = "waits for a slice";
  state_.turn.touch(job);
  if (!job.quota_told) state_.turn.event(job.id, "eligible", "may start");
}

void JobFlow::bar(Job& job, const QueueGates::Bar& bar) {
  if (bar.for_ever) return end(job, JobState::kCancelled, bar.reason);
  job.barred = true;
  state_.gates.note_barred(job, bar);
  if (job.progress.reason == bar.reason) return;
  // What a quota leaves changes with every job that starts or ends, so it is logged once.
  if (!bar.quota || !std::exchange(job.quota_told, true)) {
    state_.turn.event(job.id, "waits", bar.reason);
  }
  job.progress.reason = bar.reason;
  state_.turn.touch(job);
}

void JobFlow::settle() {
  for (auto due = state_.gates.take_due(); !due.empty(); due = state_.gates.take_due()) {
    for (const JobNumber id : due) {
      if (Job* job = state_.jobs.find(id)) look_at(*job);
    }
  }
}

void JobFlow::move_to(Job& job, JobState to, std::string reason, store::StopCause cause) {
  state_.jobs.set_state(job, to, std::move(reason), state_.now, cause);
  if (job.handle.valid()) state_.active[job.handle].resumable = may_be_moved(job);
  state_.turn.touch(job);
}

void JobFlow::end(Job& job, JobState as, std::string reason) {
  job.barred = false;
  forget_claim(job);
  state_.turn.event(job.id, std::string(name_of(as)), reason);
  move_to(job, as, std::move(reason));
  state_.totals.ended(job);
  if (job.handle.valid()) state_.active.remove(job.handle);
  state_.jobs.note_ended(job);
  state_.gates.note_ended(job);
  state_.note_event();
}

void JobFlow::requeue(Job& job, std::string reason) {
  if (const auto why = bar_of(job)) {
    forget_claim(job);
    move_to(job, JobState::kQueued, std::move(reason));
    take_handle(job);
    state_.note_event();
    return bar(job, *why);
  }
  decide::ActiveJob& active = state_.active[job.handle];
  active.memory_gib = static_cast<float>(job.progress.need_gib);
  active.work = std::exchange(job.work_left, 1);
  active.forget_on_time();
  state_.totals.restarted(job);
  move_to(job, JobState::kQueued, std::move(reason));
  active.fits = profiles_for(job);
  CHECK(active.fits != 0);
  if (!state_.claims.has(job.id)) state_.policies.job_returned(state_.view, job.handle);
  state_.fleet.note_change();
  state_.note_event();
}

// Half of its attempts are left for what it cannot help.
bool JobFlow::may_be_moved(const Job& job) const {
  const bool settled = job.state() == JobState::kQueued || job.state() == JobState::kRunning;
  return settled && !job.spec.checkpoint.empty() && !job.spec.no_requeue &&
         job.tries() <= state_.options.limits.attempts_max / 2;
}

void JobFlow::forget_claim(const Job& job) {
  const auto slice = state_.claims.of(job.id);
  if (!slice) return;
  state_.claims.erase(job.id);
  if (state_.fleet.holder(*slice) == Fleet::Holder::kClaimed) state_.fleet.release(*slice);
  state_.pass_due = true;
}

void JobFlow::give_up_claim(Job& job) {
  forget_claim(job);
  state_.turn.event(job.id, "claim-lost", "the slice it was to start on cannot be had any more");
  if (PLANTED(lose_claimant)) return;
  if (job.state() != JobState::kQueued) return;
  job.progress.reason = "the slice it was to start on is gone";
  state_.turn.touch(job);
  if (state_.quotas.any() && bar_or_fit(job)) return;
  state_.policies.job_returned(state_.view, job.handle);
}

}  // namespace partita::control
