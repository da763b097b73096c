#include "mig/change.h"

#include <array>

#include "base/check.h"

namespace partita::mig {
namespace {

Micros create_time(const GpuModel& model, ProfileIndex profile) {
  return micros_from_seconds(model.change_seconds[profile].create);
}

Micros destroy_time(const GpuModel& model, ProfileIndex profile) {
  return micros_from_seconds(model.change_seconds[profile].destroy);
}

std::vector<Placement> difference(const Layout& a, const Layout& b) {
  std::vector<Placement> only_a;
  for (const Placement placement : a.instances()) {
    if (!b.contains(placement)) only_a.push_back(placement);
  }
  return only_a;
}

// Moves every pending creation that fits `now` into `steps`. What is pending belongs to one legal
// layout, so creations never stand in each other's way and their order does not matter.
void create_what_fits(const GpuModel& model, Layout& now, std::vector<Placement>& pending,
                      std::vector<ChangeStep>& steps) {
  std::erase_if(pending, [&](Placement placement) {
    if (!fits(model, now, placement)) return false;
    now.add(placement);
    steps.push_back({ChangeStep::Kind::kCreate, placement, create_time(model, placement.profile)});
    return true;
  });
}

// What an arrangement has in common with the present layout; more is better. Steps and time of the
// change are a constant minus these, because only common instances save a destroy and a create.
struct Kept {
  int busy = 0;
  int instances = 0;
  Micros time_saved;

  auto operator<=>(const Kept&) const = default;
};

// Depth-first search over the memory slices for the arrangement that keeps the most. Every
// arrangement is a legal layout, of which a GPU has at most some thousands.
class ArrangementSearch {
 public:
  ArrangementSearch(const GpuModel& model, const Layout& from, std::span<const ProfileIndex> mix,
                    std::uint8_t busy_starts)
      : model_(model), from_(from), busy_starts_(busy_starts), left_(mix.size()) {
    for (const ProfileIndex profile : mix) {
      CHECK(profile < model.profiles.size());
      ++counts_[profile];
    }
  }

  std::optional<Layout> best() {
    place_from(0, {});
    return best_;
  }

 private:
  void place_from(int start, Kept kept) {
    if (left_ == 0) return offer(kept);
    if (start == model_.memory_slices) return;
    for (std::size_t i = 0; i < model_.profiles.size(); ++i) {
      const Placement placement{static_cast<ProfileIndex>(i), static_cast<std::uint8_t>(start)};
      if (counts_[i] == 0 || !fits(model_, layout_, placement)) continue;
      layout_.add(placement);
      --counts_[i];
      --left_;
      place_from(start + model_.profiles[i].memory_slices, with(kept, placement));
      ++left_;
      ++counts_[i];
      layout_.remove(placement);
    }
    place_from(start + 1, kept);
  }

  Kept with(Kept kept, Placement placement) const {
    if (!from_.contains(placement)) return kept;
    kept.busy += (busy_starts_ >> placement.start) & 1;
    ++kept.instances;
    kept.time_saved +=
        create_time(model_, placement.profile) + destroy_time(model_, placement.profile);
    return kept;
  }

  void offer(Kept kept) {
    const bool better = !best_ || kept > best_kept_ || (kept == best_kept_ && layout_ < *best_);
    if (!better) return;
    best_ = layout_;
    best_kept_ = kept;
  }

  const GpuModel& model_;
  const Layout& from_;
  std::uint8_t busy_starts_;
  std::size_t left_;
  std::array<std::size_t, kProfilesMax> counts_{};
  Layout layout_;
  std::optional<Layout> best_;
  Kept best_kept_;
};

}  // namespace

Micros LayoutChange::total_duration() const {
  Micros total;
  for (const ChangeStep& step : steps) total += step.duration;
  return total;
}

LayoutChange smallest_change(const GpuModel& model, const Layout& from, const Layout& to) {
  LayoutChange change;
  for (const Placement placement : from.instances()) {
    if (to.contains(placement)) change.kept.push_back(placement);
  }
  Layout now = from;
  std::vector<Placement> pending = difference(to, from);
  create_what_fits(model, now, pending, change.steps);
  for (const Placement placement : difference(from, to)) {
    now.remove(placement);
    change.steps.push_back(
        {ChangeStep::Kind::kDestroy, placement, destroy_time(model, placement.profile)});
    create_what_fits(model, now, pending, change.steps);
  }
  CHECK(pending.empty());
  CHECK(now == to);
  return change;
}

std::optional<Layout> nearest_arrangement(const GpuModel& model, const Layout& from,
                                          std::span<const ProfileIndex> mix,
                                          std::uint8_t busy_starts) {
  return ArrangementSearch(model, from, mix, busy_starts).best();
}

}  // namespace partita::mig
