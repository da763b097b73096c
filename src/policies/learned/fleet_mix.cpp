#include "policies/learned/fleet_mix.h"

#include <algorithm>
#include <optional>

#include "base/check.h"

namespace partita::policies {
namespace {

constexpr std::size_t kLookedAt = 16;  // GPUs among which the idlest is sought

}  // namespace

void FleetMix::begin(std::span<const std::uint32_t> counts) {
  CHECK(counts.size() == layouts_.size() && layouts_.size() < 256);
  layout_of_.clear();
  members_.assign(layouts_.size(), {});
  turn_ = 0;
  for (std::size_t layout = 0; layout < counts.size(); ++layout) {
    for (std::uint32_t i = 0; i < counts[layout]; ++i) {
      members_[layout].push_back(gpus());
      layout_of_.push_back(static_cast<std::uint8_t>(layout));
    }
  }
  changed_.assign(layout_of_.size(), Micros{} - rest_);
  // So that no change of a mix allocates.
  for (auto& members : members_) members.reserve(layout_of_.size());
}

std::vector<mig::Layout> FleetMix::present() const {
  std::vector<mig::Layout> all;
  all.reserve(layout_of_.size());
  for (const std::uint8_t layout : layout_of_) all.push_back(layouts_[layout]);
  return all;
}

bool FleetMix::move_one(const decide::View& view, std::size_t from, std::size_t to,
                        std::vector<decide::LayoutRequest>& requests) {
  std::vector<std::uint32_t>& members = members_[from];
  CHECK(!members.empty() && from != to);
  const std::size_t looks = std::min(kLookedAt, members.size());
  const auto busy = [&](std::size_t at) {
    return view.cluster.gpus[members[at]].busy_compute_slices;
  };
  std::optional<std::size_t> best;
  std::size_t at = turn_++ % members.size();
  for (std::size_t i = 0; i < looks; ++i) {
    if (has_rested(members[at], view.now) && (!best || busy(at) < busy(*best))) best = at;
    at = at + 1 == members.size() ? 0 : at + 1;
  }
  if (!best) return false;
  const std::uint32_t gpu = members[*best];
  members[*best] = members.back();
  members.pop_back();
  members_[to].push_back(gpu);
  layout_of_[gpu] = static_cast<std::uint8_t>(to);
  changed_[gpu] = view.now;
  requests.push_back({GpuId{gpu}, layouts_[to]});
  return true;
}

void FleetMix::move_towards(const decide::View& view, std::span<const float> shares, int moves_max,
                            double reluctance, std::vector<decide::LayoutRequest>& requests) {
  CHECK(shares.size() == layouts_.size());
  for (int move = 0; move < moves_max; ++move) {
    std::size_t excess = 0;
    std::size_t missing = 0;
    double most_excess = -1;
    double most_missing = -1;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double wanted = static_cast<double>(shares[i]) * gpus();
      const double over = count(i) - wanted;
      if (over > most_excess && count(i) > 0) {
        most_excess = over;
        excess = i;
      }
      if (-over > most_missing) {
        most_missing = -over;
        missing = i;
      }
    }
    if (excess == missing || most_excess + most_missing <= 1 + reluctance) return;
    if (!move_one(view, excess, missing, requests)) return;
  }
}

}  // namespace partita::policies
