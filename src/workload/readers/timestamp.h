// Timestamps of traces: "2017-10-09 07:01:55" and its relatives, to microseconds.
#pragma once

#include <optional>
#include <string_view>

#include "base/units.h"

namespace partita::workload {

// "YYYY-MM-DD HH:MM:SS" with any number of decimals (cut to microseconds), with 'T' for the blank,
// and with "Z" or "+00:00" at the end. Since 1970-01-01 00:00:00, in the clock of the trace: zones
// are not told apart. Nothing when the text is no such date.
std::optional<Micros> parse_timestamp(std::string_view text);

}  // namespace partita::workload
