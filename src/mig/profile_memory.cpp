#include "mig/profile_memory.h"

#include <algorithm>

namespace partita::mig {

std::optional<double> next_larger_memory(const GpuModel& model, std::uint16_t profiles,
                                         double gib) {
  std::optional<double> next;
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    const double memory = model.profiles[i].memory_gib;
    if ((profiles >> i & 1U) != 0 && memory > gib) next = std::min(next.value_or(memory), memory);
  }
  return next;
}

double largest_memory(const GpuModel& model, std::uint16_t profiles) {
  double largest = 0;
  while (const auto more = next_larger_memory(model, profiles, largest)) largest = *more;
  return largest;
}

}  // namespace partita::mig
