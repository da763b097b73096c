// The options of each generator and of the trace readers, filled from the values.
#pragma once

#include <optional>
#include <string>
#include "base/result.h"
#include "cli/flags/values.h"
#include "workload/generators/migm.h"
#include "workload/generators/papers.h"
#include "workload/generators/poisson.h"
#include "workload/generators/realistic.h"
#include "workload/readers/trace_reader.h"

namespace partita::cli {

workload::MigmOptions migm_options(const Values& values);
workload::PapersOptions papers_options(const Values& values);
workload::PoissonOptions poisson_options(const Values& values);
workload::RealisticOptions realistic_options(const Values& values);
workload::ReaderOptions reader_options(const Values& values);

// What makes the jobs: "migm", "papers", "poisson", "realistic", "trace" for a file; nothing when
// neither --jobs nor --kind is set. A typed flag wins over a file's; both in one place are an
// error.
Result<std::optional<std::string>> job_origin(const Values& values);

// Refuses a value that is no use to this origin of jobs.
Status check_applies(const Values& values, std::string_view origin);

}  // namespace partita::cli
