#include "control/turn_book.h"

#include <algorithm>

#include "control/planted.h"

namespace partita::control {
namespace {

store::JobRow row_of(const Job& job) {
  store::JobRow row;
  row.progress = job.progress;
  row.submitted_us = job.submitted.count;
  row.uid = job.owner.uid;
  row.gid = job.owner.gid;
  row.name = job.spec.name;
  row.key = job.key;
  row.spec = encode_spec(job.spec);
  row.array_job = job.array_job;
  row.array_index = job.array_index;
  return row;
}

}  // namespace

void TurnBook::begin(Micros now) {
  now_ = now;
  turn_ = Turn{};
  new_jobs_.clear();
  touched_.clear();
  touched_attempts_.clear();
}

void TurnBook::add_new(const Job& job) {
  new_jobs_.insert(job.id);
  touch(job);
}

Turn TurnBook::finish(JobTable& jobs, std::size_t kept_max) {
  for (const JobNumber id : touched_) {
    const Job& job = jobs.at(id);
    if (PLANTED(skip_progress_row) && job.state() == JobState::kRunning) continue;
    if (new_jobs_.contains(id)) {
      turn_.batch.new_jobs.push_back(row_of(job));
    } else {
      turn_.batch.progress.push_back(job.progress);
    }
  }
  for (const auto& [id, index] : touched_attempts_) {
    turn_.batch.attempts.push_back(jobs.at(id).attempts[index]);
  }
  turn_.batch.forgotten_jobs = jobs.forget_oldest(kept_max, new_jobs_);
  return std::move(turn_);
}

void TurnBook::event(JobNumber job, std::string kind, std::string text) {
  turn_.batch.events.push_back({next_event_++, now_.count, job, std::move(kind), std::move(text)});
}

void TurnBook::intend(std::string kind, std::string subject) {
  if (PLANTED(launch_without_intent) && kind == "launch") return;
  turn_.batch.intents.push_back({std::move(kind), std::move(subject), now_.count});
}

void TurnBook::met(std::string kind, std::string subject) {
  turn_.batch.met_intents.push_back({std::move(kind), std::move(subject), now_.count});
}

void TurnBook::reply(Ticket ticket, Reply::Kind kind, std::vector<JobNumber> jobs,
                     std::string message, std::vector<Refusal> refused) {
  turn_.replies.push_back({ticket, kind, std::move(jobs), std::move(message), std::move(refused)});
}

// A store takes rows away before it writes any, so what was written earlier in the turn goes too.
void TurnBook::drop(store::Place instance) {
  std::erase_if(turn_.batch.instances, [&](const store::InstanceRow& row) {
    return row.gpu == instance.gpu && row.start == instance.start;
  });
  turn_.batch.gone_instances.push_back(std::move(instance));
}

}  // namespace partita::control
