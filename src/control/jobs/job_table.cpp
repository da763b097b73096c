#include "control/jobs/job_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace partita::control {
namespace {

Error incomplete(JobNumber id) {
  return {fmt::format("job {} of the store is incomplete", id)};
}

// ---- Stores before version 4 say how an attempt ended and why a job is stopped in words only.

store::AttemptOutcome outcome_in_words(const store::AttemptRow& row) {
  if (row.reason.starts_with("lost: ")) return store::AttemptOutcome::kLost;
  if (row.reason.starts_with("out of memory, ")) return store::AttemptOutcome::kOutOfMemory;
  if (row.reason.starts_with("time limit, ")) return store::AttemptOutcome::kTimeLimit;
  const bool ran = row.exit_code >= 0 || row.signal != 0;
  return ran ? store::AttemptOutcome::kExited : store::AttemptOutcome::kNotStarted;
}

store::StopCause cause_in_words(const std::string& reason) {
  if (reason.starts_with("preempted")) return store::StopCause::kPreempted;
  if (reason.starts_with("requeued")) return store::StopCause::kRequeued;
  const bool memory = reason.starts_with("its memory is projected");
  return memory ? store::StopCause::kMemory : store::StopCause::kDevice;
}

}  // namespace

bool Job::length_known() const {
  return std::ranges::any_of(spec.times, [](const auto& time) { return time.has_value(); });
}

