// QueueGates: which of the waiting jobs may start at all, before any policy is asked.
//
// A job that may not is barred: policies do not know of it, and its reason says what it waits for.
// Here stands who has to be looked at again when something ends; JobFlow does what follows. Nothing
// of it is written down: it follows from the jobs, and is made anew from them at a start.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/jobs/job_table.h"

namespace partita::control {

class QueueGates {
 public:
  // Why a job may not start now.
  struct Bar {
    std::string reason;
    bool for_ever = false;  // it never will
  };

  // The job has not ended; once for each, and again when it is queued after it had ended.
  void add(const Job& job);
  // It has.
  void note_ended(const Job& job);

  std::optional<Bar> bar_of(const JobTable& jobs, const Job& job) const;

  // The jobs to look at again after what ended since the last call, in order of their numbers.
  std::vector<JobNumber> take_due();

 private:
  std::map<JobNumber, std::set<JobNumber>> dependents_;  // by the job that they run after
  std::set<JobNumber> due_;
};

}  // namespace partita::control
