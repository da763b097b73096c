// OutputKeeper: which output of ended jobs is kept: no more than so many bytes, for no longer than
// so long. The oldest goes first; that of a job that has not ended never does.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/job_number.h"
#include "base/units.h"
#include "launch/attempt_files.h"
#include "store/store.h"

namespace partita::daemon {

struct OutputLimits {
  std::uint64_t bytes_max = 64ULL << 30U;  // of all ended jobs together; 0: no limit
  Micros age_max = {};                     // since the job ended; 0: no limit
};

class OutputKeeper {
 public:
  // When a job ended; nothing: it has not, or there is no such job.
  using EndOf = std::function<std::optional<Micros>(JobNumber job)>;
  using Known = std::function<bool(JobNumber job)>;

  // `files` outlives the keeper.
  OutputKeeper(const launch::AttemptFiles& files, OutputLimits limits, EndOf end_of)
      : files_(files), limits_(limits), end_of_(std::move(end_of)) {}

  // At the start: reads what there is. Files of jobs that nobody knows any more are removed.
  void open(const Known& known);
  // After a batch was written: takes note of jobs that ended, removes the output of those that are
  // forgotten, and what is too old or too much. Of whom that was.
  std::vector<JobNumber> keep(const store::Batch& batch, Micros now);

  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Kept {
    Micros ended;
    std::uint64_t bytes = 0;
  };
  void note_ended(JobNumber job, Micros at);
  void drop(JobNumber job);
  std::vector<JobNumber> sweep(Micros now);

  const launch::AttemptFiles& files_;
  OutputLimits limits_;
  EndOf end_of_;
  std::map<JobNumber, Kept> kept_;
  std::set<std::pair<Micros, JobNumber>> by_age_;
  std::uint64_t bytes_ = 0;
};

}  // namespace partita::daemon
