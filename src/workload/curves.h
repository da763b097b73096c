// Speed-up curves: how fast known models run on slices of each size, with the source of each.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "workload/job.h"

namespace partita::workload {

enum class CurveKind { kTraining, kInference };
std::string_view kind_name(CurveKind kind);

struct Curve {
  std::string name;    // group-model-batch, such as miso-resnet-b64
  std::string source;  // where the numbers come from
  CurveKind kind = CurveKind::kTraining;
  // Work per second on a slice of each size, in a unit of the source's own: only ratios mean
  // anything. Nothing where the source has no number; the whole GPU (7) always has one.
  std::array<std::optional<double>, kSliceSizeCount> throughput;
  // An estimate, and the bracket it was taken from: the work did not fit in memory_above_gib and
  // did fit in memory_at_most_gib. All zero when the source says nothing about memory.
  double memory_gib = 0;
  double memory_above_gib = 0;
  double memory_at_most_gib = 0;

  // Throughput on the i-th size of kSliceSizes over that on the whole GPU.
  std::optional<double> relative(std::size_t i) const;
};

// All curves, sorted by name.
std::span<const Curve> curves();

// An unknown name is answered with the known ones.
Result<const Curve*> find_curve(std::string_view name);

// The times of a job that takes `seconds` on a slice of `size`: at least one microsecond where the
// curve has a number, at most kJobSecondsMax; kNoTime elsewhere. REQUIRES: the curve has a number
// for `size`; 0 <= seconds.
std::array<Micros, kSliceSizeCount> times_on_slices(const Curve& curve, int size, double seconds);

// The longest time, slack or span we make, 3,000 years: sums stay readable and far from overflow.
inline constexpr double kJobSecondsMax = 1e11;

}  // namespace partita::workload
