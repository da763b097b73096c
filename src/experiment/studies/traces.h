// The published traces that the studies know: how each becomes windows of a fleet, and the mixes
// that were tuned on the windows kept for that.
#pragma once

#include <string>
#include <vector>

#include "experiment/studies/studies.h"
#include "workload/readers/registry.h"

namespace partita::experiment {

struct TraceRow {
  const char* name;
  std::vector<std::string> files;  // as published, without .gz or .zst
  workload::ReaderOptions reader;
  Windows windows;
  const char* gpu;
  std::uint32_t gpus;
  decide::Preemption preemption;  // in the sensitivity study
  std::string mix;                // for modified due date under that
  std::string mix_none;           // for modified due date by the fastest size, no preemption
  std::string mix_pays;           // for modified due date with preemption that pays, 30 s
  std::string timetable = {};
  std::string pace = {};
};

// A trace that was found, as a setting without policies, and its row.
struct FoundTrace {
  TraceRow row;
  StudySetting setting;
};

// The traces whose files the folder has (also as .gz or .zst); an error when it has none.
Result<std::vector<FoundTrace>> find_traces(const std::string& folder);

}  // namespace partita::experiment
