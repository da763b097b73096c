// All layouts a GPU can take.
#pragma once

#include <cstdint>
#include <vector>

#include "mig/layout.h"

namespace partita::mig {

// Which profiles an enumeration may use.
struct ProfileFamilies {
  bool double_memory = false;
  bool media = false;
};

// Every legal layout, the empty one first, in a fixed order.
std::vector<Layout> legal_layouts(const GpuModel& model, ProfileFamilies families);

// The legal layouts to which no allowed profile can be added; in the order of the vendor's diagram
// (largest first instance first).
std::vector<Layout> maximal_layouts(const GpuModel& model, ProfileFamilies families);

// Layouts with the same multiset of profiles counted once.
std::vector<Layout> distinct_mixes(const GpuModel& model, const std::vector<Layout>& layouts);

}  // namespace partita::mig
