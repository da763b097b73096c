// SMART-MIG's time-indexed program as data: time cut into slots, jobs taken for linear, and what it
// costs a job to be finished by the end of each slot.
//
// A job that ends inside a slot counts as ended at its begin, and work may be done in all of the
// slot in which the job arrives, so that every schedule is a solution that costs no more than its
// tardiness; the program misses at most two slots a job. A job may also remain unfinished: it is
// late up to the end of the last slot then, and no schedule that goes on for longer pays less.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bounds/problem.h"

namespace partita::bounds {

struct SlotTask {
  std::size_t first = 0;  // slot it can be worked on
  double due = 0;         // microseconds
  double length = 0;      // microseconds on a whole GPU, rounded down
};

struct SlotProgram {
  double slot = 0;  // microseconds, a whole number
  std::size_t slots = 0;
  double gpus = 0;
  std::vector<SlotTask> tasks;  // in the order of the jobs

  double slot_s() const { return slot * 1e-6; }
  // Seconds a job is late, rounded down, that is finished by the end of this slot and not before;
  // as slot `slots`: that is not finished.
  double late_s(const SlotTask& task, std::size_t finish) const;
};

// REQUIRES: slot_us and slots of at least 1, together no more than 2^52 microseconds.
SlotProgram slot_program(const Problem& problem, std::int64_t slot_us, std::size_t slots);

// A time by which some optimum of the program has done all work, microseconds.
double slots_end(const Problem& problem);

}  // namespace partita::bounds
