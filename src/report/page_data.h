// The data of a report page, made from the runs of a result file and nothing else
// (docs/reference/report.md).
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "base/result.h"
#include "experiment/results/run_record.h"
#include "report/study_notes.h"

namespace partita::report {

struct PageInput {
  std::span<const experiment::RunRecord> runs;  // in any order; only test days are shown
  StudyNotes notes;
  nlohmann::ordered_json days = nullptr;  // of parse_days; null without
  // What no schedule can beat, by setting and day; may be empty.
  std::span<const experiment::RunRecord> bounds = {};
};

// Settings that the notes do not name come after those they do, in order of their names; a setting
// without a known reference takes its first policy by name. Fails when there are no test runs, and
// when the policies of a setting did not meet the same days.
Result<nlohmann::ordered_json> page_data(const PageInput& input);

}  // namespace partita::report
