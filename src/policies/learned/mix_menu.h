// MixMenu: the mixes of layouts a learned repartitioner can ask a fleet to have.
//
// Text: entries separated by semicolons, each a list NUMBER*WEIGHT of the papers' layout numbers:
// "1*8;1*6,2*2;2*7,10*1". Weights are shares of the fleet, whatever its size.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "mig/layout.h"

namespace partita::policies {

inline constexpr std::size_t kMenuEntriesMax = 256;

struct MixMenu {
  std::vector<int> numbers;                 // layouts that occur, ascending
  std::vector<mig::Layout> layouts;         // the same
  std::vector<std::vector<float>> entries;  // shares by layout; each sums to 1
};

Result<MixMenu> parse_menu(const mig::GpuModel& model, std::string_view text);

// Every numbered layout by itself: "1;2;3;...".
std::string every_layout(const mig::GpuModel& model);

// Whole GPUs that come closest to these shares of a fleet (largest remainders).
std::vector<std::uint32_t> counts_for(const std::vector<float>& shares, std::uint32_t gpus);

}  // namespace partita::policies
