// Result files: the runs of an experiment on disk, one line a run (docs/reference/results.md).
//
// While the experiment runs, a line is appended for each run that is done, and a crash at any
// moment costs at most the line being written. When all are done the file is rewritten in order, so
// that its bytes do not tell which run was finished first.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/results/run_record.h"

namespace partita::experiment {

// In the order of the file. A last line without its end was cut short by a crash and is left out.
// Anything else that is no run, and a run that is there twice, is an error with its line.
Result<std::vector<RunRecord>> read_results(const std::string& path);

// Replaces the file by these records in order of setting, policy and seed.
// REQUIRES: check_record of each.
Status write_results(const std::string& path, std::vector<RunRecord> records);

// Appends to a result file, of which it is the only writer on this machine. Not for several threads
// at a time.
class ResultWriter {
 public:
  // Makes the file, or removes the cut line at the end of the one that is there.
  static Result<std::unique_ptr<ResultWriter>> open(const std::string& path);
  ~ResultWriter();
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;

  // After it returns, killing the program does not lose the run. After an error the file takes no
  // more, so that a half-written line stays the last.
  Status append(const RunRecord& record);
  // Forgets all runs.
  Status clear();

 private:
  ResultWriter(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  int fd_;
  std::string path_;
  bool failed_ = false;
};

}  // namespace partita::experiment
