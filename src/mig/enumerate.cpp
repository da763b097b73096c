#include "mig/enumerate.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "base/check.h"

namespace partita::mig {
namespace {

std::vector<Placement> allowed_placements(const GpuModel& model, ProfileFamilies families) {
  std::vector<Placement> placements;
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    const Profile& profile = model.profiles[i];
    if (profile.double_memory && !families.double_memory) continue;
    if (profile.media && !families.media) continue;
    for (const std::uint8_t start : profile.starts) {
      placements.push_back({static_cast<ProfileIndex>(i), start});
    }
  }
  std::ranges::sort(placements, {}, [](Placement p) { return std::tuple(p.start, p.profile); });
  return placements;
}

// Appends every layout that extends `layout` by placements from `first` on.
void extend(const GpuModel& model, const std::vector<Placement>& placements, std::size_t first,
            Layout& layout, std::vector<Layout>& layouts) {
  layouts.push_back(layout);
  for (std::size_t i = first; i < placements.size(); ++i) {
    if (!fits(model, layout, placements[i])) continue;
    layout.add(placements[i]);
    extend(model, placements, i + 1, layout, layouts);
    layout.remove(placements[i]);
  }
}

// Compute slices of the instance at `start` if it has half of the GPU or more, else 0.
int large_at(const GpuModel& model, const Layout& layout, int start) {
  const std::optional<Placement> placement = layout.at(static_cast<std::uint8_t>(start));
  if (!placement) return 0;
  const Profile& profile = model.profiles[placement->profile];
  return 2 * profile.memory_slices >= model.memory_slices ? profile.compute_slices : 0;
}

// The vendor's diagram: grouped by the large instance on the left, then by the one on the right,
// then fewer instances first, then larger ones further left.
bool listed_before(const GpuModel& model, const Layout& a, const Layout& b) {
  const auto group = [&](const Layout& layout) {
    return std::tuple(-large_at(model, layout, 0),
                      -large_at(model, layout, model.memory_slices / 2), layout.instances().size());
  };
  if (group(a) != group(b)) return group(a) < group(b);
  const auto larger = [&](Placement x, Placement y) {
    const Profile& p = model.profiles[x.profile];
    const Profile& q = model.profiles[y.profile];
    return std::tuple(-p.compute_slices, -p.memory_slices, x) <
           std::tuple(-q.compute_slices, -q.memory_slices, y);
  };
  return std::ranges::lexicographical_compare(a.instances(), b.instances(), larger);
}

}  // namespace

std::vector<Layout> legal_layouts(const GpuModel& model, ProfileFamilies families) {
  std::vector<Layout> layouts;
  Layout layout;
  extend(model, allowed_placements(model, families), 0, layout, layouts);
  CHECK(layout.empty());
  CHECK(layouts.front().empty());
  return layouts;
}

std::vector<Layout> maximal_layouts(const GpuModel& model, ProfileFamilies families) {
  const std::vector<Placement> placements = allowed_placements(model, families);
  std::vector<Layout> layouts = legal_layouts(model, families);
  std::erase_if(layouts, [&](const Layout& layout) {
    return std::ranges::any_of(placements, [&](Placement p) { return fits(model, layout, p); });
  });
  std::ranges::sort(layouts,
                    [&](const Layout& a, const Layout& b) { return listed_before(model, a, b); });
  return layouts;
}

std::vector<Layout> distinct_mixes(const GpuModel& model, const std::vector<Layout>& layouts) {
  std::set<std::array<std::uint8_t, kProfilesMax>> seen;
  std::vector<Layout> distinct;
  for (const Layout& layout : layouts) {
    std::array<std::uint8_t, kProfilesMax> counts{};
    for (const Placement placement : layout.instances()) {
      CHECK(placement.profile < model.profiles.size());
      ++counts[placement.profile];
    }
    if (seen.insert(counts).second) distinct.push_back(layout);
  }
  return distinct;
}

}  // namespace partita::mig
