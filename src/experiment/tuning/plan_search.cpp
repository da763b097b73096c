#include "experiment/tuning/plan_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <set>

#include "base/check.h"
#include "base/rng.h"

namespace partita::experiment {
namespace {

constexpr std::int64_t kHourMicros = 3'600'000'000;
constexpr std::size_t kHandful = 8;       // changes that race together
constexpr std::size_t kFirstWindows = 3;  // of a race; each further lap doubles them
constexpr double kDropErrors = 1;         // standard errors by which a change is worse: dropped
constexpr double kDropErrorsFirst = 3;    // the same of a first mix, of which there are few
constexpr int kShakes = 3;                // changes made at once to leave a local optimum
constexpr int kVainShakesMax = 4;         // in a row; then the search ends
constexpr double kSpentLeast = 0.5;       // of the evaluations: before that it goes on shaking
constexpr int kShakeTries = 50;           // to find a plan that meets the needs
constexpr std::size_t kFinishedKept = 2;  // one of them is not the plan chosen
constexpr double kLeastGain = 1e-9;       // of the sum: less is rounding

struct Scored {
  MixPlan plan;
  double sum = 0;  // of ET over the windows
};

// Differences of two plans, window by window.
struct Differences {
  double sum = 0;
  double squares = 0;
  std::size_t count = 0;

  void add(double difference) {
    sum += difference;
    squares += difference * difference;
    ++count;
  }
  double mean() const { return sum / static_cast<double>(count); }
  // Of the mean; 0 where one window says nothing about chance.
  double standard_error() const {
    if (count < 2) return 0;
    const auto n = static_cast<double>(count);
    return std::sqrt(std::max(0.0, squares / n - mean() * mean()) / (n - 1));
  }
};

// One that races, and how it did so far.
struct Runner {
  MixPlan plan;
  double sum = 0;
  Differences to_incumbent;
  bool dropped = false;
};

class Search {
 public:
  Search(PlanScores& scores, const JobNeeds& needs, std::span<const std::size_t> windows,
         const SearchOptions& options)
      : scores_(scores),
        needs_(needs),
        windows_(windows.begin(), windows.end()),
        options_(options),
        layouts_(needs.layouts()),
        rng_(options.seed) {}

  Result<FoundPlan> run();

 private:
  Scored full(const MixPlan& plan);
  void finish(const Scored& scored);
  Result<Scored> best_first();
  std::size_t best_at_first_glance(const std::vector<MixPlan>& plans);
  MixPlan in_segments(const Mix& mix, std::size_t segments) const;
  void spread_windows(const MixPlan& plan);

  std::vector<MixPlan> changes(const MixPlan& plan, std::size_t block) const;
  void add_shifts(const MixPlan& plan, std::vector<MixPlan>& plans) const;
  // Those that were not dropped before the last window.
  std::vector<Scored> race(const std::vector<MixPlan>& plans, const Scored& incumbent,
                           double drop_errors);
  // Whether one of the handful is better than the incumbent; then the best of them is put there.
  bool improves(const std::vector<MixPlan>& handful, Scored& incumbent);
  void lap(std::vector<Runner>& runners, const Scored& incumbent, std::size_t first,
           std::size_t last);
  static bool hopeless(const Runner& runner, const Scored& incumbent, double drop_errors);
  // Whether one gains over the other on all windows, by more than chance.
  bool gains(const Scored& scored, const Scored& over) const;
  bool climb_once(Scored& incumbent, std::size_t block);
  void climb(Scored& incumbent);
  std::optional<MixPlan> shaken(const MixPlan& plan);
  void improve(Scored& best);

  std::size_t largest_block() const {
    return std::bit_floor(std::max<std::size_t>(1, options_.gpus / 4));
  }
  bool spent() const { return spent_ >= budget_; }
  void spend(std::size_t runs);

