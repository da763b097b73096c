// FleetMix: which layout each GPU is to have, how many have each, and the fewest changes towards
// another mix. Nothing here takes longer on a larger fleet but the beginning.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decide/layout_request.h"
#include "decide/view.h"

namespace partita::policies {

class FleetMix {
 public:
  // A GPU that has changed is left alone for `rest`.
  explicit FleetMix(std::vector<mig::Layout> layouts, Micros rest = {})
      : layouts_(std::move(layouts)), rest_(rest) {}

  // GPUs in order of the layouts: the first counts[0] have the first layout, and so on.
  void begin(std::span<const std::uint32_t> counts);
  std::vector<mig::Layout> present() const;

  std::size_t layout_count() const { return layouts_.size(); }
  std::uint32_t gpus() const { return static_cast<std::uint32_t>(layout_of_.size()); }
  std::uint32_t count(std::size_t layout) const {
    return static_cast<std::uint32_t>(members_[layout].size());
  }

  // Changes GPUs from the layout most in excess to the one most missing, while that brings the mix
  // nearer to the shares by more than `reluctance` GPUs, and at most `moves_max` of them.
  void move_towards(const decide::View& view, std::span<const float> shares, int moves_max,
                    double reluctance, std::vector<decide::LayoutRequest>& requests);

  // One GPU of layout `from`, the idlest of a few that have rested, is to have `to`; false when
  // none has. REQUIRES: count(from) > 0.
  bool move_one(const decide::View& view, std::size_t from, std::size_t to,
                std::vector<decide::LayoutRequest>& requests);

 private:
  bool has_rested(std::uint32_t gpu, Micros now) const {
    return rest_ == Micros{} || now - changed_[gpu] >= rest_;
  }

  std::vector<mig::Layout> layouts_;
  Micros rest_;
  std::vector<Micros> changed_;                      // by GPU: when last; long ago at first
  std::vector<std::uint8_t> layout_of_;              // by GPU
  std::vector<std::vector<std::uint32_t>> members_;  // by layout: its GPUs
  std::uint32_t turn_ = 0;                           // where the next search begins
};

}  // namespace partita::policies
