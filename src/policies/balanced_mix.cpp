#include "policies/balanced_mix.h"

#include <algorithm>
#include <optional>

#include "base/check.h"

namespace partita::policies {
namespace {

int smallest_instance(const mig::GpuModel& model, const mig::Layout& layout) {
  int smallest = model.compute_slices;
  for (const mig::Placement each : layout.instances()) {
    smallest = std::min<int>(smallest, model.profiles[each.profile].compute_slices);
  }
  return smallest;
}

// Of the numbered layouts with so many instances the one whose smallest is largest; of equals the
// first. Nothing where there is none.
std::optional<mig::Layout> most_even(const mig::GpuModel& model, std::size_t instances) {
  std::optional<mig::Layout> best;
  for (int number = 1; number <= mig::numbered_layouts_count(model); ++number) {
    const mig::Layout layout = *mig::numbered_layout(model, number);
    if (layout.instances().size() != instances) continue;
    if (!best || smallest_instance(model, layout) > smallest_instance(model, *best)) best = layout;
  }
  return best;
}

}  // namespace

std::vector<mig::Layout> balanced_mix(const mig::GpuModel& model, std::uint32_t gpus) {
  const std::optional<mig::Layout> whole = most_even(model, 1);
  CHECK(whole.has_value());
  const mig::Layout halves = most_even(model, 2).value_or(*whole);
  const mig::Layout thirds = most_even(model, 3).value_or(halves);
  const std::uint32_t whole_end = (gpus + 3) / 4;
  const std::uint32_t thirds_begin = gpus - gpus / 4;
  std::vector<mig::Layout> mix;
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
    mix.push_back(gpu < whole_end ? *whole : gpu < thirds_begin ? halves : thirds);
  }
  return mix;
}

}  // namespace partita::policies
