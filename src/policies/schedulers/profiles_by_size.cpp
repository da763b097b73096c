#include "policies/schedulers/profiles_by_size.h"

namespace partita::policies {

ProfilesBySize::ProfilesBySize(const mig::GpuModel& model)
    : sizes_of_(std::size_t{1} << model.profiles.size()) {
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    const auto size = workload::slice_size_index(model.profiles[i].compute_slices);
    if (!size) continue;
    for (std::size_t sizes = 0; sizes < of_sizes_.size(); ++sizes) {
      if ((sizes >> *size & 1U) == 0) continue;
      of_sizes_[sizes] = static_cast<std::uint16_t>(of_sizes_[sizes] | (1U << i));
    }
    for (std::size_t profiles = 0; profiles < sizes_of_.size(); ++profiles) {
      if ((profiles >> i & 1U) == 0) continue;
      sizes_of_[profiles] = static_cast<std::uint8_t>(sizes_of_[profiles] | (1U << *size));
    }
  }
}

}  // namespace partita::policies
