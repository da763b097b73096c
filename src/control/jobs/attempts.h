// Attempts: processes of jobs: how they start, how they are stopped, and what follows from how they
// end.
#pragma once

#include <string>

#include "control/control_state.h"
#include "control/jobs/job_flow.h"
#include "control/jobs/job_lengths.h"
#include "control/slice_records.h"

namespace partita::control {

class Attempts {
 public:
  Attempts(ControlState& state, JobFlow& flow, SliceRecords& slices)
      : lengths(state), state_(state), flow_(flow), slices_(slices) {}

  // REQUIRES: the slice is idle and fits the job, which waits.
  void start(Job& job, cluster::SliceId slice);
  // The same where the job's quotas leave no room for it on the slice after all: it waits on.
  void decline(Job& job, cluster::SliceId slice);
  // Its process is to end; `checkpoint`: after its checkpoint command, where it has one.
  void stop(Job& job, bool checkpoint);
  // The job on the slice, if there is one, is stopped and begins again elsewhere.
  void stop_on(cluster::SliceId slice, const std::string& why);

  void take(const Cancel& cancel);
  void take(const CancelJobs& cancel);
  void take(const Requeue& requeue);
  void take(const launch::Report& report);
  // What the process on the job's slice was seen to hold.
  void watch_memory(Job& job, double used_gib);
  // Policies think of a job as running until here.
  void leave_slice(Job& job);

  JobLengths lengths;

 private:
  void cancel(Job& job);
  void began(Job& job, const launch::Report& report);
  void did_not_begin(Job& job, const launch::Report& report);
  void postpone(Job& job, const launch::Report& report);
  void ended(Job& job, const launch::Report& report);
  void lose(Job& job, const std::string& why);
  void wait_again(Job& job, JobState before, const std::string& how);
  void queue_again(Job& job);
  void interrupt(Job& job);
  void close(Job& job, store::AttemptOutcome outcome, std::string reason, Micros ended = {});
  bool out_of_memory(const Job& job, const launch::Report& report) const;
  void begin_again_larger(Job& job);
  bool can_begin_with(const Job& job, double need_gib) const;
  void grow_after_memory_out(Job& job) const;
  double memory_of(const store::AttemptRow& attempt) const;
  void restart_early(Job& job, double projected_gib, double capacity_gib);
  launch::Start start_message(const Job& job, cluster::SliceId slice) const;

  ControlState& state_;
  JobFlow& flow_;
  SliceRecords& slices_;
};

}  // namespace partita::control