  PlanScores& scores_;
  const JobNeeds& needs_;
  std::vector<std::size_t> windows_;
  const SearchOptions& options_;
  int layouts_;
  Rng rng_;
  double spent_ = 0;
  double budget_ = 0;
  std::set<MixPlan> tried_;
  std::vector<Scored> finished_;  // the best few of those tried on all windows
};

void Search::spend(std::size_t runs) {
  spent_ += static_cast<double>(runs) / static_cast<double>(windows_.size());
  if (options_.progress) {
    options_.progress(std::min(1.0, spent_ / static_cast<double>(options_.evaluations)));
  }
}

Scored Search::full(const MixPlan& plan) {
  const std::vector<double> ets = scores_.all(plan, windows_);
  spend(windows_.size());
  tried_.insert(plan);
  return {plan, std::accumulate(ets.begin(), ets.end(), 0.0)};
}

void Search::finish(const Scored& scored) {
  const auto same = [&](const Scored& each) { return each.plan == scored.plan; };
  if (std::ranges::any_of(finished_, same)) return;
  finished_.push_back(scored);
  std::ranges::stable_sort(finished_, {}, &Scored::sum);
  if (finished_.size() > kFinishedKept) finished_.pop_back();
}

MixPlan Search::in_segments(const Mix& mix, std::size_t segments) const {
  MixPlan plan;
  for (std::size_t i = 0; i < segments; ++i) {
    const auto hour = static_cast<std::int64_t>(i * 24 / segments);
    plan.segments.push_back({Micros{hour * kHourMicros}, mix});
  }
  return plan;
}

// The first mixes race as changes do, against the one that is best on a few windows: the worst of
// them have the longest queues, and take the longest to simulate.
Result<Scored> Search::best_first() {
  const auto mixes = needs_.first_mixes(options_.gpus);
  if (!mixes) return mixes.error();
  std::vector<MixPlan> plans;
  for (const Mix& mix : *mixes) plans.push_back(in_segments(mix, 1));
  tried_.insert(plans.begin(), plans.end());
  for (const Mix& mix : options_.known_mixes) {
    const MixPlan plan = in_segments(mix, 1);
    if (needs_.met_by(plan) && tried_.insert(plan).second) plans.push_back(plan);
  }
  const std::size_t leader = best_at_first_glance(plans);
  Scored best = full(plans[leader]);
  finish(best);
  spread_windows(best.plan);
  plans.erase(plans.begin() + static_cast<std::ptrdiff_t>(leader));
  for (const Scored& scored : race(plans, best, kDropErrorsFirst)) {
    if (scored.sum < best.sum) best = scored;
  }
  return best;
}

std::size_t Search::best_at_first_glance(const std::vector<MixPlan>& plans) {
  std::vector<std::size_t> few;  // spread over all windows, whatever their number
  for (std::size_t i = 0; i < kFirstWindows; ++i) {
    few.push_back(windows_[i * windows_.size() / kFirstWindows]);
  }
  std::vector<PlanScores::Pair> pairs;
  for (const MixPlan& plan : plans) {
    for (const std::size_t window : few) pairs.push_back({plan, window});
  }
  scores_.simulate(pairs);
  spend(pairs.size());
  std::vector<double> sums;
  for (const MixPlan& plan : plans) {
    const std::vector<double> ets = scores_.all(plan, few);
    sums.push_back(std::accumulate(ets.begin(), ets.end(), 0.0));
  }
  return static_cast<std::size_t>(std::ranges::min_element(sums) - sums.begin());
}

// In an order of which every beginning has hard and easy windows alike: what races is dropped after
// a few, and would be on the wrong ones if it does better on those of one kind.
void Search::spread_windows(const MixPlan& plan) {
  std::ranges::stable_sort(windows_, [&](std::size_t a, std::size_t b) {
    return scores_.et(plan, a) > scores_.et(plan, b);
  });
  const std::vector<std::size_t> by_et = windows_;
  const std::size_t bits = std::bit_width(by_et.size() - 1);
  windows_.clear();
  for (std::size_t i = 0; i < std::size_t{1} << bits; ++i) {
    std::size_t reversed = 0;  // its bits: the first, the middle, the quarters and so on
    for (std::size_t bit = 0; bit < bits; ++bit) reversed |= (i >> bit & 1U) << (bits - 1 - bit);
    if (reversed < by_et.size()) windows_.push_back(by_et[reversed]);
  }
}

void Search::add_shifts(const MixPlan& plan, std::vector<MixPlan>& plans) const {
  for (std::size_t i = 0; i < plan.segments.size() && plan.segments.size() > 1; ++i) {
    for (const std::int64_t by : {-kHourMicros, kHourMicros}) {
      const Micros shifted{plan.segments[i].from.count + by};
      const bool free = std::ranges::none_of(
          plan.segments, [&](const PlanSegment& each) { return each.from == shifted; });
      if (!free || shifted.count < 0 || shifted.count >= 24 * kHourMicros) continue;
      plans.push_back(plan);
      plans.back().segments[i].from = shifted;
    }
  }
}

// Every plan in which `block` GPUs of one segment have another layout (or all that have it, where
// they are fewer), in random order.
std::vector<MixPlan> Search::changes(const MixPlan& plan, std::size_t block) const {
  std::vector<MixPlan> plans;
  for (std::size_t s = 0; s < plan.segments.size(); ++s) {
    const Mix& mix = plan.segments[s].mix;
    for (auto from = mix.begin(); from != mix.end();) {
      const auto end = std::upper_bound(from, mix.end(), *from);
      const auto count = std::min(static_cast<std::ptrdiff_t>(block), end - from);
      for (int to = 1; to <= layouts_; ++to) {
        if (to == *from) continue;
        plans.push_back(plan);
        Mix& changed = plans.back().segments[s].mix;
        std::fill_n(changed.begin() + (from - mix.begin()), count, to);
        std::ranges::sort(changed);
      }
      from = end;
    }
  }
  add_shifts(plan, plans);
  return plans;
}

bool Search::hopeless(const Runner& runner, const Scored& incumbent, double drop_errors) {
  if (runner.sum >= incumbent.sum) return true;  // no ET is below zero
  const Differences& worse = runner.to_incumbent;
  return worse.mean() > 0 && worse.mean() >= drop_errors * worse.standard_error();
}

bool Search::gains(const Scored& scored, const Scored& over) const {
  if (scored.sum >= over.sum * (1 - kLeastGain)) return false;
  Differences gain;
  for (const std::size_t window : windows_) {
    gain.add(scores_.et(over.plan, window) - scores_.et(scored.plan, window));
  }
  return gain.mean() >= options_.caution * gain.standard_error();
}

void Search::lap(std::vector<Runner>& runners, const Scored& incumbent, std::size_t first,
                 std::size_t last) {
  std::vector<PlanScores::Pair> pairs;
  for (const Runner& runner : runners) {
    for (std::size_t i = first; i < last && !runner.dropped; ++i) {
      pairs.push_back({runner.plan, windows_[i]});
    }
  }
  scores_.simulate(pairs);
  spend(pairs.size());
  for (Runner& runner : runners) {
    if (runner.dropped) continue;
    for (std::size_t i = first; i < last; ++i) {
      const double et = scores_.et(runner.plan, windows_[i]);
      runner.sum += et;
      runner.to_incumbent.add(et - scores_.et(incumbent.plan, windows_[i]));
    }
  }
}

std::vector<Scored> Search::race(const std::vector<MixPlan>& plans, const Scored& incumbent,
                                 double drop_errors) {
  std::vector<Runner> runners(plans.size());
  for (std::size_t i = 0; i < plans.size(); ++i) runners[i].plan = plans[i];
  std::size_t first = 0;
  for (std::size_t many = kFirstWindows; first < windows_.size(); many *= 2) {
    const std::size_t last = std::min(windows_.size(), first + many);
    lap(runners, incumbent, first, last);
    for (Runner& runner : runners) {
      runner.dropped = runner.dropped || hopeless(runner, incumbent, drop_errors);
    }
    first = last;
  }
  std::vector<Scored> lasted;
  for (const Runner& runner : runners) {
    if (runner.to_incumbent.count < windows_.size()) continue;
    lasted.push_back({runner.plan, runner.sum});
    finish(lasted.back());
  }
  return lasted;
}

bool Search::improves(const std::vector<MixPlan>& handful, Scored& incumbent) {
  std::optional<Scored> best;
  for (const Scored& scored : race(handful, incumbent, kDropErrors)) {
    if (gains(scored, incumbent) && (!best || scored.sum < best->sum)) best = scored;
  }
  if (!best) return false;
  incumbent = *std::move(best);
  return true;
}

// Tries the changes of the incumbent until one helps; false when none did.
bool Search::climb_once(Scored& incumbent, std::size_t block) {
  std::vector<MixPlan> untried = changes(incumbent.plan, block);
  for (std::size_t i = untried.size(); i > 1; --i) {
    std::swap(untried[i - 1], untried[rng_.below(i)]);
  }
  std::vector<MixPlan> handful;
  for (std::size_t i = 0; i < untried.size() && !spent(); ++i) {
    if (needs_.met_by(untried[i]) && tried_.insert(untried[i]).second) {
      handful.push_back(untried[i]);
    }
    const bool last = i + 1 == untried.size();
    if (handful.empty() || (handful.size() < kHandful && !last)) continue;
    if (improves(handful, incumbent)) return true;
    handful.clear();
  }
  return false;
}

void Search::climb(Scored& incumbent) {
  for (std::size_t block = largest_block(); block > 0; block /= 2) {
    while (!spent() && climb_once(incumbent, block)) {
    }
  }
}

// Another plan, a few changes away, that was not tried yet; nothing when none is found.
std::optional<MixPlan> Search::shaken(const MixPlan& plan) {
  for (int tries = 0; tries < kShakeTries; ++tries) {
    MixPlan other = plan;
    for (int i = 0; i < kShakes; ++i) {
      std::vector<MixPlan> all = changes(other, largest_block());
      if (!all.empty()) other = std::move(all[rng_.below(all.size())]);
    }
    if (needs_.met_by(other) && !tried_.contains(other)) return other;
  }
  return {};
}

void Search::improve(Scored& best) {
  climb(best);
  const auto cheap = [&] { return spent_ < kSpentLeast * budget_; };
  for (int vain = 0; (vain < kVainShakesMax || cheap()) && !spent(); ++vain) {
    const std::optional<MixPlan> other = shaken(best.plan);
    if (!other) return;
    Scored incumbent = full(*other);
    finish(incumbent);
    climb(incumbent);
    if (!gains(incumbent, best)) continue;
    best = std::move(incumbent);
    vain = -1;
  }
}

Result<FoundPlan> Search::run() {
  // A timetable begins with the static mix that half of the evaluations find.
  const bool timetable = options_.segments > 1;
  budget_ = static_cast<double>(options_.evaluations) / (timetable ? 2 : 1);
  Result<Scored> best = best_first();
  if (!best) return best.error();
  FoundPlan found;
  found.start = best->plan;
  improve(*best);
  if (timetable) {
    finished_.clear();
    *best = full(in_segments(best->plan.segments[0].mix, options_.segments));
    finish(*best);
    budget_ *= 2;
    improve(*best);
  }
  if (best->sum >= kCannotRun) {
    return Error{"no plan that was tried can run every window: " + scores_.reason()};
  }
  found.plan = best->plan;
  for (const Scored& scored : finished_) {
    if (scored.plan == best->plan || scored.sum >= kCannotRun || found.runner_up) continue;
    found.runner_up = scored.plan;
  }
  found.evaluations = spent_;
  return found;
}

}  // namespace

Result<FoundPlan> search_plan(PlanScores& scores, const JobNeeds& needs,
                              std::span<const std::size_t> windows, const SearchOptions& options) {
  CHECK(!windows.empty());
  return Search(scores, needs, windows, options).run();
}

}  // namespace partita::experiment
