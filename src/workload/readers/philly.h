// Philly: Microsoft's job trace of 2017, as the Sia artifact prepared it (one row a job).
#pragma once

#include <memory>

#include "workload/readers/trace_reader.h"

namespace partita::workload {

inline constexpr std::string_view kPhillyColumns[] = {"timestamp", "duration", "num_gpus"};

// A row is a job that takes `duration` on the whole GPU, from `timestamp` on. Jobs of several GPUs
// are passed over, or flattened on request. The id is the line number, the class that of the curve.
// The file is not in order of time, and so are the jobs not.
Result<std::unique_ptr<JobSource>> open_philly(CsvTable table, const Input& input,
                                               const ReaderOptions& options);

}  // namespace partita::workload
