// The quantities that cross function boundaries: ids compare, amounts add, neither mixes.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace partita {

// A span or an instant of simulated time in microseconds. Integers make comparisons exact, so the
// same seed gives the same run. The range is 292,000 years.
struct Micros {
  std::int64_t count = 0;

  static constexpr Micros max() { return {std::numeric_limits<std::int64_t>::max()}; }
  static constexpr Micros seconds(std::int64_t s) { return {s * 1'000'000}; }

  constexpr auto operator<=>(const Micros&) const = default;
  constexpr Micros operator+(Micros o) const { return {count + o.count}; }
  constexpr Micros operator-(Micros o) const { return {count - o.count}; }
  constexpr Micros& operator+=(Micros o) {
    count += o.count;
    return *this;
  }
  constexpr Micros& operator-=(Micros o) {
    count -= o.count;
    return *this;
  }
  constexpr double to_seconds() const { return static_cast<double>(count) / 1e6; }
  constexpr double to_minutes() const { return to_seconds() / 60.0; }
};

// Nearest microsecond. REQUIRES: |seconds| < 9e12.
Micros micros_from_seconds(double seconds);

// An index into a table of T: which job, which GPU. Tag keeps the kinds apart.
template <typename Tag>
struct Id {
  std::uint32_t value = std::numeric_limits<std::uint32_t>::max();

  constexpr auto operator<=>(const Id&) const = default;
  constexpr bool valid() const { return value != std::numeric_limits<std::uint32_t>::max(); }
};

using JobId = Id<struct JobTag>;  // position in the trace, in order of arrival
using GpuId = Id<struct GpuTag>;  // 0 .. number of GPUs - 1

}  // namespace partita
