// JobSource: jobs one at a time, so that a trace larger than memory can be read, made or converted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workload/job.h"

namespace partita::workload {

// A job on its way: its class still has a name, not an index.
struct JobRow {
  std::string id;
  std::string job_class;
  Job job;
  MemoryCurve memory = {};
  std::string user = {};  // empty: nobody in particular
  std::int32_t priority = 0;
};

// Makes the id a number, for sources whose jobs have no name of their own.
void set_id(JobRow& row, std::uint64_t number);

class JobSource {
 public:
  virtual ~JobSource() = default;

  // Fills `row` and returns true; false at the end; an error names file, line and column.
  // Memory in use does not grow with the number of rows.
  virtual Result<bool> next(JobRow& row) = 0;

  // Whether rows may have a memory curve.
  virtual bool has_memory_curves() const { return false; }
  // Whether rows may say that their job cannot be resumed.
  virtual bool says_resumable() const { return false; }
  // Whether rows may say whose job they are, and of which priority.
  virtual bool says_users() const { return false; }
  virtual bool says_priorities() const { return false; }

  // Fraction of the input read so far, 0 to 1, for progress bars; negative when unknown.
  virtual double progress() const { return -1; }

  // What was passed over, for the user: "12 rows skipped: ...", "column 'foo' is not used". Read
  // after the end.
  virtual std::vector<std::string> warnings() const { return {}; }
};

// The user who has the jobs that say none.
inline constexpr std::string_view kUserUnnamed = "none";

// Everything the source has, sorted by arrival.
Result<Trace> read_all(JobSource& source);

}  // namespace partita::workload
