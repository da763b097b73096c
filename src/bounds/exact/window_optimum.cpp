#include "bounds/exact/window_optimum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/check.h"
#include "bounds/whole_run.h"

namespace partita::bounds {
namespace {

// What sums of doubles may be off by; less than a microsecond.
constexpr double kRounding = 1e-7;
constexpr std::uint64_t kClockEvery = 1024;  // nodes

// The plain profile of each mode: the first of its shape with all the memory that shape has.
std::vector<mig::ProfileIndex> profiles_of(const Problem& problem, const mig::GpuModel& model) {
  std::vector<mig::ProfileIndex> found;
  for (const Mode& mode : problem.modes) {
    const auto same = [&](const mig::Profile& profile) {
      return profile.compute_slices == mode.compute && profile.memory_slices == mode.memory &&
             profile.memory_gib == mode.memory_gib;
    };
    const auto at = std::ranges::find_if(model.profiles, same);
    CHECK(at != model.profiles.end());
    found.push_back(static_cast<mig::ProfileIndex>(at - model.profiles.begin()));
  }
  return found;
}

// What GPUs earn from an instant on with the loads that earn most; 0 from the tail on.
class Earnings {
 public:
  Earnings(const Problem& problem, const PriceGrid& grid) : grid_(grid) {
    for (std::size_t i = 0; i < grid.intervals(); ++i) {
      double most = 0;
      for (const Load& load : problem.loads) {
        double gain = 0;
        for (std::size_t mode = 0; mode < grid.modes; ++mode) {
          gain += grid.at(i)[mode] * load.count[mode];
        }
        most = std::max(most, gain);
      }
      rate_.push_back(i == grid.tail() ? 0 : most * problem.gpus * kSecondsPerMicro);
    }
    from_.resize(rate_.size());
    for (std::size_t i = grid.tail(); i-- > 0;) {
      from_[i] = from_[i + 1] + rate_[i] * (grid.end(i) - grid.begin(i));
    }
  }

  double from(double instant) const {
    const std::size_t i = grid_.find(instant);
    return from_[i] - rate_[i] * (instant - grid_.begin(i));
  }

 private:
  const PriceGrid& grid_;
  std::vector<double> rate_;  // a microsecond, by interval
  std::vector<double> from_;  // the begin of the interval
};

class Branching {
 public:
  Branching(const Problem& problem, const mig::GpuModel& model, const PriceGrid& prices,
            const WindowEffort& effort)
      : problem_(problem),
        model_(model),
        prices_(prices),
        effort_(effort),
        profiles_(profiles_of(problem, model)),
        whole_(prices, 1),
        earnings_(problem, prices),
        least_costs_(problem.jobs.size() * prices.intervals(), -1) {}

  WindowOptimum run();

 private:
  struct Choice {
    PlacedRun run;
    std::size_t mode = 0;
    double tardiness = 0;  // seconds, of all jobs placed, with this one
    double bound = 0;      // no schedule that goes on from here has less
  };
  // What decides how a partial schedule can go on: jobs placed, the last begin, who still runs.
  using State = std::vector<double>;

  void extend(double now, double tardiness);
  void add_choices(std::size_t job, double now, double tardiness, std::vector<Choice>& choices);
  bool dominated(const BoundJob& job, std::size_t mode) const;
  double earliest(std::uint32_t gpu, mig::Placement placement, double from) const;
  mig::Layout busy(std::uint32_t gpu, double instant) const;
  bool same_as_earlier(std::uint32_t gpu, double now) const;
  double least_cost(std::size_t job, double now);
  double bound_of(double now, double tardiness);
  double rent(std::size_t mode, double begin, double end) const;
  bool met_before(double now, double tardiness);
  bool placed(std::size_t job) const { return (placed_ >> job & 1U) != 0; }

