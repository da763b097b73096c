// Text in and out: numbers that must be whole, lists, and the sentence for an unknown name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace partita {

std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
std::string lower(std::string_view text);

// The whole text must be a finite number; "nan", "inf", "1e999" and "3x" are not.
std::optional<double> parse_double(std::string_view text);
std::optional<std::int64_t> parse_int(std::string_view text);

// Seconds with up to six decimals, exactly: "12.5", "0.000001". More decimals are rounded to the
// nearest microsecond. Nothing when the text is no finite number or out of range.
std::optional<Micros> parse_seconds(std::string_view text);
// The shortest text that parse_seconds reads back to the same microsecond: "12.5", "3".
std::string format_seconds(Micros time);

// "unknown scheduler 'foo'; known: a, b, c".
Error unknown_name(std::string_view what, std::string_view name,
                   std::span<const std::string> known);

}  // namespace partita
