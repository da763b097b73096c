#include "control/jobs/memory_needs.h"

#include <algorithm>

#include "mig/profile_memory.h"

namespace partita::control {
namespace {

// A history of the same name is trusted this much beyond its peak.
constexpr double kHistoryMargin = 1.1;
// Less than this of missing memory does not matter: figures are rounded.
constexpr double kMemoryGuardGib = 1e-6;

}  // namespace

MemoryNeeds::MemoryNeeds(const mig::GpuModel& model)
    : model_(model), offered_(static_cast<std::uint16_t>((1U << model.profiles.size()) - 1)) {}

void MemoryNeeds::offer_only(std::span<const mig::Layout> layouts) {
  unsigned mask = 0;
  for (const mig::Layout& layout : layouts) {
    for (const mig::Placement placement : layout.instances()) mask |= 1U << placement.profile;
  }
  offered_ = static_cast<std::uint16_t>(mask);
}

void MemoryNeeds::read(const std::vector<store::PeakRow>& peaks) {
  for (const store::PeakRow& row : peaks) {
    peaks_[{static_cast<std::uint32_t>(row.uid), row.name}] = row.peak_gib;
  }
}

double MemoryNeeds::first_need(const JobSpec& spec, const launch::Owner& owner) const {
  if (spec.memory_gib) return *spec.memory_gib;
  const auto known = peaks_.find({owner.uid, spec.name});
  return known == peaks_.end() ? 0 : std::min(known->second * kHistoryMargin, largest());
}

store::PeakRow MemoryNeeds::learn(const JobSpec& spec, const launch::Owner& owner,
                                  double peak_gib) {
  double& peak = peaks_[{owner.uid, spec.name}];
  peak = std::max(peak, peak_gib);
  return {owner.uid, spec.name, peak};
}

std::uint16_t MemoryNeeds::fitting(double need_gib) const {
  unsigned mask = 0;
  for (std::size_t i = 0; i < model_.profiles.size(); ++i) {
    if (model_.profiles[i].memory_gib + kMemoryGuardGib >= need_gib) mask |= 1U << i;
  }
  return static_cast<std::uint16_t>(mask & offered_);
}

std::optional<double> MemoryNeeds::next_larger(double gib) const {
  return mig::next_larger_memory(model_, offered_, gib);
}

double MemoryNeeds::largest() const {
  return mig::largest_memory(model_, offered_);
}

}  // namespace partita::control
