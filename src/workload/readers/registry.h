// The table of trace dialects: by name, or recognised by the columns of a header.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "workload/readers/trace_reader.h"

namespace partita::workload {

struct Dialect {
  std::string_view name;
  std::string_view summary;
  std::span<const std::string_view> columns;  // all needed; others may be there
  // The header of `table` has been read; `input` is what it came from, for a first pass.
  Result<std::unique_ptr<JobSource>> (*open)(CsvTable table, const Input& input,
                                             const ReaderOptions& options);
};

std::span<const Dialect> dialects();  // sorted by name
Result<const Dialect*> find_dialect(std::string_view name);

// The dialect that has all its columns in the header; the one with most of them when several do.
// Null when none does.
const Dialect* detect(std::span<const std::string> header);

// The jobs of a file, of standard input ("-") or of a buffer. An empty dialect name means that the
// header decides; a header of no known dialect is refused with what each one needs.
Result<std::unique_ptr<JobSource>> open_trace(const Input& input, const ReaderOptions& options,
                                              std::string_view dialect = {});

}  // namespace partita::workload
