// Openb: the pods of Alibaba's cluster-trace-gpu-v2023, which ask for fractions of a GPU.
#pragma once

#include <memory>

#include "workload/readers/trace_reader.h"

namespace partita::workload {

inline constexpr std::string_view kOpenbColumns[] = {
    "name", "num_gpu", "gpu_milli", "qos", "creation_time", "deletion_time", "scheduled_time"};

// The trace was cut here; a pod deleted at this second still ran.
inline constexpr Micros kOpenbEnd = Micros::seconds(12'902'960);

// A row is a job that came at creation_time and ran D = deletion_time - scheduled_time with the
// share f = gpu_milli / 1000 of one GPU. On a slice of k sevenths with k/7 >= f it takes D, no
// less; on a smaller one D x 7f / k, or it may not run there. The id is the name, the class the
// qos. Pods without a GPU, with several, never started, or still running at the end are passed
// over. Speed-up curves do not apply.
Result<std::unique_ptr<JobSource>> open_openb(CsvTable table, const Input& input,
                                              const ReaderOptions& options);

}  // namespace partita::workload
