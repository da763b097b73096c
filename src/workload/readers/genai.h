// GenAI: Alibaba's image-generation requests of cluster-trace-v2026-GenAI (one row a request).
#pragma once

#include <memory>

#include "workload/readers/trace_reader.h"

namespace partita::workload {

inline constexpr std::string_view kGenaiColumns[] = {"gmt_create", "predict_type", "predict_status",
                                                     "exec_time_seconds"};

// A row is a job that takes `exec_time_seconds` on the whole GPU, from `gmt_create` on. Requests
// that did not succeed are passed over. The id is the line number, the class the predict_type.
Result<std::unique_ptr<JobSource>> open_genai(CsvTable table, const Input& input,
                                              const ReaderOptions& options);

}  // namespace partita::workload
