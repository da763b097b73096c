// SimulatedState: what simulated GPUs remember when nobody looks, and the file it is kept in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "device/simulated/simulated_options.h"
#include "mig/layout.h"

namespace partita::device {

struct SimulatedInstance {
  mig::Placement placement;
  std::uint32_t gi = 0;
  std::string uuid;  // empty: no compute instance yet, or no more
  std::uint64_t generation = 0;
};

// Energy as an exact sum: milliwatts times microseconds are nanojoules.
struct EnergyCounter {
  std::int64_t millijoules = 0;
  std::int64_t nanojoules = 0;  // below a millijoule
  Micros until;                 // counted up to here ...
  std::int64_t milliwatts = 0;  // ... and since then the board draws this

  void count_to(Micros now);
};

struct SimulatedGpu {
  const mig::GpuModel* model = nullptr;
  std::string uuid;
  bool mig_enabled = true;
  std::vector<SimulatedInstance> instances;  // in order of start
  EnergyCounter energy;
};

struct SimulatedState {
  std::uint64_t seed = 0;
  std::uint64_t made = 0;  // UUIDs drawn and generations given so far
  std::string boot_id;
  std::vector<SimulatedGpu> gpus;
};

// GPUs without slices. The same seed gives the same UUIDs.
SimulatedState fresh_state(const SimulatedOptions& options, Micros now);

// "MIG-" or "GPU-" and a UUID that no other draw of this seed has.
std::string draw_uuid(SimulatedState& state, std::string_view prefix);

std::string format_state(const SimulatedState& state);
// Checks everything: a state that is read is one that could have been written.
Result<SimulatedState> parse_state(std::string_view text);

// Nothing when there is no such file.
Result<std::optional<SimulatedState>> read_state_file(const std::filesystem::path& path);
// Whole or not at all, also when the program is killed meanwhile.
Status write_state_file(const std::filesystem::path& path, const SimulatedState& state);

}  // namespace partita::device
