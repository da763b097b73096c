#include "workload/job_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/check.h"
#include "base/text.h"

namespace partita::workload {
namespace {

// Positions in kJobCsvColumns.
enum Column : std::size_t { kId, kArrival, kDeadline, kClass, kMemory, kFirstTime };

// Straight to float: through double it would be rounded twice and might not read back equal.
std::optional<float> parse_gib(std::string_view text) {
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !std::isfinite(value) || value < 0) return {};
  return value == 0 ? 0 : value;  // no negative zero
}

}  // namespace

Result<std::unique_ptr<CsvJobSource>> CsvJobSource::open(const Input& input,
                                                         const RowOptions& options) {
  Result<CsvTable> table = CsvTable::open(input, kJobCsvHeader);
  if (!table) return table.error();
  return over(*std::move(table), options);
}

Result<std::unique_ptr<CsvJobSource>> CsvJobSource::over(CsvTable table,
                                                         const RowOptions& options) {
  const Result<std::vector<std::size_t>> columns = table.require(kJobCsvColumns);
  if (!columns) return columns.error();
  std::unique_ptr<CsvJobSource> source(new CsvJobSource(std::move(table), options, *columns));
  if (const Status found = source->find_memory_columns(); !found) return found.error();
  source->resumable_column_ = source->table().column(kResumableCsvColumn);
  source->user_column_ = source->table().column(kUserCsvColumn);
  source->priority_column_ = source->table().column(kPriorityCsvColumn);
  return source;
}

// All or none of them.
Status CsvJobSource::find_memory_columns() {
  const bool any = std::ranges::any_of(
      kMemoryCsvColumns, [&](std::string_view name) { return table().column(name).has_value(); });
  if (!any) return {};
  Result<std::vector<std::size_t>> columns = table().require(kMemoryCsvColumns);
  if (!columns) return columns.error();
  memory_columns_ = *std::move(columns);
  return {};
}

CsvJobSource::CsvJobSource(CsvTable jobs, const RowOptions& options,
                           const std::vector<std::size_t>& columns)
    : TableSource(std::move(jobs), options) {
  std::copy(columns.begin(), columns.end(), columns_.begin());
  for (std::size_t i = 0; i < table().columns().size(); ++i) {
    if (std::find(columns.begin(), columns.end(), i) != columns.end()) continue;
    const std::string& name = table().columns()[i];
    if (std::ranges::find(kMemoryCsvColumns, name) != kMemoryCsvColumns.end()) continue;
    if (name == kResumableCsvColumn || name == kUserCsvColumn || name == kPriorityCsvColumn)
      continue;
    warn(fmt::format("{}: column {} is not used", table().name(), shown(name)));
  }
}

Result<bool> CsvJobSource::convert(JobRow& row) {
  const CsvTable& in = table();
  const auto text = [&](Column column) { return in.field(columns_[column]); };
  const auto bad = [&](Column column, std::string_view wanted) {
    return in.bad_field(columns_[column], wanted);
  };
  if (text(kId).empty()) return bad(kId, "an id");
  row.id.assign(text(kId));
  row.job_class.assign(text(kClass).empty() ? kClassUnnamed : text(kClass));

  const std::optional<Micros> arrival = parse_seconds(text(kArrival));
  if (!arrival || arrival->count < 0) return bad(kArrival, "seconds from 0 to 1e12");
  const std::optional<Micros> deadline = parse_seconds(text(kDeadline));
  if (!deadline) return bad(kDeadline, "seconds up to 1e12");
  if (*deadline < *arrival) {
    return bad(kDeadline, fmt::format("seconds not before the arrival at {}", text(kArrival)));
  }
  row.job.arrival = *arrival;
  row.job.deadline = *deadline;

  row.job.memory_gib = 0;
  if (!text(kMemory).empty()) {
    const std::optional<float> memory = parse_gib(text(kMemory));
    if (!memory) return bad(kMemory, "GiB from 0 to 1e38");
    row.job.memory_gib = *memory;
  }
  if (const Status status = convert_times(row.job); !status) return status.error();
  if (const Status status = convert_resumable(row.job); !status) return status.error();
  if (const Status status = convert_owner(row); !status) return status.error();
  row.memory = {};
  if (!memory_columns_) return true;
  if (const Status status = convert_memory(row.memory); !status) return status.error();
  return true;
}

Status CsvJobSource::convert_resumable(Job& job) const {
  job.resumable = true;
  if (!resumable_column_) return {};
  const std::string_view resumable = table().field(*resumable_column_);
  if (!resumable.empty() && resumable != "0" && resumable != "1") {
    return table().bad_field(*resumable_column_, "1 or 0, or nothing for 1");
  }
  job.resumable = resumable != "0";
  return {};
}