  const Problem& problem_;
  const mig::GpuModel& model_;
  const PriceGrid& prices_;
  const WindowEffort& effort_;
  std::vector<mig::ProfileIndex> profiles_;
  WholeRun whole_;
  Earnings earnings_;
  std::vector<double> least_costs_;  // by job and interval; negative: not yet asked for
  unsigned placed_ = 0;
  std::vector<PlacedRun> runs_;     // in order of begin
  std::vector<std::size_t> modes_;  // of those
  std::map<State, double> known_;   // the least tardiness with which a state was met
  WindowOptimum best_;
  bool stopped_ = false;
};

mig::Layout Branching::busy(std::uint32_t gpu, double instant) const {
  mig::Layout layout;
  for (const PlacedRun& run : runs_) {
    if (run.gpu == gpu && run.end > instant) layout.add(run.placement);
  }
  return layout;
}

// The first instant from here on when the place is free for good: nobody begins later than this.
double Branching::earliest(std::uint32_t gpu, mig::Placement placement, double from) const {
  std::vector<double> instants{from};
  for (const PlacedRun& run : runs_) {
    if (run.gpu == gpu && run.end > from) instants.push_back(run.end);
  }
  std::ranges::sort(instants);
  for (const double instant : instants) {
    if (mig::fits(model_, busy(gpu, instant), placement)) return instant;
  }
  CHECK(false);  // an empty GPU takes any one instance
  return 0;
}

// GPUs on which the same runs go on are alike; one of them is enough.
bool Branching::same_as_earlier(std::uint32_t gpu, double now) const {
  const auto going_on = [&](std::uint32_t which) {
    std::vector<std::pair<mig::Placement, double>> found;
    for (const PlacedRun& run : runs_) {
      if (run.gpu == which && run.end > now) found.emplace_back(run.placement, run.end);
    }
    std::ranges::sort(found);
    return found;
  };
  const auto ours = going_on(gpu);
  for (std::uint32_t other = 0; other < gpu; ++other) {
    if (going_on(other) == ours) return true;
  }
  return false;
}

double Branching::rent(std::size_t mode, double begin, double end) const {
  double sum = 0;
  for (std::size_t i = prices_.find(begin); begin < end; ++i) {
    const double until = std::min(prices_.end(i), end);
    sum += prices_.at(i)[mode] * (until - begin) * kSecondsPerMicro;
    begin = until;
  }
  return sum;
}

// The least that the job pays when it begins in the interval of this instant or later.
double Branching::least_cost(std::size_t job, double now) {
  BoundJob later = problem_.jobs[job];
  const std::size_t interval = prices_.find(std::max(now, later.release));
  double& cost = least_costs_[job * prices_.intervals() + interval];
  if (cost < 0) {
    later.release = std::max(later.release, prices_.begin(interval));
    cost = whole_.cost(later);
  }
  return cost;
}

// All begins to come are at `now` or later, so rents of the time before it are known, and cancel:
// what counts is what is paid and earned from now on.
double Branching::bound_of(double now, double tardiness) {
  double bound = tardiness - earnings_.from(now);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i].end > now) bound += rent(modes_[i], std::max(now, runs_[i].begin), runs_[i].end);
  }
  double alone = tardiness;  // if every job had the fleet for itself
  for (std::size_t job = 0; job < problem_.jobs.size(); ++job) {
    if (placed(job)) continue;
    const BoundJob& later = problem_.jobs[job];
    bound += least_cost(job, now);
    const double end = std::max(later.release, now) + later.fastest();
    alone += std::max(0.0, end - later.due) * kSecondsPerMicro;
  }
  return std::max(bound, alone);
}

// The job is as fast on an instance with fewer memory slices, which can be wherever this one can.
bool Branching::dominated(const BoundJob& job, std::size_t mode) const {
  const auto& starts = model_.profiles[profiles_[mode]].starts;
  for (std::size_t other = 0; other < problem_.modes.size(); ++other) {
    if (job.time[other] <= 0 || problem_.modes[other].compute != problem_.modes[mode].compute ||
        problem_.modes[other].memory >= problem_.modes[mode].memory) {
      continue;
    }
    if (std::ranges::includes(model_.profiles[profiles_[other]].starts, starts)) return true;
  }
  return false;
}

