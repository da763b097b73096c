// What the tests of GPU models and layouts share.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "mig/enumerate.h"
#include "mig/gpu_model.h"
#include "mig/layout.h"

namespace partita::mig {

inline constexpr ProfileFamilies kBothFamilies{.double_memory = true, .media = true};

inline const GpuModel& gpu(std::string_view name) {
  return **find_gpu(name);
}

// Which profiles a layout has, wherever they lie.
inline std::vector<ProfileIndex> mix_of(const Layout& layout) {
  std::vector<ProfileIndex> mix;
  for (const Placement placement : layout.instances()) mix.push_back(placement.profile);
  std::ranges::sort(mix);
  return mix;
}

}  // namespace partita::mig
