#include "policies/repartitioners/lookahead.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace partita::policies {
namespace {

// After the horizon no job comes any more; the forecast runs on until those present are done, or
// a layout that only puts work off would look cheap. This is where it stops at the latest.
constexpr Micros kDrainMax = Micros::seconds(4 * 3600);

constexpr std::int64_t kHorizonJobs = 27;  // mean times of a job
constexpr Micros kHorizonMin = Micros::seconds(60);
constexpr Micros kHorizonMax = Micros::seconds(12 * 3600);

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Times are calm when at most this share of the cost foreseen is tardiness: there is little to
// gain.
constexpr double kCalmShare = 0.2;

// A race says nothing about its uncertainty before this.
constexpr std::size_t kFuturesMin = 2;

}  // namespace

Lookahead::Lookahead(LookaheadOptions options)
    : options_(std::move(options)), arrivals_(options_.profile), rng_(options_.seed) {
  CHECK(options_.samples > 0 && options_.moves > 0 && options_.finalists > 0);
  CHECK(options_.samples_max >= options_.samples);
  CHECK(options_.wide > 0 && options_.rest >= 0 && options_.fleet > 0);
}

std::vector<mig::Layout> Lookahead::initial_layouts(const decide::View& view) {
  arrivals_ = ArrivalModel(options_.profile, view.now);
  rng_ = Rng(options_.seed);
  targets_ = options_.start;
  to_sit_out_ = 0;
  last_from_ = {};
  reach_.forget();
  reach_.look(view, targets_);
  look_again_ = false;
  return targets_;
}

void Lookahead::job_arrived(const decide::View& view, cluster::JobHandle job) {
  arrivals_.job_arrived(view.jobs[job]);
  reach_.expect(view.jobs[job].fits, view.now);
  look_again_ = look_again_ || !reach_.offers(view.jobs[job].fits);
}

bool Lookahead::take_layouts(const decide::View&, std::span<const mig::Layout> layouts) {
  targets_.assign(layouts.begin(), layouts.end());
  look_again_ = true;
  return true;
}

void Lookahead::ask(const decide::View& view, const decide::LayoutRequest& request,
                    Requests& requests) {
  requests.push_back(request);
  targets_[request.gpu.value] = request.layout;
  reach_.change(view, request);
}

void Lookahead::relieve(const decide::View& view, Requests& requests) {
  if (!look_again_ && layouts_looked_ == view.cluster.layout_version) return;
  reach_.look(view, targets_);
  layouts_looked_ = view.cluster.layout_version;
  if (const auto request = reach_.relief(view, options_.candidates)) ask(view, *request, requests);
  look_again_ = reach_.any_stranded();
}

void Lookahead::decide(const decide::View& view, Requests& requests) {
  CHECK(view.forecaster != nullptr);
  if (!arrivals_.ready() || arrivals_.mean_time_error() > options_.evidence) return;
  if (arrivals_.level(view.now) <= 0 || sits_out()) return;
  events_total_ += events_;
  events_ = 0;
  per_joule_ = view.et_a / 60;
  per_tardy_second_ = 1 / (60 * arrivals_.jobs_per_day(view.now));
  choose_seen(view);
  draw_futures(view);
  reach_.look(view, targets_);
  look_again_ = reach_.any_stranded();
  asked_.clear();
  for (int move = 0; move < options_.moves; ++move) {
    if (!add_best_change(view)) break;
    const decide::LayoutRequest& request = asked_.back();
    const mig::Layout from = targets_[request.gpu.value];
    ask(view, request, requests);
    add_followers(view, from, request, requests);
  }
  to_sit_out_ = asked_.empty() && calm_ ? options_.rest : 0;
}

bool Lookahead::sits_out() {
  if (to_sit_out_ == 0) return false;
  --to_sit_out_;
  return true;
}

// Every so many-th GPU in order of layout, so that each layout has its share.
void Lookahead::choose_seen(const decide::View& view) {
  seen_.clear();
  for (std::uint32_t gpu = 0; gpu < view.cluster.gpu_count(); ++gpu) seen_.push_back(GpuId{gpu});
  const auto wanted = static_cast<std::size_t>(options_.fleet);
  const std::size_t all = seen_.size();
  if (all <= wanted) return;
  std::stable_sort(seen_.begin(), seen_.end(),
                   [&](GpuId a, GpuId b) { return targets_[a.value] < targets_[b.value]; });
  const std::size_t offset = rng_.below(all);
  for (std::size_t i = 0; i < wanted; ++i) seen_[i] = seen_[(i * all + offset) / wanted];
  seen_.resize(wanted);
  std::sort(seen_.begin(), seen_.end());
}

