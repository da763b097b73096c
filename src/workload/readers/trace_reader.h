// TraceReader: what the readers of real traces share, from the zero of time to the deadline.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workload/curve_mix.h"
#include "workload/table_source.h"

namespace partita::workload {

// How rows become jobs. docs/reference/workloads.md says what each dialect does with them.
struct ReaderOptions {
  RowOptions rows;

  // Speed-up curves (see CurveMix), drawn by row; empty: the dialect's own.
  std::string curves;
  // GiB each job needs; nothing: the dialect's own.
  std::optional<double> memory_gib;
  bool memory_from_curve = false;  // the curve's estimate, whatever the dialect says

  // Deadline = arrival + U(low, high) x the time on the whole GPU, drawn by row. The default is the
  // middle 80 % of the slack that Hydra reports.
  double deadline_low = 1.75;
  double deadline_high = 5.30;
  std::uint64_t seed = 1;

  // The zero of time: "first" (the earliest row), "midnight" (of the day of the earliest row, so
  // that hours of the day stay what they were) or a time as the trace writes it; rows before a
  // given time are passed over. The first two read the file twice; standard input and pipes cannot
  // be, so there the first row counts as the earliest and an earlier one is a bad row.
  std::string origin = "first";
  double time_scale = 1;      // times between arrivals are multiplied: 0.5 doubles the load
  double duration_scale = 1;  // so are durations

  bool philly_flatten = false;  // jobs of n GPUs become jobs n times as long on one

  bool openb_censored = false;       // keep pods that still ran when the trace ended
  bool openb_smaller_slices = true;  // a slice below the share is slower, not forbidden
  double openb_gpu_gib = 0;          // memory of the whole GPU, of which a pod needs its share

  double azure_prefill_tokens_per_s = 8000;
  double azure_decode_tokens_per_s = 40;
};

Status check_options(const ReaderOptions& options);

// How a dialect writes times.
using TimeParser = std::optional<Micros> (*)(std::string_view);

// What a dialect tells about itself.
struct TraceFacts {
  std::string_view time_column;
  TimeParser parse_time;
  std::string_view time_wanted;      // for messages: "a time such as 2017-10-09 07:01:55"
  std::string_view curves;           // when the options name none
  std::optional<double> memory_gib;  // when the options give none; nothing: the curve's estimate
};

class TraceReader : public TableSource {
 public:
  // What a reader is made of.
  struct Opened {
    CsvTable table;
    TraceFacts facts;
    ReaderOptions options;
    std::vector<std::size_t> columns;  // those asked for, in that order
    CurveMix mix;
    std::optional<Micros> origin = {};  // nothing: the first row decides
    bool origin_given = false;
    std::size_t time_column = 0;
  };

  // A Reader over the table, which has a constructor that takes an Opened.
  template <typename Reader>
  static Result<std::unique_ptr<JobSource>> open(CsvTable table,
                                                 std::span<const std::string_view> columns,
                                                 const TraceFacts& facts, const Input& input,
                                                 const ReaderOptions& options) {
    Result<Opened> opened = prepare(std::move(table), columns, facts, input, options);
    if (!opened) return opened.error();
    return std::unique_ptr<JobSource>(std::make_unique<Reader>(*std::move(opened)));
  }

 protected:
  explicit TraceReader(Opened opened);

  // Arrival from the time column: true; false when the row lies before the given origin.
  Result<bool> set_arrival(JobRow& row);
  // Times by a curve of the mix, deadline, memory, and the curve's name as class.
  // REQUIRES: set_arrival; 0 < whole_gpu_s.
  void set_times(JobRow& row, double whole_gpu_s);
  // The same for a dialect with a law of its own: times are set, the rest follows. The last time
  // that is set counts as that on the whole GPU.
  void set_deadline(JobRow& row);
  void set_memory(JobRow& row, const Curve* curve);

  // Seconds greater than 0.
  Result<double> duration(std::size_t column) const;
  // Where the column of this number among those asked for is in the table.
  std::size_t column(std::size_t number) const { return columns_[number]; }
  const ReaderOptions& options() const { return options_; }

 private:
  // Reads `input` once from end to end when the origin asks for it.
  static Result<Opened> prepare(CsvTable table, std::span<const std::string_view> columns,
                                const TraceFacts& facts, const Input& input,
                                const ReaderOptions& options);

  TraceFacts facts_;
  ReaderOptions options_;
  std::vector<std::size_t> columns_;
  CurveMix mix_;
  std::optional<Micros> origin_;
  bool origin_given_;
  std::size_t time_column_;
};

}  // namespace partita::workload
