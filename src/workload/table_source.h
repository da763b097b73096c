// TableSource: a JobSource over a CSV table; a dialect only says how one row becomes a job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workload/csv.h"
#include "workload/job_source.h"

namespace partita::workload {

struct RowOptions {
  bool skip_bad_rows = false;             // count them instead of stopping at the first
  std::optional<std::uint64_t> max_jobs;  // stop after so many
};

class TableSource : public JobSource {
 public:
  Result<bool> next(JobRow& row) final;
  double progress() const final { return table_.progress(); }
  std::vector<std::string> warnings() const override;

 protected:
  TableSource(CsvTable table, const RowOptions& options)
      : table_(std::move(table)), options_(options) {}

  // Fills `row` from the current row of table(): true; or false when the row is none of our
  // business, after a call of pass_over; or the error that makes it a bad row.
  virtual Result<bool> convert(JobRow& row) = 0;

  // Counts the row under a reason that ends "12 rows passed over: ".
  bool pass_over(std::string_view reason);
  void warn(std::string sentence) { notes_.push_back(std::move(sentence)); }
  const CsvTable& table() const { return table_; }

 private:
  Result<bool> at_end() const;

  CsvTable table_;
  RowOptions options_;
  std::uint64_t jobs_ = 0;
  std::uint64_t bad_rows_ = 0;
  std::string first_bad_;
  std::vector<std::pair<std::string, std::uint64_t>> passed_over_;
  std::vector<std::string> notes_;
};

}  // namespace partita::workload
