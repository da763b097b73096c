#include "oracle/naive_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/check.h"

namespace partita::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMicrosPerMinute = 60e6;

const std::map<std::string, std::pair<std::string, std::string>>& names() {
  static const std::map<std::string, std::pair<std::string, std::string>> kNames = {
      {"edf-ss", {"edf", "slowest"}},        {"edf-fs", {"edf", "fastest"}},
      {"llf", {"llf", "slowest"}},           {"lalf", {"lalf", "slowest"}},
      {"mp-edf", {"edf", "most-packed"}},    {"met", {"edf", "marginal-et"}},
      {"cedf", {"category", "wide-first"}},  {"random", {"edf", "random"}},
      {"largest-first", {"edf", "largest"}}, {"smallest-first", {"edf", "smallest"}},
      {"eft", {"edf", "earliest"}},          {"first-fit", {"edf", "first"}},
      {"fifo", {"fifo", "first"}},           {"sjf", {"sjf", "slowest"}},
      {"mdd", {"mdd", "slowest"}},           {"mdd-fastest", {"mdd-fastest", "slowest"}},
      {"atc", {"atc", "slowest"}},
  };
  return kNames;
}

int category_of(const workload::Job& job) {
  const double best = fastest_time(job);
  if (best < 0.8 * whole_time(job, 4)) return 1;
  if (best < 0.8 * whole_time(job, 2)) return 2;
  if (best < 0.8 * whole_time(job, 1)) return 3;
  return 4;
}

// Over the sizes the job may use, whether or not their memory is enough.
double mean_remaining_over_sizes(const workload::Job& job, double work) {
  double sum = 0;
  int sizes = 0;
  for (const Micros time : job.time) {
    if (time == workload::kNoTime) continue;
    sum += static_cast<double>(time.count);
    ++sizes;
  }
  return work * sum / sizes;
}

// The deadline, or the completion on the fastest of the slices the job could get, the later.
std::int64_t modified_due_date(const Setup& setup, const Waiting& job, const Round& round) {
  double best = kInfinity;
  for (const Free& slice : round.offered) {
    const mig::ProfileIndex profile = slice.placement.profile;
    if (!can_run(*setup.model, job, profile)) continue;
    const int size = setup.model->profiles[profile].compute_slices;
    best = std::min(best, whole_time(*job.facts, size));
  }
  if (best == kInfinity) return std::numeric_limits<std::int64_t>::max();
  const Micros begin = round.now + job.restart;
  return std::max<std::int64_t>(job.deadline.count, begin.count + std::llround(job.work * best));
}

double slack_of(const Waiting& job, Micros now) {
  return static_cast<double>((job.deadline - now - job.restart).count);
}

// One slice as the placements see it for one job.
struct Option {
  std::size_t index = 0;
  const Free* free = nullptr;
  int size = 0;
  double memory = 0;
  double time = 0;  // whole job
  bool on_time = false;
  double cost = 0;  // marginal ET
};

double marginal_et(const Setup& setup, const Waiting& job, Micros now, const Free& free, int size,
                   double time) {
  const double run = job.work * time;
  const double late = std::max(0.0, run - slack_of(job, now)) / kMicrosPerMinute;
  const auto busy = static_cast<std::size_t>(free.gpu_busy);
  const double extra_watts = setup.watts[busy + static_cast<std::size_t>(size)] - setup.watts[busy];
  const double extra_energy =
      extra_watts * (run + static_cast<double>(job.restart.count)) / kMicrosPerMinute;
  return (setup.et_a * extra_energy + late) / (setup.et_a + 1);
}

// The profile a job asks for under the placement `requested`: of those on which it was on time
// when it came the smallest, else the fastest.
mig::ProfileIndex asked_for(const mig::GpuModel& model, const Waiting& job) {
  std::optional<mig::ProfileIndex> best;
  std::vector<double> best_rank;
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    const auto profile = static_cast<mig::ProfileIndex>(i);
    if (!can_run(model, job, profile)) continue;
    const mig::Profile& facts = model.profiles[i];
    const double time = whole_time(*job.facts, facts.compute_slices);
    const bool in_time = time <= static_cast<double>((job.deadline - job.facts->arrival).count);
    std::vector<double> rank{in_time ? 0.0 : 1.0, in_time ? 0 : time,
                             static_cast<double>(facts.compute_slices),
                             static_cast<double>(facts.memory_slices), static_cast<double>(i)};
    if (best && rank >= best_rank) continue;
    best = profile;
    best_rank = std::move(rank);
  }
  return *best;
}

