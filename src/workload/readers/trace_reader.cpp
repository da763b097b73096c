#include "workload/readers/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/rng.h"
#include "base/text.h"
#include "workload/option_checks.h"

namespace partita::workload {
namespace {

constexpr std::int64_t kDayMicros = 86'400'000'000;

// A row's draws depend on its line alone, so skipping or cutting rows leaves the others as they
// were; curve and deadline are apart, so that changing one leaves the other.
constexpr std::uint64_t kPurposeCurve = 0x63;
constexpr std::uint64_t kPurposeDeadline = 0x64;

double row_uniform(std::uint64_t seed, std::uint64_t line, std::uint64_t purpose) {
  return Rng(Rng(seed, line).next(), purpose).uniform();
}

Result<std::optional<Micros>> earliest(const Input& input, const TraceFacts& facts) {
  Result<CsvTable> table = CsvTable::open(input, facts.time_column);
  if (!table) return table.error();
  const Result<std::vector<std::size_t>> columns = table->require({&facts.time_column, 1});
  if (!columns) return columns.error();
  std::optional<Micros> least;
  while (true) {
    const Result<RowState> state = table->next();
    if (!state) return state.error();
    if (*state == RowState::kEnd) return least;
    if (*state != RowState::kRow) continue;
    const std::optional<Micros> time = facts.parse_time(table->field(columns->front()));
    if (time && (!least || *time < *least)) least = time;
  }
}

Micros midnight_before(Micros time) {
  const std::int64_t within_day = (time.count % kDayMicros + kDayMicros) % kDayMicros;
  return {time.count - within_day};
}

}  // namespace

Status check_options(const ReaderOptions& options) {
  OptionChecks checks;
  checks.range("deadline", options.deadline_low, options.deadline_high, 0, kSlackMax);
  checks.within("time scale", options.time_scale, 0, 1e6);
  checks.within("duration scale", options.duration_scale, 1e-6, 1e6);
  if (options.memory_gib) checks.within("memory in GiB", *options.memory_gib, 0, kGibMax);
  checks.within("memory of the whole GPU in GiB", options.openb_gpu_gib, 0, kGibMax);
  checks.within("prefill tokens per second", options.azure_prefill_tokens_per_s, 1e-3, 1e12);
  checks.within("decode tokens per second", options.azure_decode_tokens_per_s, 1e-3, 1e12);
  return checks.status();
}

Result<TraceReader::Opened> TraceReader::prepare(CsvTable table,
                                                 std::span<const std::string_view> columns,
                                                 const TraceFacts& facts, const Input& input,
                                                 const ReaderOptions& options) {
  Result<std::vector<std::size_t>> places = table.require(columns);
  if (!places) return places.error();
  if (const Status status = check_options(options); !status) return status.error();
  Result<CurveMix> mix = CurveMix::parse(options.curves.empty() ? facts.curves : options.curves);
  if (!mix) return mix.error();
  const std::optional<std::size_t> time_column = table.column(facts.time_column);
  CHECK(time_column);
  Opened opened{std::move(table), facts, options, *std::move(places), *std::move(mix)};
  opened.time_column = *time_column;
  if (options.origin != "first" && options.origin != "midnight") {
    opened.origin = facts.parse_time(options.origin);
    opened.origin_given = true;
    if (opened.origin) return opened;
    return Error{fmt::format("origin: found '{}', wanted first, midnight or {}", options.origin,
                             facts.time_wanted)};
  }
  if (!input.can_reopen()) return opened;
  Result<std::optional<Micros>> least = earliest(input, facts);
  if (!least) return least.error();
  opened.origin = *least;
  if (opened.origin && options.origin == "midnight") {
    opened.origin = midnight_before(*opened.origin);
  }
  return opened;
}

TraceReader::TraceReader(Opened opened)
    : TableSource(std::move(opened.table), opened.options.rows),
      facts_(opened.facts),
      options_(std::move(opened.options)),
      columns_(std::move(opened.columns)),
      mix_(std::move(opened.mix)),
      origin_(opened.origin),
      origin_given_(opened.origin_given),
      time_column_(opened.time_column) {}

Result<bool> TraceReader::set_arrival(JobRow& row) {
  const std::size_t column = time_column_;
  const std::optional<Micros> time = facts_.parse_time(table().field(column));
  if (!time) return table().bad_field(column, facts_.time_wanted);
  if (!origin_) {
    origin_ = options_.origin == "midnight" ? midnight_before(*time) : *time;
  }
  if (*time < *origin_ && origin_given_) return pass_over("before the origin");
  if (*time < *origin_) {
    return table().bad_field(column, "a time not before that of the first row");
  }
  const double seconds = (*time - *origin_).to_seconds() * options_.time_scale;
  if (seconds > kJobSecondsMax) {
    return table().bad_field(
        column, fmt::format("a time within {} s of the origin after scaling", kJobSecondsMax));
  }
  // Without scaling the trace's own microseconds are kept; a double has fewer.
  row.job.arrival = options_.time_scale == 1 ? *time - *origin_ : micros_from_seconds(seconds);
  return true;
}

void TraceReader::set_times(JobRow& row, double whole_gpu_s) {
  CHECK(whole_gpu_s > 0);
  const Curve& curve = mix_.pick(row_uniform(options_.seed, table().line(), kPurposeCurve));
  row.job_class = curve.name;
  row.job.time = times_on_slices(curve, 7, whole_gpu_s * options_.duration_scale);
  set_deadline(row);
  set_memory(row, &curve);
}

void TraceReader::set_deadline(JobRow& row) {
  Micros whole = kNoTime;
  for (const Micros time : row.job.time) whole = time == kNoTime ? whole : time;
  CHECK(whole != kNoTime);
  const double part = row_uniform(options_.seed, table().line(), kPurposeDeadline);
  const double slack =
      options_.deadline_low + part * (options_.deadline_high - options_.deadline_low);
  row.job.deadline =
      row.job.arrival + micros_from_seconds(std::min(slack * whole.to_seconds(), kJobSecondsMax));
}

void TraceReader::set_memory(JobRow& row, const Curve* curve) {
  double gib = curve == nullptr ? 0 : curve->memory_gib;
  if (!options_.memory_from_curve) {
    if (facts_.memory_gib) gib = *facts_.memory_gib;
    if (options_.memory_gib) gib = *options_.memory_gib;
  }
  row.job.memory_gib = static_cast<float>(gib);
}

Result<double> TraceReader::duration(std::size_t column) const {
  const std::optional<double> seconds = parse_double(table().field(column));
  if (!seconds || *seconds <= 0) return table().bad_field(column, "seconds greater than 0");
  if (*seconds > kJobSecondsMax) return table().bad_field(column, "at most 100000000000 seconds");
  return *seconds;
}

}  // namespace partita::workload
