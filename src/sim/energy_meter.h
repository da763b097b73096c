// EnergyMeter: how long the GPUs spent at each level of busy compute slices, in whole microseconds.
//
// Energy is then one product a level, so it is exact to the last rounding of a double whatever the
// number of events, and does not depend on their order.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/units.h"
#include "mig/gpu_model.h"

namespace partita::sim {

class EnergyMeter {
 public:
  static constexpr std::size_t kLevels = mig::kComputeSlicesMax + 1;

  explicit EnergyMeter(std::size_t gpu_count) : gpus_(gpu_count) {}

  // The GPU is at this level from now on; the time until now is booked at the level before.
  void set(GpuId gpu, Micros now, std::uint8_t busy_compute, std::uint8_t busy_memory) {
    Gauge& gauge = gpus_[gpu.value];
    if (gauge.compute == busy_compute && gauge.memory == busy_memory) return;
    book(gauge, now);
    gauge.compute = busy_compute;
    gauge.memory = busy_memory;
  }

  // Books every GPU up to `end`.
  void close(Micros end) {
    for (Gauge& gauge : gpus_) book(gauge, end);
  }

  const std::array<std::int64_t, kLevels>& micros_at_level() const { return at_level_; }
  std::int64_t memory_slice_micros() const { return memory_slice_micros_; }
  std::int64_t compute_slice_micros() const;
  double joules(const mig::PowerCurve& power) const;

 private:
  struct Gauge {
    Micros since;
    std::uint8_t compute = 0;
    std::uint8_t memory = 0;
  };

  void book(Gauge& gauge, Micros until) {
    const std::int64_t span = (until - gauge.since).count;
    at_level_[gauge.compute] += span;
    memory_slice_micros_ += span * gauge.memory;
    gauge.since = until;
  }

  std::vector<Gauge> gpus_;
  std::array<std::int64_t, kLevels> at_level_{};
  std::int64_t memory_slice_micros_ = 0;
};

}  // namespace partita::sim
