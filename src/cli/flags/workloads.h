// Where the jobs of a command come from: a generator or a file, as the values say.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "cli/flags/values.h"
#include "cli/output/console.h"
#include "workload/job_source.h"

namespace partita::cli {

// The generator of --kind (papers when it is not set), or an error that names the flag.
Result<std::unique_ptr<workload::JobSource>> make_generator(const Values& values);

// The file of --jobs, in the native format or a known dialect. REQUIRES: --jobs is set.
Result<std::unique_ptr<workload::JobSource>> open_jobs(const Values& values);

// All jobs of a run, and the end of their arrivals where a generator knows it (else 0).
struct RunJobs {
  workload::Trace trace;
  Micros window_end;
};
// From --jobs, else from the generator of --kind. Prints the source's warnings.
Result<RunJobs> read_run_jobs(const Values& values, const Console& console);

// The jobs of that generator for any seed, without a word; on any thread.
using DayMaker = std::function<Result<workload::Trace>(std::uint64_t seed)>;
Result<DayMaker> make_days_of_generator(const Values& values);

// Rows of `source` to `out` in the native format, with progress and the source's warnings.
struct CopiedJobs {
  std::uint64_t jobs = 0;
  Micros first_arrival;
  Micros last_arrival;
};
Result<CopiedJobs> copy_jobs(workload::JobSource& source, const Values& values, FdWriter& out,
                             const Console& console);

}  // namespace partita::cli
