// JobNumber: the number that a daemon gives a submitted job, for as long as its store lives.
#pragma once

#include <fmt/core.h>

#include <compare>
#include <cstdint>
#include <functional>

namespace partita {

// From 1. Not a JobId, which is a position among the jobs that policies see.
struct JobNumber {
  std::int64_t value = 0;

  constexpr auto operator<=>(const JobNumber&) const = default;
};
inline constexpr JobNumber kNoJob{};

}  // namespace partita

template <>
struct std::hash<partita::JobNumber> {
  std::size_t operator()(partita::JobNumber job) const {
    return std::hash<std::int64_t>()(job.value);
  }
};

template <>
struct fmt::formatter<partita::JobNumber> : fmt::formatter<std::int64_t> {
  auto format(partita::JobNumber job, fmt::format_context& context) const {
    return fmt::formatter<std::int64_t>::format(job.value, context);
  }
};