// Of the profiles at least half as fast as the fastest, the first in the catalogue's order of size.
bool is_half_speed(const mig::GpuModel& model, const Waiting& job, mig::ProfileIndex profile) {
  std::vector<double> times;
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    const bool able = can_run(model, job, static_cast<mig::ProfileIndex>(i));
    times.push_back(able ? whole_time(*job.facts, model.profiles[i].compute_slices)
                         : std::numeric_limits<double>::infinity());
  }
  const double least = *std::ranges::min_element(times);
  const auto first = std::ranges::find_if(times, [&](double time) { return time <= 2 * least; });
  return first - times.begin() == static_cast<std::ptrdiff_t>(profile);
}

// Of the profiles that hold the job, those that take the fewest memory slices.
bool is_tightest(const mig::GpuModel& model, const Waiting& job, mig::ProfileIndex profile) {
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    const bool tighter = model.profiles[i].memory_slices < model.profiles[profile].memory_slices;
    if (tighter && can_run(model, job, static_cast<mig::ProfileIndex>(i))) return false;
  }
  return true;
}

std::vector<Option> options_for(const Setup& setup, const Waiting& job, Micros now,
                                const std::vector<Free>& free) {
  std::vector<Option> options;
  for (std::size_t i = 0; i < free.size(); ++i) {
    const mig::ProfileIndex profile = free[i].placement.profile;
    if (!can_run(*setup.model, job, profile)) continue;
    if (setup.placement == "tightest" && !is_tightest(*setup.model, job, profile)) continue;
    if (setup.placement == "requested" && profile != asked_for(*setup.model, job)) continue;
    if (setup.placement == "half-speed" && !is_half_speed(*setup.model, job, profile)) continue;
    const mig::Profile& facts = setup.model->profiles[profile];
    const double time = whole_time(*job.facts, facts.compute_slices);
    options.push_back({.index = i,
                       .free = &free[i],
                       .size = facts.compute_slices,
                       .memory = facts.memory_gib,
                       .time = time,
                       .on_time = on_time(*setup.model, job, now, profile),
                       .cost = marginal_et(setup, job, now, free[i], facts.compute_slices, time)});
  }
  return options;
}

// What is compared, most important first; smaller is better.
using Rank = std::vector<double>;

Rank place_rank(const Option& option) {
  return {static_cast<double>(option.free->gpu), static_cast<double>(option.free->placement.start)};
}

Rank joined(Rank first, const Rank& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// The fixed list of each placement that goes down one.
Rank list_rank(const std::string& placement, const Option& option) {
  const auto size = static_cast<double>(option.size);
  const auto gpu = static_cast<double>(option.free->gpu);
  if (placement == "slowest" || placement == "earliest" || placement == "smallest") {
    return joined({size, option.memory}, place_rank(option));
  }
  if (placement == "fastest" || placement == "largest" || placement == "tightest") {
    return joined({-size, option.memory}, place_rank(option));
  }
  if (placement == "wide-first") {
    return joined({-option.free->gpu_mean_size, gpu, size, option.memory}, place_rank(option));
  }
  if (placement == "most-packed" || placement == "marginal-et") {
    return joined({gpu, size, option.memory}, place_rank(option));
  }
  return place_rank(option);
}

Rank rank_of(const std::string& placement, const Option& option) {
  const Rank list = list_rank(placement, option);
  const double late = option.on_time ? 0 : 1;
  const double finish = option.on_time ? 0 : option.time;
  const auto busy = static_cast<double>(option.free->gpu_busy);
  if (placement == "slowest" || placement == "wide-first") return joined({late, finish}, list);
  if (placement == "fastest" || placement == "earliest") return joined({option.time}, list);
  if (placement == "marginal-et") return joined({option.cost}, list);
  if (placement == "most-packed") {
    // On time nowhere: the earliest finish, then the busiest GPU, then the smaller size.
    const auto size = static_cast<double>(option.size);
    if (!option.on_time) return joined({late, option.time, -busy, size}, list);
    return joined({late, -busy}, list);
  }
  CHECK(placement == "smallest" || placement == "largest" || placement == "first" ||
        placement == "requested" || placement == "tightest" || placement == "half-speed");
  return list;
}

}  // namespace

