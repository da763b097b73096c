#include "experiment/tuning/fleet_size.h"

#include <fmt/format.h>

#include <algorithm>

#include "policies/registry.h"

namespace partita::experiment {
namespace {

class Sizing {
 public:
  Sizing(const workload::Trace& trace, const sim::RunOptions& run, const Policy& policy,
         const SizeOptions& options)
      : trace_(trace), run_(run), policy_(policy), options_(options) {}

  Result<std::optional<std::uint32_t>> fewest();
  // Sizes around one, so that the curve and its knee show.
  Status fill_curve(std::uint32_t around);
  const std::vector<SizedFleet>& curve() const { return curve_; }

 private:
  // The share of late jobs of that size, which is run once.
  Result<double> late_share(std::uint32_t gpus);
  void at(double part) const {
    if (options_.progress) options_.progress(part);
  }

  const workload::Trace& trace_;
  sim::RunOptions run_;
  const Policy& policy_;
  const SizeOptions& options_;
  std::vector<SizedFleet> curve_;
};

Result<double> Sizing::late_share(std::uint32_t gpus) {
  const auto place = std::ranges::lower_bound(curve_, gpus, {}, &SizedFleet::gpus);
  if (place != curve_.end() && place->gpus == gpus) return place->result.late_share();
  run_.gpus = gpus;
  const auto layouts = policies::make_repartitioner(policy_.repartition, *run_.model, gpus);
  if (!layouts) {
    return Error{fmt::format("{}: {}", options_.layouts_place, layouts.error().message)};
  }
  auto run = run_policy(trace_, run_, policy_, **layouts);
  if (!run) return run.error();
  return curve_.insert(place, {gpus, std::move(run->result)})->result.late_share();
}

Result<std::optional<std::uint32_t>> Sizing::fewest() {
  std::uint32_t low = 0;
  std::uint32_t high = 1;
  double late_before = -1;  // twice as many GPUs that change nothing end the search
  while (true) {
    const auto late = late_share(high);
    if (!late) return late.error();
    if (*late <= options_.late_max) break;
    if (high == options_.gpus_max || *late == late_before) return std::optional<std::uint32_t>{};
    late_before = *late;
    low = high;
    high = std::min(options_.gpus_max, high * 2);
    at(-1);
  }
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    const auto late = late_share(middle);
    if (!late) return late.error();
    (*late <= options_.late_max ? high : low) = middle;
  }
  return std::optional{high};
}

Status Sizing::fill_curve(std::uint32_t around) {
  constexpr std::uint32_t kPoints = 12;
  const std::uint32_t first = std::max(1U, around / 2);
  const std::uint32_t last = std::min(options_.gpus_max, around + std::max(2U, around / 2));
  const std::uint32_t step = std::max(1U, (last - first) / kPoints);
  for (std::uint32_t gpus = first; gpus <= last; gpus += step) {
    const auto late = late_share(gpus);
    if (!late) return late.error();
    at(static_cast<double>(gpus - first) / static_cast<double>(last - first + 1));
  }
  return {};
}

}  // namespace

std::optional<std::uint32_t> knee_of(const std::vector<SizedFleet>& curve) {
  if (curve.size() < 3) return {};
  const sim::RunResult& first = curve.front().result;
  const sim::RunResult& last = curve.back().result;
  const double width = last.energy_j - first.energy_j;
  const double height = first.mean_tardiness_s - last.mean_tardiness_s;
  if (width <= 0 || height <= 0) return {};
  std::optional<std::uint32_t> knee;
  double furthest = 0;
  for (const SizedFleet& fleet : curve) {
    const double x = (fleet.result.energy_j - first.energy_j) / width;
    const double y = (fleet.result.mean_tardiness_s - last.mean_tardiness_s) / height;
    if (1 - x - y <= furthest) continue;
    furthest = 1 - x - y;
    knee = fleet.gpus;
  }
  return knee;
}

Result<FleetSizes> size_fleet(const workload::Trace& trace, const sim::RunOptions& run,
                              const Policy& policy, const SizeOptions& options) {
  Sizing sizing(trace, run, policy, options);
  const auto fewest = sizing.fewest();
  if (!fewest) return fewest.error();
  const std::uint32_t around = fewest->value_or(sizing.curve().back().gpus / 2 + 1);
  if (const Status filled = sizing.fill_curve(around); !filled) return filled.error();
  return FleetSizes{sizing.curve(), *fewest, knee_of(sizing.curve())};
}

}  // namespace partita::experiment