void Lookahead::add_followers(const decide::View& view, const mig::Layout& from,
                              const decide::LayoutRequest& request, Requests& requests) {
  if (sees_all()) return;
  std::vector<GpuId> alike;
  for (std::uint32_t gpu = 0; gpu < targets_.size(); ++gpu) {
    const bool seen = std::binary_search(seen_.begin(), seen_.end(), GpuId{gpu});
    if (!seen && targets_[gpu] == from) alike.push_back(GpuId{gpu});
  }
  std::stable_sort(alike.begin(), alike.end(), [&](GpuId a, GpuId b) {
    return view.cluster.gpus[a.value].busy_compute_slices <
           view.cluster.gpus[b.value].busy_compute_slices;
  });
  alike.resize(std::min(alike.size(), scale() - 1));
  for (const GpuId gpu : alike) {
    const decide::LayoutRequest same{gpu, request.layout};
    if (!reach_.strands(view, same)) ask(view, same, requests);
  }
}

// Several times the jobs' mean time: shorter, and the jobs that come would not meet what a change
// did to those that are there; longer, and what comes says more about luck than about the change.
Micros Lookahead::horizon() const {
  if (options_.horizon > Micros{}) return options_.horizon;
  const Micros wanted{kHorizonJobs * arrivals_.mean_time().count};
  return std::clamp(wanted, kHorizonMin, kHorizonMax);
}

void Lookahead::draw(const decide::View& view, Future& future, Micros horizon) {
  const double share =
      options_.margin * static_cast<double>(seen_.size()) / static_cast<double>(targets_.size());
  arrivals_.sample(rng_, view.now, view.now + horizon, future.jobs, share);
  future.until = view.now + horizon + kDrainMax;
}

void Lookahead::draw_futures(const decide::View& view) {
  const Micros longest = horizon();
  const Micros screen = options_.screen > Micros{} ? options_.screen : longest;
  draw(view, screening_, std::min(screen, longest));
  futures_.clear();
  future(view, static_cast<std::size_t>(options_.samples) - 1);
}

const Lookahead::Future& Lookahead::future(const decide::View& view, std::size_t number) {
  while (futures_.size() <= number) draw(view, futures_.emplace_back(), horizon());
  return futures_[number];
}

double Lookahead::cost(const decide::View& view, const decide::LayoutRequest* another,
                       const Future& future, double limit) {
  trial_ = asked_;
  if (another != nullptr) trial_.push_back(*another);
  decide::ForecastQuestion question{
      .requests = trial_, .arrivals = future.jobs, .until = future.until};
  if (options_.pruning && limit < kInfinity) {
    question.limit = decide::CostLimit{per_joule_, per_tardy_second_, limit};
  }
  if (!sees_all()) question.gpus = seen_;
  const decide::ForecastCost forecast = view.forecaster->forecast(question);
  events_ += forecast.events;
  if (forecast.over_limit) return kInfinity;
  const double tardiness = per_tardy_second_ * forecast.tardiness_s;
  const double total = per_joule_ * forecast.energy_j + tardiness;
  if (another == nullptr && asked_.empty()) calm_ = tardiness < kCalmShare * total;
  return total <= limit ? total : kInfinity;
}

GpuId Lookahead::idlest_gpu_with(const decide::View& view, const mig::Layout& layout) const {
  GpuId best;
  for (const GpuId gpu : seen_) {
    if (targets_[gpu.value] != layout) continue;
    if (!best.valid() || view.cluster.gpus[gpu.value].busy_compute_slices <
                             view.cluster.gpus[best.value].busy_compute_slices) {
      best = gpu;
    }
  }
  return best;
}

// One GPU stands for all that have its layout: the idlest, whose change costs least.
void Lookahead::list_present(const decide::View& view) {
  present_.clear();
  for (const GpuId gpu : seen_) present_.push_back(targets_[gpu.value]);
  std::sort(present_.begin(), present_.end());
  present_.erase(std::unique(present_.begin(), present_.end()), present_.end());
  giver_.clear();
  for (const mig::Layout& layout : present_) giver_.push_back(idlest_gpu_with(view, layout));
}

