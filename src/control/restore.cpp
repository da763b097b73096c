// The part of the controller that begins again: the store, the GPUs and the processes compared.
#include <fmt/format.h>

#include <algorithm>

#include "control/controller.h"
#include "control/dry_run.h"

namespace partita::control {

std::vector<launch::AttemptKey> unsettled_attempts(const store::Contents& contents) {
  std::vector<launch::AttemptKey> keys;
  for (const store::JobRow& row : contents.jobs) {
    if (row.progress.state < 0 || row.progress.state >= static_cast<std::int64_t>(kJobStates)) {
      continue;  // restore() says so
    }
    if (!holds_slice(static_cast<JobState>(row.progress.state))) continue;
    keys.push_back({row.progress.id, row.progress.attempt});
  }
  return keys;
}

Result<Turn> Controller::restore(Micros now, const store::Contents& contents,
                                 std::span<const Inventory> inventories,
                                 std::span<const launch::Report> attempts) {
  begin_turn(now);
  state_.turn.set_next_event(contents.last_event + 1);
  if (const Status read = state_.jobs.read(contents); !read) return read.error();
  state_.memory.read(contents.peaks);
  state_.totals.read(contents.totals, state_.jobs, state_.model());
  state_.quotas.read(contents.totals, state_.jobs);
  // What was intended is either there by now or will be decided anew.
  for (const store::IntentRow& row : contents.intents) state_.turn.met(row.kind, row.subject);
  state_.queue.read_usage(state_.model(), state_.now);
  for (const Inventory& inventory : inventories) slices_.reconcile(inventory, contents);
  slices_.set_unseen_aside(inventories, contents);
  slices_.drop_lost_gpus(contents);
  restore_policies();
  for (const launch::Report& report : attempts) attempts_.take(report);
  settle_again();
  look_at_barred();
  devices_.restore_drains(contents.gpus);
  state_.note_event();
  if (dry_run_) {
    const Status begun = dry_run_->begin(state_.now, contents, inventories, attempts, state_.turn);
    if (!begun) return begun.error();
  }
  return finish_turn();
}

// Policies begin with the jobs that wait and with the layouts they want, which are asked for.
void Controller::restore_policies() {
  decide::Repartitioner& repartitioner = *state_.owned.repartitioner;
  const std::vector<mig::Layout> initial = repartitioner.initial_layouts(state_.view);
  // Where layouts never change, a job that needs more than they have would wait for ever.
  const bool change = repartitioner.every_events() > 0 || repartitioner.next_time(state_.now);
  if (!change) state_.memory.offer_only(initial);
  seat_jobs();
  state_.policies.begin(state_.view);
  for (const auto& [id, job] : state_.jobs.all()) {
    const bool waits = job.state() == JobState::kQueued && job.handle.valid();
    if (waits) state_.policies.job_found(state_.view, job.handle);
  }
  for (std::uint32_t i = 0; i < initial.size() && !state_.options.shadow; ++i) {
    if (!initial[i].empty()) state_.fleet.request(GpuId{i}, initial[i]);
  }
}

// Every job that has not ended and may start gets its handle; those with a process get their slice
// back.
void Controller::seat_jobs() {
  for (auto& [id, job] : state_.jobs.all()) {
    if (has_ended(job.state())) continue;
    state_.gates.add(job);
    if (!holds_slice(job.state())) continue;
    state_.gates.note_admitted(job);
    state_.quotas.begin(job.owner, job.attempt());
  }
  for (auto& [id, job] : state_.jobs.all()) {
    if (has_ended(job.state())) continue;
    job.barred = job.state() == JobState::kQueued && flow_.bar_of(job);
    if (job.barred) continue;
    state_.gates.note_admitted(job);
    flow_.give_handle(job);
    if (job.state() != JobState::kQueued) slices_.seat(job);
  }
}

// Of those that may not start, the reasons may have changed; of others, the reports just now may
// have been the end.
void Controller::look_at_barred() {
  for (auto& [id, job] : state_.jobs.all()) {
    if (job.barred) flow_.look_at(job);
  }
  flow_.settle();
}

// What was under way for a job when we went down goes on.
void Controller::settle_again() {
  for (auto& [id, job] : state_.jobs.all()) {
    if (!holds_slice(job.state())) continue;
    const bool seated = state_.active[job.handle].slice.valid();
    if (seated && job.state() == JobState::kRunning) {
      state_.turn.event(id, "adopted", fmt::format("attempt {} goes on", job.progress.attempt));
    }
    if (!seated && may_move(job.state(), JobState::kRestarting)) {
      state_.turn.event(id, "stopping", "its slice vanished");
      flow_.move_to(job, JobState::kRestarting, "its slice vanished", store::StopCause::kDevice);
    }
    const bool stopping =
        job.state() == JobState::kRestarting || job.state() == JobState::kCancelling;
    // It was to save its work first, and perhaps is about to.
    const bool saves = seated && job.state() == JobState::kRestarting &&
                       (job.progress.stop_cause == store::StopCause::kPreempted ||
                        job.progress.stop_cause == store::StopCause::kRequeued);
    if (stopping) attempts_.stop(job, saves);
  }
}

}  // namespace partita::control
