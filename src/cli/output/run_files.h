// The files a run writes on request: schedule.csv, layouts.csv, the records of jobs, the page.
//
// docs/reference/cli.md has the columns. Times are exact to the microsecond, jobs have their
// external ids.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "cli/flags/values.h"
#include "cli/output/output_file.h"
#include "sim/run.h"
#include "workload/job.h"

namespace partita::cli {

class RunFiles {
 public:
  // Opens the files that the values ask for, so that a path that cannot be written is known before
  // the run.
  static Result<RunFiles> open(const Values& values);

  bool wants_schedule() const {
    return schedule_ != nullptr || layouts_ != nullptr || report_ != nullptr;
  }
  bool wants_jobs() const { return jobs_ != nullptr || report_ != nullptr; }
  bool wants_report() const { return report_ != nullptr; }

  // All of them, or none. `page` is what the report holds.
  Status write(const workload::Trace& trace, const sim::RunOptions& options,
               const sim::RunResult& result, std::string_view page);

 private:
  std::unique_ptr<OutputFile> schedule_;
  std::unique_ptr<OutputFile> layouts_;
  std::unique_ptr<OutputFile> jobs_;
  std::unique_ptr<OutputFile> report_;
};

}  // namespace partita::cli
