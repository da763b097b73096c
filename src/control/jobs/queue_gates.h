// QueueGates: which of the waiting jobs may start at all, before any policy is asked.
//
// A job that may not is barred: policies do not know of it, and its reason says what it waits for.
// Where so many jobs run at once, so many are admitted: those that run and those that policies may
// start. The others wait in a lane, and the next is looked at when one leaves. Here stands who has
// to be looked at again; JobFlow does what follows. Nothing of it is written down: it follows from
// the jobs, and is made anew from them at a start.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/jobs/job_table.h"

namespace partita::control {

class QueueGates {
 public:
  // What limits how many run: an array, by its first job.
  using LaneKey = JobNumber;

  // Why a job may not start now.
  struct Bar {
    std::string reason;
    bool for_ever = false;  // it never will
    std::optional<LaneKey> lane = {};
  };

  // The job has not ended; once for each, and again when it is queued after it had.
  void add(const Job& job);
  // It has.
  void note_ended(Job& job);

  std::optional<Bar> bar_of(const JobTable& jobs, const Job& job) const;
  // Policies are told of it, or not any more, for that reason.
  void note_admitted(Job& job);
  void note_barred(Job& job, const Bar& bar);

  // The jobs to look at again after what happened since the last call, in order of their numbers.
  std::vector<JobNumber> take_due();

 private:
  // Who is next in a lane: a higher priority, then a lower number.
  using Rank = std::pair<std::int64_t, JobNumber>;

  struct Lane {
    std::size_t limit = 0;
    std::size_t members = 0;  // that have not ended
    std::size_t admitted = 0;
    std::set<Rank> waiting;
  };

  static std::optional<LaneKey> lane_of(const Job& job);
  static Rank rank_of(const Job& job) { return {-job.spec.priority.value_or(0), job.id}; }
  void leave(Job& job);
  void stop_waiting(const Job& job);
  // The next of the lane are due, as many as there is room for.
  void offer(const Lane& lane);

  std::map<JobNumber, std::set<JobNumber>> dependents_;  // by the job that they run after
  std::map<LaneKey, Lane> lanes_;
  std::map<JobNumber, LaneKey> waits_in_;
  std::set<JobNumber> due_;
};

}  // namespace partita::control
