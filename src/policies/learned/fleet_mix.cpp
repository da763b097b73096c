#include "policies/learned/fleet_mix.h"

#include <algorithm>

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
  // So that no change of a mix allocates.
  for (auto& members : members_) members.reserve(layout_of_.size());
}

std::vector<mig::Layout> FleetMix::present() const {
  std::vector<mig::Layout> all;
  all.reserve(layout_of_.size());
  for (const std::uint8_t layout : layout_of_) all.push_back(layouts_[layout]);
  return all;
}

void FleetMix::move_one(const decide::View& view, std::size_t from, std::size_t to,
                        std::vector<decide::LayoutRequest>& requests) {
  std::vector<std::uint32_t>& members = members_[from];
  CHECK(!members.empty() && from != to);
  const std::size_t looks = std::min(kLookedAt, members.size());
  std::size_t best = turn_++ % members.size();
  for (std::size_t i = 1, at = best; i < looks; ++i) {
    at = at + 1 == members.size() ? 0 : at + 1;
    if (view.cluster.gpus[members[at]].busy_compute_slices <
        view.cluster.gpus[members[best]].busy_compute_slices) {
      best = at;
    }
  }
  const std::uint32_t gpu = members[best];
  members[best] = members.back();
  members.pop_back();
  members_[to].push_back(gpu);
  layout_of_[gpu] = static_cast<std::uint8_t>(to);
  requests.push_back({GpuId{gpu}, layouts_[to]});
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
    move_one(view, excess, missing, requests);
  }
}

}  // namespace partita::policies
