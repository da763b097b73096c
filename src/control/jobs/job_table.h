// JobTable: the jobs that the controller knows, their states, and who may add how many.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/cluster_state.h"
#include "control/jobs/job_life.h"
#include "control/jobs/job_spec.h"
#include "control/jobs/memory_trend.h"
#include "launch/launcher.h"
#include "store/store.h"

namespace partita::control {

enum class AttemptState : std::uint8_t { kIntended = 0, kRunning = 1, kStopping = 2, kEnded = 3 };

struct Job {
  JobNumber id;
  Micros submitted;
  launch::Owner owner;
  std::string key;
  JobSpec spec;
  JobNumber array_job;  // the first of its array; kNoJob: it is in none
  std::int64_t array_index = 0;
  store::JobProgress progress;
  std::vector<store::AttemptRow> attempts;  // attempts[i].number is i + 1
  cluster::JobHandle handle;                // valid while policies may know of it
  MemoryTrend trend;                        // of the present attempt
  double work_left = 1;                     // when it was last stopped after a checkpoint
  double believed = 1;                      // its length, in times it was said to take
  bool barred = false;                      // waits, and may not start yet (queue_gates.h)
  bool admitted = false;                    // counts against what limits how many run
  bool quota_told = false;                  // that a quota bars it stands among its events

  JobState state() const { return static_cast<JobState>(progress.state); }
  // Attempts since somebody last had it begin again.
  std::int64_t tries() const { return progress.attempt - progress.tries_from; }
  // The present one. REQUIRES: it has begun.
  store::AttemptRow& attempt() { return attempts.back(); }
  const store::AttemptRow& attempt() const { return attempts.back(); }
  bool length_known() const;
};

class JobTable {
 public:
  const std::map<JobNumber, Job>& all() const { return jobs_; }
  std::map<JobNumber, Job>& all() { return jobs_; }
  const Job* find(JobNumber id) const;
  Job* find(JobNumber id);
  Job& at(JobNumber id) { return jobs_.at(id); }
  // The job that policies know by this handle.
  Job& of(cluster::JobHandle handle) { return jobs_.at(id_of_handle_[handle.value]); }
  // Null when there is none.
  const Job* of(cluster::JobHandle handle) const {
    return handle.value < id_of_handle_.size() ? find(id_of_handle_[handle.value]) : nullptr;
  }

  std::size_t count(JobState state) const { return counts_[static_cast<std::size_t>(state)]; }
  std::size_t not_ended() const { return jobs_.size() - ended_.size(); }
  const Job* oldest_ended() const { return ended_.empty() ? nullptr : find(ended_.front()); }
  // The jobs that a submission with this key made; null when there was none.
  const std::vector<JobNumber>* with_key(const launch::Owner& owner, const std::string& key) const;
  // Why that many more jobs of the user cannot be taken.
  std::optional<std::string> no_room_for(const launch::Owner& owner, std::size_t count,
                                         const Limits& limits) const;

  // Of the job that is added next.
  JobNumber next_number() const { return next_job_; }
  // Its state and reason are still to be set; it counts as queued.
  Job& add(const launch::Owner& owner, const std::string& key, const JobSpec& spec, Micros now);
  void set_key(const launch::Owner& owner, const std::string& key, std::vector<JobNumber> ids);
  // Policies know the job by the handle from now on.
  void set_handle(Job& job, cluster::JobHandle handle);
  // `cause`: of a restart, and of nothing else.
  void set_state(Job& job, JobState state, std::string reason, Micros now,
                 store::StopCause cause = store::StopCause::kNone);
  // Follows set_state() to one that ends it.
  void note_ended(Job& job);
  // An ended one waits again. REQUIRES: there is room for it.
  void reopen(Job& job, std::string reason, Micros now);
  // Of the ended jobs beyond `kept_max` the oldest go, up to the first whose row is still to be
  // written.
  std::vector<JobNumber> forget_oldest(std::size_t kept_max, const std::set<JobNumber>& unwritten);

  // What the store holds. REQUIRES: the table is empty.
  Status read(const store::Contents& contents);

 private:
  using Key = std::pair<std::uint32_t, std::string>;  // user, and what they call it

  Status read_jobs(const store::Contents& contents);
  Status read_attempts(const store::Contents& contents);

  std::map<JobNumber, Job> jobs_;
  std::vector<JobNumber> id_of_handle_;
  std::deque<JobNumber> ended_;                        // in order of ending
  std::map<std::uint32_t, std::size_t> jobs_of_user_;  // that have not ended
  std::map<Key, std::vector<JobNumber>> keys_;
  std::array<std::size_t, kJobStates> counts_{};
  JobNumber next_job_{1};
};

}  // namespace partita::control
