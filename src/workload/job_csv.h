// The native trace format: a CSV file of jobs, read and written exactly (docs/workloads.md).
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "workload/table_source.h"

namespace partita::workload {

inline constexpr std::string_view kJobCsvHeader =
    "id,arrival_s,deadline_s,class,memory_gib,t1_s,t2_s,t3_s,t4_s,t7_s";
inline constexpr std::array<std::string_view, 10> kJobCsvColumns{
    "id", "arrival_s", "deadline_s", "class", "memory_gib", "t1_s", "t2_s", "t3_s", "t4_s", "t7_s"};

// The class of a job whose class field is empty.
inline constexpr std::string_view kClassUnnamed = "none";

class CsvJobSource final : public TableSource {
 public:
  static Result<std::unique_ptr<CsvJobSource>> open(const Input& input,
                                                    const RowOptions& options = {});
  // The same for a table whose header has been read.
  static Result<std::unique_ptr<CsvJobSource>> over(CsvTable table, const RowOptions& options);

 private:
  CsvJobSource(CsvTable table, const RowOptions& options, const std::vector<std::size_t>& columns);
  Result<bool> convert(JobRow& row) override;
  Status convert_times(Job& job) const;

  std::array<std::size_t, kJobCsvColumns.size()> columns_{};
};

// Append one line each, with its line feed. What write_row prints, CsvJobSource reads back equal.
// REQUIRES: id and class without line feeds; a class that is not empty.
void write_header(std::string& out);
void write_row(std::string& out, std::string_view id, std::string_view job_class, const Job& job);
void write_row(std::string& out, const JobRow& row);

// format_seconds without its allocations: seven of these make a row.
void append_seconds(std::string& out, Micros time);

}  // namespace partita::workload