Status CsvJobSource::convert_owner(JobRow& row) const {
  row.user.clear();
  row.priority = 0;
  if (user_column_) row.user.assign(table().field(*user_column_));
  if (!priority_column_) return {};
  const std::string_view text = table().field(*priority_column_);
  if (text.empty()) return {};
  const auto priority = parse_int(text);
  if (!priority || *priority < -kPriorityMost || *priority > kPriorityMost) {
    return table().bad_field(*priority_column_, "a whole number from -1000000 to 1000000");
  }
  row.priority = static_cast<std::int32_t>(*priority);
  return {};
}

Status CsvJobSource::convert_times(Job& job) const {
  bool any = false;
  for (std::size_t i = 0; i < kSliceSizeCount; ++i) {
    const std::size_t column = columns_[kFirstTime + i];
    const std::string_view text = table().field(column);
    job.time[i] = kNoTime;
    if (text.empty()) continue;
    const std::optional<Micros> time = parse_seconds(text);
    if (!time || time->count <= 0)
      return table().bad_field(column, "seconds from 0.000001 to 1e12");
    job.time[i] = *time;
    any = true;
  }
  if (any) return {};
  return table().bad_row("found no time at all, wanted one of t1_s, t2_s, t3_s, t4_s, t7_s");
}

Status CsvJobSource::convert_memory(MemoryCurve& memory) const {
  std::array<double, kMemoryCsvColumns.size()> values{};
  std::size_t empty = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t column = (*memory_columns_)[i];
    const std::string_view text = table().field(column);
    const std::optional<double> value = parse_double(text);
    empty += text.empty() ? 1U : 0U;
    if (text.empty()) continue;
    if (!value || !(*value >= 0) || *value > 1e38) {
      return table().bad_field(column, "a number from 0 to 1e38");
    }
    values[i] = *value == 0 ? 0 : *value;
  }
  if (empty == values.size()) return {};
  memory = {values[0], values[1], values[2], values[3]};
  const bool good = empty == 0 && memory.grows() && memory.start_gib <= memory.peak_gib &&
                    memory.peak_at > 0 && memory.peak_at <= 1;
  if (good) return {};
  return table().bad_row(
      "found a memory curve that is none, wanted 0 <= memory_start_gib <= memory_peak_gib, a peak "
      "above 0, memory_peak_at above 0 and at most 1, and no field empty");
}

void write_header(std::string& out, OptionalColumns columns) {
  out.append(kJobCsvHeader);
  if (columns.memory) {
    out.push_back(',');
    out.append(kMemoryCsvHeader);
  }
  if (columns.resumable) {
    out.push_back(',');
    out.append(kResumableCsvColumn);
  }
  if (columns.user) {
    out.push_back(',');
    out.append(kUserCsvColumn);
  }
  if (columns.priority) {
    out.push_back(',');
    out.append(kPriorityCsvColumn);
  }
  out.push_back('\n');
}

void append_seconds(std::string& out, Micros time) {
  const bool negative = time.count < 0;
  const auto count = static_cast<std::uint64_t>(time.count);
  const std::uint64_t magnitude = negative ? 0 - count : count;
  std::array<char, 32> text;
  char* end = text.data();
  if (negative) *end++ = '-';
  end = std::to_chars(end, text.data() + text.size(), magnitude / 1'000'000).ptr;
  std::uint64_t fraction = magnitude % 1'000'000;
  if (fraction != 0) {
    *end++ = '.';
    for (std::uint64_t unit = 100'000; fraction != 0; unit /= 10) {
      *end++ = static_cast<char>('0' + fraction / unit);
      fraction %= unit;
    }
  }
  out.append(text.data(), end);
}

namespace {

// The shortest text that reads back equal.
template <typename Number>
void append_number(std::string& out, Number value) {
  std::array<char, 64> text;
  out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
}

void append_memory(std::string& out, const MemoryCurve& memory) {
  for (const double value : {memory.start_gib, memory.peak_gib, memory.peak_at, memory.noise_gib}) {
    out.push_back(',');
    if (memory.grows()) append_number(out, value);
  }
}

}  // namespace

void write_row(std::string& out, const JobRow& row, OptionalColumns columns) {
  CHECK(!row.job_class.empty());
  CHECK(columns.memory || !row.memory.grows());
  CHECK(columns.resumable || row.job.resumable);
  CHECK((columns.user || row.user.empty()) && (columns.priority || row.priority == 0));
  const Job& job = row.job;
  append_csv_field(out, row.id);
  out.push_back(',');
  append_seconds(out, job.arrival);
  out.push_back(',');
  append_seconds(out, job.deadline);
  out.push_back(',');
  append_csv_field(out, row.job_class);
  out.push_back(',');
  append_number(out, job.memory_gib);
  for (const Micros time : job.time) {
    out.push_back(',');
    if (time != kNoTime) append_seconds(out, time);
  }
  if (columns.memory) append_memory(out, row.memory);
  if (columns.resumable) out.append(job.resumable ? ",1" : ",0");
  if (columns.user) {
    out.push_back(',');
    append_csv_field(out, row.user);
  }
  if (columns.priority) {
    out.push_back(',');
    append_number(out, row.priority);
  }
  out.push_back('\n');
}

}  // namespace partita::workload
