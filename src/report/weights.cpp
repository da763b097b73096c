#include "report/weights.h"

namespace partita::report {
namespace {

// Where energy has no weight the least tardiness wins, and of equals the least energy.
std::size_t best_without_energy(std::span<const Outlay> outlays) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < outlays.size(); ++i) {
    const Outlay& one = outlays[i];
    const Outlay& other = outlays[best];
    if (one.tardiness_min < other.tardiness_min ||
        (one.tardiness_min == other.tardiness_min && one.energy_w_min < other.energy_w_min)) {
      best = i;
    }
  }
  return best;
}

struct Overtaking {
  std::size_t by = 0;
  double at = 0;
};

// Who takes over from `current` first as the weight grows; of several at one weight the one with
// the least energy, which stays ahead of the others.
std::optional<Overtaking> next_best(std::span<const Outlay> outlays, std::size_t current) {
  std::optional<Overtaking> next;
  for (std::size_t i = 0; i < outlays.size(); ++i) {
    const double saved = outlays[current].energy_w_min - outlays[i].energy_w_min;
    if (!(saved > 0)) continue;
    const double at = (outlays[i].tardiness_min - outlays[current].tardiness_min) / saved;
    const bool sooner = !next || at < next->at;
    const bool leaner =
        next && at == next->at && outlays[i].energy_w_min < outlays[next->by].energy_w_min;
    if (sooner || leaner) next = Overtaking{i, at};
  }
  return next;
}

}  // namespace

std::vector<std::optional<WeightRange>> best_weights(std::span<const Outlay> outlays) {
  std::vector<std::optional<WeightRange>> ranges(outlays.size());
  if (outlays.empty()) return ranges;
  std::size_t current = best_without_energy(outlays);
  ranges[current] = WeightRange{};
  while (const auto next = next_best(outlays, current)) {
    ranges[current]->to = next->at;
    ranges[next->by] = WeightRange{next->at, {}};
    current = next->by;
  }
  return ranges;
}

}  // namespace partita::report