void set_scheduler(Setup& setup, const std::string& name) {
  const auto found = names().find(name);
  if (found != names().end()) {
    setup.order = found->second.first;
    setup.placement = found->second.second;
    return;
  }
  const std::size_t plus = name.find('+');
  CHECK(plus != std::string::npos);
  setup.order = name.substr(0, plus);
  setup.placement = name.substr(plus + 1);
}

double whole_time(const workload::Job& job, int compute_slices) {
  const auto index = workload::slice_size_index(compute_slices);
  CHECK(index.has_value());
  const Micros time = job.time[*index];
  return time == workload::kNoTime ? kInfinity : static_cast<double>(time.count);
}

double fastest_time(const workload::Job& job) {
  double best = kInfinity;
  for (const int size : workload::kSliceSizes) best = std::min(best, whole_time(job, size));
  return best;
}

bool can_run(const mig::GpuModel& model, const workload::Job& job, mig::ProfileIndex profile) {
  const mig::Profile& facts = model.profiles[profile];
  return std::isfinite(whole_time(job, facts.compute_slices)) &&
         static_cast<double>(job.memory_gib) <= facts.memory_gib;
}

bool can_run(const mig::GpuModel& model, const Waiting& job, mig::ProfileIndex profile) {
  const mig::Profile& facts = model.profiles[profile];
  return std::isfinite(whole_time(*job.facts, facts.compute_slices)) &&
         job.need_gib <= facts.memory_gib;
}

bool on_time(const mig::GpuModel& model, const Waiting& job, Micros now,
             mig::ProfileIndex profile) {
  const int size = model.profiles[profile].compute_slices;
  // On a slice of its present size it completes when it would have: nothing is rounded again.
  if (job.finish && size == job.size) return *job.finish <= job.deadline;
  return job.work * whole_time(*job.facts, size) <= slack_of(job, now);
}

double mean_remaining(const std::vector<Waiting>& jobs) {
  double sum = 0;
  for (const Waiting& job : jobs) sum += job.work * fastest_time(*job.facts);
  return jobs.empty() ? 1 : sum / static_cast<double>(jobs.size());
}

std::int64_t key_of(const Setup& setup, const Waiting& job, const Round& round) {
  const std::string& order = setup.order;
  const Micros now = round.now;
  const double remaining = job.work * fastest_time(*job.facts);
  const std::int64_t deadline = job.deadline.count;
  if (order == "edf") return deadline;
  if (order == "fifo") return job.facts->arrival.count;
  if (order == "sjf") return std::llround(fastest_time(*job.facts));
  if (order == "llf") return deadline - std::llround(remaining);
  if (order == "lalf") {
    return deadline - std::llround(mean_remaining_over_sizes(*job.facts, job.work));
  }
  if (order == "mdd") return modified_due_date(setup, job, round);
  if (order == "mdd-fastest") {
    return std::max<std::int64_t>(deadline, now.count + std::llround(remaining));
  }
  if (order == "category") {
    return category_of(*job.facts) * (std::int64_t{1} << 56) + deadline;
  }
  CHECK(order == "atc");
  // exp(-slack / (2 mean)) / p, largest first: its logarithm in billionths, smallest negated first.
  const double needed = std::max(1.0, remaining);
  const double slack = std::max(0.0, slack_of(job, now) - needed);
  const double log_index = -slack / (2.0 * std::max(1.0, round.mean)) - std::log(needed);
  return std::llround(-std::max(log_index, -9e9) * 1e9);
}

std::optional<std::size_t> pick(const Setup& setup, const Waiting& job, Micros now,
                                const std::vector<Free>& free, Rng& rng) {
  const std::vector<Option> options = options_for(setup, job, now, free);
  if (options.empty()) return {};
  // Free slices are listed GPU by GPU and slot by slot.
  if (setup.placement == "random") return options[rng.below(options.size())].index;
  std::size_t best = 0;
  Rank best_rank = rank_of(setup.placement, options.front());
  for (std::size_t i = 1; i < options.size(); ++i) {
    const Rank rank = rank_of(setup.placement, options[i]);
    if (rank >= best_rank) continue;
    best = i;
    best_rank = rank;
  }
  return options[best].index;
}

}  // namespace partita::oracle
