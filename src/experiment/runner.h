// Runner: the runs of an experiment on all cores, into one result file, resumable after a kill.
//
//   RunnerOptions options{.path = "x.runs.jsonl", .definition = text_of(scenario)};
//   const Result<Outcome> outcome = run_tasks(tasks, options);
//
// Runs already in the file are not repeated. When all are there the file is put in order, so that
// neither the number of threads nor interruptions leave a trace in its bytes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/results/run_record.h"

namespace partita::experiment {

struct Task {
  RunKey key;
  // Called on any thread, at the same time as others. Gives the same record for the same key,
  // whenever it is called.
  std::function<Result<RunRecord>()> run;
};

struct Progress {
  std::size_t done = 0;  // found in the file or finished since
  std::size_t total = 0;
  std::size_t found = 0;               // in the file at the start
  std::optional<double> seconds_left;  // nothing before the first run, or without a clock
};

enum class Existing : std::uint8_t {
  kResume,  // keep the runs that are there; refuse those of another definition
  kDiscard,
};

enum class Ending : std::uint8_t {
  kFinal,  // the file holds the tasks' runs and no others, in order
  kRound,  // the file keeps what it has, in order of completion: more tasks will follow
};

struct RunnerOptions {
  std::string path;           // of the result file
  std::string definition;     // see definition.h
  std::uint32_t threads = 0;  // 0: one for each core
  Existing existing = Existing::kResume;
  Ending ending = Ending::kFinal;
  std::function<void(const Progress&)> progress = {};  // called by one thread at a time
  std::function<double()> seconds_now = {};            // a clock, for the time left
  // Once it is true no run is begun; those under way are finished and kept. May be null.
  const std::atomic<bool>* cancel = nullptr;
};

struct Outcome {
  std::vector<RunRecord> records;  // of the tasks, in order of their keys
  bool cancelled = false;          // then some are missing and the file waits to be resumed
};

// The first error (in order of tasks) of a run stops it; what is finished stays in the file.
Result<Outcome> run_tasks(const std::vector<Task>& tasks, const RunnerOptions& options);

}  // namespace partita::experiment
