// What the tests of the trace readers share: a trace in a string, and the traces beside the tree.
#pragma once

#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "workload/readers/registry.h"
#include "workload/test_support.h"

namespace partita::workload {

inline Result<std::unique_ptr<JobSource>> open_text(std::string_view text,
                                                    const ReaderOptions& options) {
  return open_trace(Input::memory(text, "t.csv"), options);
}

inline std::vector<JobRow> rows_of(std::string_view text, const ReaderOptions& options) {
  return all_rows(open_text(text, options));
}

inline std::vector<std::string> warnings_of(std::string_view text, const ReaderOptions& options) {
  const auto source = open_text(text, options);
  all_rows(source);
  return (*source)->warnings();
}

// The first message that stops reading; "accepted" when none does.
inline std::string refusal(std::string_view text, const ReaderOptions& options) {
  const auto source = open_text(text, options);
  if (!source) return source.error().message;
  const Result<Trace> trace = read_all(**source);
  return trace ? "accepted" : trace.error().message;
}

// The path of a real trace, or nothing when this machine has none.
inline std::string shared_trace(std::string_view name) {
  const std::string path =
      std::string(PARTITA_SOURCE_DIR) + "/../shared/traces/" + std::string(name);
  return access(path.c_str(), R_OK) == 0 ? path : "";
}

inline std::vector<double> whole_gpu_s(const std::vector<JobRow>& rows) {
  std::vector<double> times;
  for (const JobRow& row : rows) times.push_back(row.job.time.back().to_seconds());
  return times;
}

}  // namespace partita::workload