void Branching::add_choices(std::size_t job, double now, double tardiness,
                            std::vector<Choice>& choices) {
  const BoundJob& asked = problem_.jobs[job];
  const double from = std::max(now, asked.release);
  for (std::size_t mode = 0; mode < problem_.modes.size(); ++mode) {
    if (asked.time[mode] <= 0 || dominated(asked, mode)) continue;
    for (std::uint32_t gpu = 0; gpu < problem_.gpus; ++gpu) {
      if (same_as_earlier(gpu, now)) continue;
      for (const std::uint8_t start : model_.profiles[profiles_[mode]].starts) {
        const mig::Placement placement{profiles_[mode], start};
        const double begin = earliest(gpu, placement, from);
        // Of jobs that begin together any order will do: that of their numbers.
        if (!runs_.empty() && begin == runs_.back().begin && job < runs_.back().job) continue;
        const double end = begin + asked.time[mode];
        const double late = std::max(0.0, end - asked.due) * kSecondsPerMicro;
        choices.push_back({{job, gpu, placement, begin, end}, mode, tardiness + late, 0});
      }
    }
  }
}

bool Branching::met_before(double now, double tardiness) {
  State state{static_cast<double>(placed_), now};
  std::vector<std::array<double, 4>> going_on;
  for (const PlacedRun& run : runs_) {
    if (run.end <= now) continue;
    going_on.push_back({static_cast<double>(run.gpu), static_cast<double>(run.placement.profile),
                        static_cast<double>(run.placement.start), run.end});
  }
  std::ranges::sort(going_on);
  for (const auto& run : going_on) state.insert(state.end(), run.begin(), run.end());
  // The number of the last job decides which may follow at the same instant.
  if (!runs_.empty()) state.push_back(static_cast<double>(runs_.back().job));
  const auto [known, fresh] = known_.try_emplace(std::move(state), tardiness);
  if (fresh) return false;
  if (known->second <= tardiness) return true;
  known->second = tardiness;
  return false;
}

void Branching::extend(double now, double tardiness) {
  ++best_.nodes;
  if (best_.nodes > effort_.nodes_max ||
      (best_.nodes % kClockEvery == 0 && effort_.seconds_left() <= 0)) {
    stopped_ = true;
  }
  if (stopped_) return;
  if (runs_.size() == problem_.jobs.size()) {
    if (tardiness >= best_.total_s) return;
    best_.total_s = tardiness;
    best_.runs = runs_;
    return;
  }
  if (met_before(now, tardiness)) return;
  std::vector<Choice> choices;
  for (std::size_t job = 0; job < problem_.jobs.size(); ++job) {
    if (!placed(job)) add_choices(job, now, tardiness, choices);
  }
  for (Choice& choice : choices) {
    placed_ |= 1U << choice.run.job;
    runs_.push_back(choice.run);
    modes_.push_back(choice.mode);
    choice.bound = bound_of(choice.run.begin, choice.tardiness);
    runs_.pop_back();
    modes_.pop_back();
    placed_ &= ~(1U << choice.run.job);
  }
  std::ranges::stable_sort(choices, {}, &Choice::bound);
  for (const Choice& choice : choices) {
    if (choice.bound >= best_.total_s - kRounding || stopped_) return;
    placed_ |= 1U << choice.run.job;
    runs_.push_back(choice.run);
    modes_.push_back(choice.mode);
    extend(choice.run.begin, choice.tardiness);
    runs_.pop_back();
    modes_.pop_back();
    placed_ &= ~(1U << choice.run.job);
  }
}

WindowOptimum Branching::run() {
  best_.total_s = std::numeric_limits<double>::infinity();
  extend(0, 0);
  best_.proven = !stopped_;
  return std::move(best_);
}

}  // namespace

Result<WindowOptimum> window_optimum(const Problem& problem, const mig::GpuModel& model,
                                     const PriceGrid& prices, const WindowEffort& effort) {
  if (problem.jobs.size() > kWindowJobsMax) {
    return Error{fmt::format("the optimum of a window takes up to {} jobs, there are {}",
                             kWindowJobsMax, problem.jobs.size())};
  }
  return Branching(problem, model, prices, effort).run();
}

}  // namespace partita::bounds
