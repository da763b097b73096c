// FaultRule: one planned trouble of a faulty backend, and its text form.
//
// The faults have the numbers of docs/reference/devices.md: F1 a create refused ... F19 a late
// event.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace partita::device {

inline constexpr int kFaultsMax = 19;

// Fields that a fault does not use are ignored.
struct FaultRule {
  int number = 0;            // 1 to kFaultsMax
  std::optional<GpuId> gpu;  // nothing: any GPU
  int after = 0;             // this many calls it could strike pass first
  int times = 1;             // calls it strikes; -1: until cleared
  std::optional<int> xid;
  std::optional<std::uint32_t> gi;
  std::vector<int> pids;
  std::optional<double> seconds;  // F5: until the deadline; F18: later by this
  bool orphan = false;            // F2: the GPU instance is left
  bool vanish = false;            // F13: one of ours goes instead of a foreign one coming
  bool mismatch = false;          // F15: versions differ instead of no driver

  bool operator==(const FaultRule&) const = default;
};

// "F1,gpu=0,after=2,times=3;F3,pid=41,pid=42;F2,orphan".
Result<std::vector<FaultRule>> parse_fault_rules(std::string_view text);

}  // namespace partita::device
