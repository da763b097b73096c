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

inline double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

inline double coefficient_of_variation(const std::vector<double>& values) {
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / static_cast<double>(values.size())) / middle;
}

// Seconds between one arrival and the next.
inline std::vector<double> gaps_s(const std::vector<JobRow>& rows) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    gaps.push_back((rows[i].job.arrival - rows[i - 1].job.arrival).to_seconds());
  }
  return gaps;
}

inline std::size_t hour_of_day(const JobRow& row) {
  return static_cast<std::size_t>(row.job.arrival.count / 3'600'000'000) % 24;
}

}  // namespace partita::workload
