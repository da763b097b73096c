// The native trace format: a CSV file of jobs, read and written exactly
// (docs/reference/workloads.md).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/table_source.h"

namespace partita::workload {

inline constexpr std::string_view kJobCsvHeader =
    "id,arrival_s,deadline_s,class,memory_gib,t1_s,t2_s,t3_s,t4_s,t7_s";
inline constexpr std::array<std::string_view, 10> kJobCsvColumns{
    "id", "arrival_s", "deadline_s", "class", "memory_gib", "t1_s", "t2_s", "t3_s", "t4_s", "t7_s"};

// What a job's memory does, for jobs that have a memory curve: all of these columns or none; all
// empty for a job without.
inline constexpr std::string_view kMemoryCsvHeader =
    "memory_start_gib,memory_peak_gib,memory_peak_at,memory_noise_gib";
inline constexpr std::array<std::string_view, 4> kMemoryCsvColumns{
    "memory_start_gib", "memory_peak_gib", "memory_peak_at", "memory_noise_gib"};

// Whether an interrupted job goes on where it stopped: 1 or 0; where the column is missing or the
// field empty, it does.
inline constexpr std::string_view kResumableCsvColumn = "resumable";

// Whose job it is, and its priority: a whole number, higher first. Empty fields and missing columns
// are nobody in particular and 0.
inline constexpr std::string_view kUserCsvColumn = "user";
inline constexpr std::string_view kPriorityCsvColumn = "priority";

// The class of a job whose class field is empty.
inline constexpr std::string_view kClassUnnamed = "none";

class CsvJobSource final : public TableSource {
 public:
  static Result<std::unique_ptr<CsvJobSource>> open(const Input& input,
                                                    const RowOptions& options = {});
  // The same for a table whose header has been read.
  static Result<std::unique_ptr<CsvJobSource>> over(CsvTable table, const RowOptions& options);

  bool has_memory_curves() const override { return memory_columns_.has_value(); }
  bool says_resumable() const override { return resumable_column_.has_value(); }
  bool says_users() const override { return user_column_.has_value(); }
  bool says_priorities() const override { return priority_column_.has_value(); }

 private:
  CsvJobSource(CsvTable table, const RowOptions& options, const std::vector<std::size_t>& columns);
  Result<bool> convert(JobRow& row) override;
  Status convert_times(Job& job) const;
  Status convert_memory(MemoryCurve& memory) const;
  Status convert_resumable(Job& job) const;
  Status convert_owner(JobRow& row) const;
  Status find_memory_columns();

  std::array<std::size_t, kJobCsvColumns.size()> columns_{};
  std::optional<std::vector<std::size_t>> memory_columns_;
  std::optional<std::size_t> resumable_column_;
  std::optional<std::size_t> user_column_;
  std::optional<std::size_t> priority_column_;
};

// Append one line each, with its line feed. What write_row prints, CsvJobSource reads back equal.
// REQUIRES: id and class without line feeds; a class that is not empty.
// A row without its optional columns must not need them.
struct OptionalColumns {
  bool memory = false;
  bool resumable = false;
  bool user = false;
  bool priority = false;
};
void write_header(std::string& out, OptionalColumns columns = {});
void write_row(std::string& out, const JobRow& row, OptionalColumns columns = {});

// format_seconds without its allocations: seven of these make a row.
void append_seconds(std::string& out, Micros time);

}  // namespace partita::workload
