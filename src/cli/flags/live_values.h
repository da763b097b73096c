// The small languages of the daemon's flags: memory, spans of time, deadlines, job numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace partita::cli {

// "10G", "512M", "2.5GiB": GiB; nothing for "auto".
Result<std::optional<double>> parse_memory(std::string_view text);

// "1G", "512M", "64K", "100": bytes.
Result<std::uint64_t> parse_bytes(std::string_view text);

// "90", "20m", "1h30m", "2d": seconds unless it says otherwise.
Result<Micros> parse_time_span(std::string_view text);

// "+2h", or an instant of ISO 8601 in UTC: "2026-11-15T18:30:00Z".
struct Deadline {
  Micros time;
  bool from_now = false;

  Micros at(Micros now) const { return from_now ? now + time : time; }
};
Result<Deadline> parse_deadline(std::string_view text);

// "7d", so long ago, or an instant of ISO 8601 in UTC.
struct Since {
  Micros time;
  bool ago = false;

  Micros at(Micros now) const { return ago ? now - time : time; }
};
Result<Since> parse_since(std::string_view text);

// The lines, each of which is NAME=VALUE.
Result<std::vector<std::string>> parse_variables(std::string_view text);

// "1g=20m,7g=5m": compute slices and the time on them.
using SliceTimes = std::vector<std::pair<int, Micros>>;
Result<SliceTimes> parse_slice_times(std::string_view text);

// "12", "12,14-20": at most 10,000 of them.
Result<std::vector<std::int64_t>> parse_job_numbers(std::string_view text);

// "12", "12:any", "12,14-20:ok", and more lines of those: each job with how it has to end, as the
// daemon takes it.
Result<std::vector<std::string>> parse_after(std::string_view text);

// "100", "100%8": an array of so many jobs, and how many of them run at once.
struct ArrayShape {
  std::uint64_t jobs = 1;
  std::optional<std::uint64_t> limit;
};
Result<ArrayShape> parse_array(std::string_view text);

// "-5", "100": from -1000000 to 1000000.
Result<std::int64_t> parse_priority(std::string_view text);

// Words as a shell would split them, quotes and backslashes included; nothing is expanded.
Result<std::vector<std::string>> split_command(std::string_view text);

// "2026-11-15 17:23:58Z"
std::string shown_instant(double seconds);
// "1h 12m", "35.2 s"
std::string shown_span(double seconds);

}  // namespace partita::cli
