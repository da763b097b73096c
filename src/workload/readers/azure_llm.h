// Azure LLM: Microsoft's traces of LLM inference requests of 2023 and 2024 (one row a request).
#pragma once

#include <memory>

#include "workload/readers/trace_reader.h"

namespace partita::workload {

inline constexpr std::string_view kAzureLlmColumns[] = {"TIMESTAMP", "ContextTokens",
                                                        "GeneratedTokens"};

// A row is a job of ContextTokens / prefill rate + GeneratedTokens / decode rate seconds on the
// whole GPU, from TIMESTAMP on. The trace has no times: the two rates are assumptions. The id is
// the line number, the class "llm".
Result<std::unique_ptr<JobSource>> open_azure_llm(CsvTable table, const Input& input,
                                                  const ReaderOptions& options);

}  // namespace partita::workload