const Job* JobTable::find(JobNumber id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

Job* JobTable::find(JobNumber id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

const std::vector<JobNumber>* JobTable::with_key(const launch::Owner& owner,
                                                 const std::string& key) const {
  if (key.empty()) return nullptr;
  const auto found = keys_.find({owner.uid, key});
  return found == keys_.end() ? nullptr : &found->second;
}

void JobTable::set_key(const launch::Owner& owner, const std::string& key,
                       std::vector<JobNumber> ids) {
  if (!key.empty()) keys_[{owner.uid, key}] = std::move(ids);
}

std::optional<std::string> JobTable::no_room_for(const launch::Owner& owner, std::size_t count,
                                                 const Limits& limits) const {
  if (not_ended() + count > limits.queue_jobs_max) {
    return fmt::format("the queue holds at most {} jobs", limits.queue_jobs_max);
  }
  const auto own = jobs_of_user_.find(owner.uid);
  const std::size_t theirs = own == jobs_of_user_.end() ? 0 : own->second;
  if (theirs + count <= limits.queue_jobs_per_user_max) return {};
  return fmt::format("one user may have at most {} jobs in the queue",
                     limits.queue_jobs_per_user_max);
}

Job& JobTable::add(const launch::Owner& owner, const std::string& key, const JobSpec& spec,
                   Micros now) {
  const JobNumber id{next_job_.value++};
  Job& job = jobs_[id];
  job.id = id;
  job.submitted = now;
  job.owner = owner;
  job.key = key;
  job.spec = spec;
  job.progress.id = id;
  job.progress.state = static_cast<std::int64_t>(JobState::kQueued);
  job.progress.changed_us = now.count;
  ++counts_[static_cast<std::size_t>(JobState::kQueued)];
  ++jobs_of_user_[owner.uid];
  return job;
}

void JobTable::set_handle(Job& job, cluster::JobHandle handle) {
  job.handle = handle;
  if (id_of_handle_.size() <= handle.value) id_of_handle_.resize(handle.value + 1);
  id_of_handle_[handle.value] = job.id;
}

void JobTable::set_state(Job& job, JobState state, std::string reason, Micros now,
                         store::StopCause cause) {
  CHECK(may_move(job.state(), state));
  CHECK((state == JobState::kRestarting) == (cause != store::StopCause::kNone));
  --counts_[static_cast<std::size_t>(job.state())];
  ++counts_[static_cast<std::size_t>(state)];
  job.progress.state = static_cast<std::int64_t>(state);
  job.progress.changed_us = now.count;
  job.progress.reason = std::move(reason);
  job.progress.stop_cause = cause;
}

void JobTable::note_ended(Job& job) {
  CHECK(has_ended(job.state()));
  job.handle = {};
  ended_.push_back(job.id);
  --jobs_of_user_[job.owner.uid];
}

void JobTable::reopen(Job& job, std::string reason, Micros now) {
  CHECK(has_ended(job.state()));
  std::erase(ended_, job.id);
  ++jobs_of_user_[job.owner.uid];
  set_state(job, JobState::kQueued, std::move(reason), now);
  job.work_left = job.believed = 1;
}

std::vector<JobNumber> JobTable::forget_oldest(std::size_t kept_max,
                                               const std::set<JobNumber>& unwritten) {
  std::vector<JobNumber> forgotten;
  while (ended_.size() > kept_max) {
    const JobNumber id = ended_.front();
    ended_.pop_front();
    if (unwritten.contains(id)) {  // its row is in this very batch
      ended_.push_back(id);
      break;
    }
    const Job& job = jobs_.at(id);
    if (!job.key.empty()) keys_.erase({job.owner.uid, job.key});
    --counts_[static_cast<std::size_t>(job.state())];
    forgotten.push_back(id);
    jobs_.erase(id);
  }
  return forgotten;
}

Status JobTable::read(const store::Contents& contents) {
  CHECK(jobs_.empty());
  if (const Status jobs = read_jobs(contents); !jobs) return jobs;
  if (const Status attempts = read_attempts(contents); !attempts) return attempts;
  std::vector<const Job*> over;
  for (const auto& [id, job] : jobs_) {
    if (has_ended(job.state())) over.push_back(&job);
  }
  std::ranges::sort(over, {}, [](const Job* job) {
    return std::pair{job->progress.changed_us, job->id};
  });
  for (const Job* job : over) ended_.push_back(job->id);
  return {};
}

Status JobTable::read_jobs(const store::Contents& contents) {
  for (const store::JobRow& row : contents.jobs) {
    Result<JobSpec> spec = decode_spec(row.spec);
    const bool known_state =
        row.progress.state >= 0 && row.progress.state < static_cast<std::int64_t>(kJobStates);
    if (!spec || !known_state) return incomplete(row.progress.id);
    Job& job = jobs_[row.progress.id];
    job.id = row.progress.id;
    job.submitted = Micros{row.submitted_us};
    job.owner = {static_cast<std::uint32_t>(row.uid), static_cast<std::uint32_t>(row.gid)};
    job.key = row.key;
    job.spec = *std::move(spec);
    job.progress = row.progress;
    job.array_job = row.array_job;
    job.array_index = row.array_index;
    const bool unsaid = row.progress.stop_cause == store::StopCause::kNone;
    if (unsaid && job.state() == JobState::kRestarting) {
      job.progress.stop_cause = cause_in_words(row.progress.reason);
    }
    ++counts_[static_cast<std::size_t>(job.state())];
    if (!job.key.empty()) keys_[{job.owner.uid, job.key}].push_back(job.id);
    next_job_ = std::max(next_job_, JobNumber{job.id.value + 1});
    if (!has_ended(job.state())) ++jobs_of_user_[job.owner.uid];
  }
  return {};
}

Status JobTable::read_attempts(const store::Contents& contents) {
  for (const store::AttemptRow& row : contents.attempts) {
    Job* job = find(row.job);
    if (job == nullptr) return incomplete(row.job);
    store::AttemptRow& attempt = job->attempts.emplace_back(row);
    const bool ended = row.state == static_cast<std::int64_t>(AttemptState::kEnded);
    if (ended && row.outcome == store::AttemptOutcome::kNone) {
      attempt.outcome = outcome_in_words(row);
    }
  }
  for (const auto& [id, job] : jobs_) {
    if (static_cast<std::int64_t>(job.attempts.size()) != job.progress.attempt) {
      return incomplete(id);
    }
  }
  return {};
}

}  // namespace partita::control
