// What the tests of generators and readers share: rows of a source, quantiles, bytes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "workload/job_csv.h"
#include "workload/job_source.h"

namespace partita::workload {

template <typename Source>
std::vector<JobRow> all_rows(const Result<std::unique_ptr<Source>>& source) {
  std::vector<JobRow> rows;
  EXPECT_TRUE(source.ok()) << (source.ok() ? "" : source.error().message);
  if (!source.ok()) return rows;
  JobRow row;
  while (true) {
    const Result<bool> more = (*source)->next(row);
    EXPECT_TRUE(more.ok()) << (more.ok() ? "" : more.error().message);
    if (!more.ok() || !*more) return rows;
    rows.push_back(row);
  }
}

inline std::string csv_of(const std::vector<JobRow>& rows) {
  std::string text;
  write_header(text);
  for (const JobRow& row : rows) write_row(text, row);
  return text;
}

// By rank, without interpolation.
inline double quantile(std::vector<double> values, double part) {
  CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

inline std::size_t hour_of_day(const JobRow& row) {
  return static_cast<std::size_t>(row.job.arrival.count / 3'600'000'000) % 24;
}

}  // namespace partita::workload
