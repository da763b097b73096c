#include "bounds/slots/slot_program.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "bounds/rounding.h"

namespace partita::bounds {
namespace {

double length_of(const Problem& problem, const BoundJob& job) {
  const double work = times_below(job.least_work(problem.modes), kWorkAsked);
  return over_below(work, problem.compute_slices);
}

}  // namespace

// Whole numbers of microseconds; only their quotient is rounded.
double SlotProgram::late_s(const SlotTask& task, std::size_t finish) const {
  const double late = static_cast<double>(finish) * slot - task.due;
  return late > 0 ? over_below(late, 1e6) : 0;
}

SlotProgram slot_program(const Problem& problem, std::int64_t slot_us, std::size_t slots) {
  CHECK(slot_us > 0 && slots > 0);
  SlotProgram program;
  program.slot = static_cast<double>(slot_us);
  program.slots = slots;
  program.gpus = problem.gpus;
  CHECK(program.slot * static_cast<double>(slots) <= 0x1p52);
  for (const BoundJob& job : problem.jobs) {
    const double first = std::floor(job.release / program.slot);
    const double last = static_cast<double>(slots);
    // Times are whole numbers: a quotient next to a slot's begin may be rounded up to it.
    const bool early = first * program.slot > job.release;
    program.tasks.push_back({static_cast<std::size_t>(std::min(early ? first - 1 : first, last)),
                             job.due, length_of(problem, job)});
  }
  return program;
}

// After the last arrival no GPU idles while a job waits.
double slots_end(const Problem& problem) {
  double last = 0;
  double sum = 0;
  double longest = 0;
  for (const BoundJob& job : problem.jobs) {
    const double length = length_of(problem, job);
    last = std::max(last, job.release);
    sum += length;
    longest = std::max(longest, length);
  }
  return last + longest + (sum - longest) / problem.gpus;
}

}  // namespace partita::bounds
