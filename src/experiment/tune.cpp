#include "experiment/tune.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "base/check.h"
#include "base/rng.h"
#include "experiment/statistics.h"
#include "policies/registry.h"
#include "sim/engine.h"

namespace partita::experiment {
namespace {

constexpr std::int64_t kHourMicros = 3'600'000'000;
constexpr int kShakes = 3;  // changes made at once to leave a local optimum

// A plan with its ET on each day.
struct Scored {
  LayoutPlan plan;
  std::vector<double> et;

  double mean_et() const { return mean(et); }
};

class Search {
 public:
  explicit Search(const TuneOptions& options)
      : options_(options),
        layouts_(mig::numbered_layouts_count(*options.run.model)),
        rng_(options.seed) {}

  Result<Tuned> run();

 private:
  // ET of the plan on days [first, last), appended; endless where the jobs cannot be run on it.
  void score(Scored& scored, std::size_t first, std::size_t last);
  Scored scored(LayoutPlan plan);
  Scored best_uniform();
  // Whether the plan is better than `incumbent`; then it is put there.
  bool improves(const LayoutPlan& plan, Scored& incumbent);
  void climb(Scored& scored);
  LayoutPlan random_change(LayoutPlan plan);
  bool spent() const { return spent_ >= static_cast<double>(options_.evaluations); }
  void spend(double evaluations);

  const TuneOptions& options_;
  int layouts_;
  Rng rng_;
  double spent_ = 0;
  std::string reason_;  // why a plan could not be run, the last time
};

void Search::spend(double evaluations) {
  spent_ += evaluations;
  if (options_.progress) {
    options_.progress(std::min(1.0, spent_ / static_cast<double>(options_.evaluations)));
  }
}

void Search::score(Scored& scored, std::size_t first, std::size_t last) {
  scored.et.resize(last);
  std::atomic<std::size_t> next = first;
  std::vector<std::string> reasons(last - first);
  const auto work = [&] {
    const auto scheduler = policies::make_scheduler(options_.scheduler, options_.seed);
    const auto repartitioner = make_repartitioner(scored.plan, *options_.run.model);
    CHECK(scheduler.ok());
    for (std::size_t day = next++; day < last; day = next++) {
      const auto result =
          sim::simulate(options_.days[day], options_.run, **scheduler, *repartitioner);
      scored.et[day] = result ? result->et : std::numeric_limits<double>::infinity();
      if (!result) reasons[day - first] = result.error().message;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min(options_.threads, last - first); ++i) {
      threads.emplace_back(work);
    }
    work();
  }
  for (const std::string& reason : reasons) {
    if (!reason.empty()) reason_ = reason;
  }
  spend(static_cast<double>(last - first) / static_cast<double>(options_.days.size()));
}

Scored Search::scored(LayoutPlan plan) {
  Scored made{std::move(plan), {}};
  score(made, 0, options_.days.size());
  return made;
}

Scored Search::best_uniform() {
  Scored best;
  for (int number = 1; number <= layouts_; ++number) {
    LayoutPlan plan;
    for (std::size_t i = 0; i < options_.segments; ++i) {
      const auto hour = static_cast<std::int64_t>(i * 24 / options_.segments);
      plan.segments.push_back({Micros{hour * kHourMicros}, Mix(options_.run.gpus, number)});
    }
    Scored each = scored(std::move(plan));
    if (best.et.empty() || each.mean_et() < best.mean_et()) best = std::move(each);
  }
  return best;
}

bool Search::improves(const LayoutPlan& plan, Scored& incumbent) {
  if (plan == incumbent.plan) return false;
  Scored trial{plan, {}};
  const std::size_t days = options_.days.size();
  const std::size_t few = std::max<std::size_t>(1, days / 4);
  score(trial, 0, few);
  const double before = mean(std::span(incumbent.et).first(few));
  if (trial.mean_et() >= before) return false;
  score(trial, few, days);
  if (trial.mean_et() >= incumbent.mean_et()) return false;
  incumbent = std::move(trial);
  return true;
}

LayoutPlan Search::random_change(LayoutPlan plan) {
  PlanSegment& segment = plan.segments[rng_.below(plan.segments.size())];
  const bool may_shift = plan.segments.size() > 1 && plan.segments.size() < 24;
  if (may_shift && rng_.below(5) == 0) {
    const Micros shifted{segment.from.count + (rng_.below(2) == 0 ? kHourMicros : -kHourMicros)};
    const bool taken = std::any_of(plan.segments.begin(), plan.segments.end(),
                                   [&](const PlanSegment& each) { return each.from == shifted; });
    if (!taken && shifted.count >= 0 && shifted.count < 24 * kHourMicros) segment.from = shifted;
    return plan;
  }
  segment.mix[rng_.below(segment.mix.size())] =
      1 + static_cast<int>(rng_.below(static_cast<std::uint64_t>(layouts_)));
  std::sort(segment.mix.begin(), segment.mix.end());
  return plan;
}

// Random changes until so many in a row failed that hardly one is left untried.
void Search::climb(Scored& scored) {
  const std::size_t patience = scored.plan.segments.size() * static_cast<std::size_t>(layouts_) * 8;
  std::size_t failures = 0;
  while (failures < patience && !spent()) {
    failures = improves(random_change(scored.plan), scored) ? 0 : failures + 1;
  }
}

Result<Tuned> Search::run() {
  Scored best = best_uniform();
  if (!std::isfinite(best.mean_et())) {
    return Error{"no layout for all GPUs can run every day: " + reason_};
  }
  Tuned tuned;
  tuned.first_et = best.mean_et();
  climb(best);
  while (!spent()) {
    LayoutPlan shaken = best.plan;
    for (int i = 0; i < kShakes; ++i) shaken = random_change(std::move(shaken));
    Scored other = scored(std::move(shaken));
    climb(other);
    if (other.mean_et() < best.mean_et()) best = std::move(other);
  }
  tuned.plan = best.plan;
  tuned.et = best.mean_et();
  tuned.evaluations = spent_;
  return tuned;
}

}  // namespace

Result<Tuned> tune(const TuneOptions& options) {
  if (options.days.empty()) return Error{"there is no day to tune on"};
  if (options.segments < 1 || options.segments > 24) {
    return Error{"a timetable has 1 to 24 switches a day"};
  }
  return Search(options).run();
}

}  // namespace partita::experiment