// What a change saves is, nearly, what the new layout is worth less what the old one was. So every
// layout is tried on a GPU of one layout, the one that was best to give up at the last turn; and
// those that did best there on GPUs of all others.
void Lookahead::screen(const decide::View& view) {
  candidates_.clear();
  const double stay = cost(view, nullptr, screening_, kInfinity);
  const auto last = std::find(present_.begin(), present_.end(), last_from_);
  const auto first =
      last == present_.end() ? std::size_t{0} : static_cast<std::size_t>(last - present_.begin());
  for (const mig::Layout& to : options_.candidates) screen_one(view, first, to, stay);
  for (const mig::Layout& to : best_targets()) {
    for (std::size_t from = 0; from < present_.size(); ++from) {
      if (from != first) screen_one(view, from, to, stay);
    }
  }
}

void Lookahead::screen_one(const decide::View& view, std::size_t from, const mig::Layout& to,
                           double stay) {
  if (present_[from] == to || budget_spent()) return;
  Candidate candidate{{giver_[from], to}, present_[from], 0, {}};
  if (reach_.strands(view, candidate.request)) return;
  const double with = cost(view, &candidate.request, screening_, screen_limit(stay));
  if (with == kInfinity) return;
  candidate.screened = stay - with;
  // In order; of equals the first stays in front.
  const auto at = std::find_if(candidates_.begin(), candidates_.end(), [&](const Candidate& each) {
    return each.screened < candidate.screened;
  });
  candidates_.insert(at, std::move(candidate));
}

double Lookahead::screen_limit(double stay) const {
  const auto kept = static_cast<std::size_t>(std::max(options_.finalists, options_.wide));
  return candidates_.size() < kept ? kInfinity : stay - candidates_[kept - 1].screened;
}

std::vector<mig::Layout> Lookahead::best_targets() const {
  std::vector<mig::Layout> best;
  for (const Candidate& each : candidates_) {
    if (static_cast<int>(best.size()) == options_.wide) break;
    best.push_back(each.request.layout);
  }
  return best;
}

// All finalists meet one future after the other. From the second on those that save nothing on
// average drop out; to stay in, a future may not cost more than the ones before have saved.
void Lookahead::race(const decide::View& view) {
  for (int number = 0; number < options_.samples_max; ++number) {
    if (candidates_.empty() || budget_spent()) return;
    if (number >= options_.samples && decided()) return;
    const Future& met = future(view, static_cast<std::size_t>(number));
    const double stay = cost(view, nullptr, met, kInfinity);
    for (Candidate& each : candidates_) {
      const double saved = std::accumulate(each.savings.begin(), each.savings.end(), 0.0);
      const double limit = number == 0 ? kInfinity : stay + saved;
      each.savings.push_back(stay - cost(view, &each.request, met, limit));
    }
    if (number == 0) continue;
    std::erase_if(candidates_, [](const Candidate& each) { return !(each.mean() > 0); });
  }
}

bool Lookahead::pays(const Candidate& candidate) const {
  return candidate.mean() > options_.caution * candidate.error();
}

bool Lookahead::decided() const {
  const auto best = std::ranges::max_element(candidates_, {}, &Candidate::mean);
  return best != candidates_.end() && pays(*best);
}

bool Lookahead::add_best_change(const decide::View& view) {
  list_present(view);
  screen(view);
  const auto finalists = static_cast<std::size_t>(options_.finalists);
  if (candidates_.size() > finalists) {
    candidates_.erase(candidates_.begin() + options_.finalists, candidates_.end());
  }
  if (!candidates_.empty()) last_from_ = candidates_.front().from;
  race(view);
  const auto saves_more = [](const Candidate& a, const Candidate& b) {
    return a.mean() > b.mean();
  };
  const auto best = std::min_element(candidates_.begin(), candidates_.end(), saves_more);
  if (best == candidates_.end() ||
      best->savings.size() < std::min(kFuturesMin, static_cast<std::size_t>(options_.samples))) {
    return false;
  }
  if (!pays(*best)) return false;
  last_from_ = best->from;
  asked_.push_back(best->request);
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
