// Scheduler: which job runs on which slice. The interface a policy author implements.
//
// Most schedulers are an order of jobs and a rule for the slice, and are written as those two small
// interfaces (policies/job_order.h, policies/slice_rule.h); this one is for those that are not.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "decide/view.h"

namespace partita::decide {

// A job goes to a slice, or, when `to` is not valid, back to waiting.
struct Move {
  JobHandle job;
  SliceId to;
};

// The moves are carried out together: all stops first, then all starts, so two jobs may swap.
struct Decision {
  std::vector<Move> moves;
};

// Told of everything that happens, asked after each batch of simultaneous events.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  // Whether it can schedule on this cluster, or why not; asked before a run begins.
  virtual Status accepts(const View&) const { return {}; }

  // A run begins: no jobs; slices as in the view.
  virtual void begin(const View& view) = 0;
  virtual void job_arrived(const View& view, JobHandle job) = 0;
  // The job's slice was taken from it and it waits again. (Not called for the scheduler's own
  // moves.)
  virtual void job_stopped(const View& view, JobHandle job) = 0;
  // The job completed. Its record still says on which slice.
  virtual void job_done(const View& view, JobHandle job) = 0;
  // The job's deadline is about to move, or it is about to leave its slice and need a larger one;
  // job_returned follows when it has.
  virtual void job_withdrawn(const View& view, JobHandle job) = 0;
  virtual void job_returned(const View& view, JobHandle job) = 0;
  // Instances came, went, closed or reopened, or jobs withdrawn from them left them.
  virtual void layout_changed(const View& view) = 0;

  // A sentence for the log about what it did of its own accord since the last call; empty: nothing.
  virtual std::string take_note() { return {}; }

  // REQUIRES of the answer: a job moves at most once, only to an open slice that fits it or to one
  // whose job moves away in the same decision; without preemption only waiting jobs move.
  virtual void decide(const View& view, Decision& decision) = 0;
};

}  // namespace partita::decide
