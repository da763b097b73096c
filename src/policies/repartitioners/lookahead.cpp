#include "policies/repartitioners/lookahead.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace partita::policies {
namespace {

// After the horizon no job comes any more; the forecast runs on until those present are done, or
// a layout that only puts work off would look cheap. This is where it stops at the latest.
constexpr Micros kDrainMax = Micros::seconds(4 * 3600);

}  // namespace

Lookahead::Lookahead(LookaheadOptions options)
    : options_(std::move(options)), arrivals_(options_.profile), rng_(options_.seed) {
  CHECK(options_.samples > 0 && options_.moves > 0 && options_.finalists > 0);
}

std::vector<mig::Layout> Lookahead::initial_layouts(const decide::View&) {
  arrivals_ = ArrivalModel(options_.profile);
  rng_ = Rng(options_.seed);
  targets_ = options_.start;
  return targets_;
}

void Lookahead::job_arrived(const decide::View& view, cluster::JobHandle job) {
  arrivals_.job_arrived(view.jobs[job]);
}

void Lookahead::decide(const decide::View& view, std::vector<decide::LayoutRequest>& requests) {
  CHECK(view.forecaster != nullptr);
  if (!arrivals_.ready()) return;
  events_ = 0;
  draw_futures(view);
  for (int move = 0; move < options_.moves; ++move) {
    if (!add_best_change(view, requests)) return;
    targets_[requests.back().gpu.value] = requests.back().layout;
  }
}

void Lookahead::draw_futures(const decide::View& view) {
  futures_.resize(static_cast<std::size_t>(options_.samples));
  for (std::vector<workload::Job>& future : futures_) {
    arrivals_.sample(rng_, view.now, view.now + options_.horizon, future);
  }
}

double Lookahead::cost(const decide::View& view, const std::vector<decide::LayoutRequest>& requests,
                       std::size_t future) {
  const decide::ForecastCost forecast = view.forecaster->forecast(
      requests, futures_[future], view.now + options_.horizon + kDrainMax);
  events_ += forecast.events;
  const double energy_w_min = forecast.energy_j / 60;
  const double tardiness_min = forecast.tardiness_s / 60;
  return view.et_a * energy_w_min + tardiness_min / arrivals_.jobs_per_day(view.now);
}

GpuId Lookahead::idlest_gpu_with(const decide::View& view, const mig::Layout& layout) const {
  GpuId best;
  for (std::uint32_t gpu = 0; gpu < targets_.size(); ++gpu) {
    if (targets_[gpu] != layout) continue;
    if (!best.valid() || view.cluster.gpus[gpu].busy_compute_slices <
                             view.cluster.gpus[best.value].busy_compute_slices) {
      best = GpuId{gpu};
    }
  }
  return best;
}

// One GPU stands for all that have its layout: the idlest, whose change costs least.
void Lookahead::list_candidates(const decide::View& view) {
  candidates_.clear();
  std::vector<mig::Layout> present = targets_;
  std::sort(present.begin(), present.end());
  present.erase(std::unique(present.begin(), present.end()), present.end());
  for (const mig::Layout& layout : present) {
    const GpuId gpu = idlest_gpu_with(view, layout);
    for (const mig::Layout& other : options_.candidates) {
      if (other != layout) candidates_.push_back({{gpu, other}, {}});
    }
  }
}

void Lookahead::try_on(const decide::View& view, const std::vector<decide::LayoutRequest>& requests,
                       std::size_t future) {
  const double stay = cost(view, requests, future);
  for (Candidate& candidate : candidates_) {
    if (budget_spent()) return;
    trial_ = requests;
    trial_.push_back(candidate.request);
    candidate.savings.push_back(stay - cost(view, trial_, future));
  }
}

bool Lookahead::add_best_change(const decide::View& view,
                                std::vector<decide::LayoutRequest>& requests) {
  list_candidates(view);
  try_on(view, requests, 0);
  std::erase_if(candidates_, [](const Candidate& each) { return each.savings.empty(); });
  const auto saves_more = [](const Candidate& a, const Candidate& b) {
    return a.mean() > b.mean();
  };
  std::stable_sort(candidates_.begin(), candidates_.end(), saves_more);
  const auto finalists = static_cast<std::size_t>(options_.finalists);
  if (candidates_.size() > finalists) candidates_.resize(finalists);
  for (std::size_t future = 1; future < futures_.size() && !budget_spent(); ++future) {
    try_on(view, requests, future);
  }
  if (candidates_.empty()) return false;
  const auto best = std::min_element(candidates_.begin(), candidates_.end(), saves_more);
  if (best->mean() <= options_.caution * best->error()) return false;
  requests.push_back(best->request);
  return true;
}

double Lookahead::Candidate::mean() const {
  return std::accumulate(savings.begin(), savings.end(), 0.0) / static_cast<double>(savings.size());
}

double Lookahead::Candidate::error() const {
  if (savings.size() < 2) return 0;
  const double centre = mean();
  double squares = 0;
  for (const double saving : savings) squares += (saving - centre) * (saving - centre);
  const auto count = static_cast<double>(savings.size());
  return std::sqrt(squares / (count - 1) / count);
}

}  // namespace partita::policies
