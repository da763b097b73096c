#include "experiment/tuning/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/parallel.h"
#include "experiment/policy_run.h"
#include "experiment/results/bound_record.h"
#include "experiment/results/make_record.h"
#include "experiment/studies/studies.h"
#include "experiment/tuning/tune.h"
#include "policies/registry.h"

namespace partita::experiment {
namespace {

using Mode = decide::Preemption::Mode;
using Windows = std::vector<workload::Trace>;

constexpr decide::Preemption kNoPreemption{Mode::kNone, {}};
constexpr std::size_t kWindowsMin = 3;  // of each kind
// A policy with more moving parts is preferred only if it is better by this much, and that is
// decided.
constexpr double kWorthwhile = 0.02;
constexpr std::array kWrongBy{0.3, 0.5, 1.0};
constexpr double kP95 = 0.95;

// How much has to work for a policy to do what it promises.
int moving_parts(const AdvisedPolicy& policy) {
  const bool layouts_change =
      policies::repartitioner_traits(policy.repartition).habit != policies::LayoutHabit::kNever;
  return (policy.preemption.mode == Mode::kNone ? 0 : 1) + (layouts_change ? 2 : 0);
}

constexpr const char* kToday = "today: ";  // begins the names of today's in the portfolio

bool is_todays(const AdvisedPolicy& policy) {
  return policy.name.starts_with(kToday);
}

bool makes_on_demand(const AdvisedPolicy& policy) {
  return policies::repartitioner_traits(policy.repartition).habit ==
         policies::LayoutHabit::kOnDemand;
}

// A budget keeps windows of long jobs, which forecasts run to the end of, to seconds.
std::string looking_ahead(const std::string& static_mix) {
  return lookahead_from(static_mix, "flat", "every=20,budget_us=5000");
}

struct OneRun {
  RunRecord record;
  double p95_wait_s = 0;
};

double p95_wait(const workload::Trace& window, const sim::RunResult& result) {
  std::vector<std::int64_t> waits;
  for (const sim::JobRecord& job : result.job_records) {
    waits.push_back((job.first_start - window.jobs[job.id.value].arrival).count);
  }
  if (waits.empty()) return 0;
  const auto rank =
      static_cast<std::ptrdiff_t>(std::ceil(kP95 * static_cast<double>(waits.size())) - 1);
  std::nth_element(waits.begin(), waits.begin() + rank, waits.end());
  return Micros{waits[static_cast<std::size_t>(rank)]}.to_seconds();
}

Result<OneRun> run_once(const workload::Trace& window, const AdvisedPolicy& policy,
                        sim::RunOptions options, std::uint64_t policy_seed, std::uint64_t day,
                        Role role) {
  options.preemption = policy.preemption;
  options.keep_jobs = true;
  const auto run = run_policy(window, options, {policy.scheduler, policy.repartition, policy_seed});
  if (!run) return run.error();
  const RunIdentity identity{"advise",           "windows kept back", policy.name, policy.scheduler,
                             policy.repartition, day_seed(role, day), role};
  return OneRun{make_record(identity, options, run->result), p95_wait(window, run->result)};
}

class Adviser {
 public:
  Adviser(const DaySource& days, const AdviseOptions& options) : days_(days), options_(options) {
    options_.run.horizon = days.window;
  }

  Result<Advice> run();

 private:
  Result<Windows> make_windows(Role role, std::uint64_t available) const;
  void search_mixes();
  std::vector<AdvisedPolicy> portfolio() const;
  std::vector<AdvisedPolicy> on_demand_portfolio() const;
  std::vector<AdvisedPolicy> todays() const;
  std::vector<TriedPolicy> run_all(const std::vector<AdvisedPolicy>& policies, Role role,
                                   double error = 0);
  Status choose_and_judge(Advice& advice);
  TriedPolicy* choose(std::vector<TriedPolicy>& tried) const;
  void judge(Advice& advice);
  void find_drivers(Advice& advice);
  void try_wrong_estimates(Advice& advice);
  Status find_bounds(Advice& advice);
  // What follows is this part of all work.
  void stage(double from, double to) {
    stage_from_ = from;
    stage_to_ = to;
    at(0);
  }
  void at(double part) const {
    if (options_.progress) options_.progress(stage_from_ + part * (stage_to_ - stage_from_));
  }

  const DaySource& days_;
  AdviseOptions options_;
  Windows tune_;
  Windows test_;
  std::string uniform_;     // the best layout for all GPUs, without preemption
  std::string tuned_;       // the best mix without preemption
  std::string tuned_pays_;  // with it; empty where jobs are not interrupted
  std::string no_static_;   // why no mix can run every job; then these three are empty
  double stage_from_ = 0;
  double stage_to_ = 0;
};

// Evenly taken where there are more than are looked at.
Result<Windows> Adviser::make_windows(Role role, std::uint64_t available) const {
  const std::uint64_t count = std::min(available, options_.windows_max);
  Windows windows;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto window = days_.make(day_seed(role, i * available / count));
    if (!window) return window.error();
    windows.push_back(*std::move(window));
  }
  if (windows.size() >= kWindowsMin) return windows;
  return Error{
      fmt::format("the jobs make {} windows to tune on and {} to judge on, and {} of each are "
                  "needed; a shorter --window makes more",
                  days_.tune_days_max, days_.test_days_max, kWindowsMin)};
}

void Adviser::search_mixes() {
  const auto search = [&](decide::Preemption preemption) {
    TuneSetting setting{options_.run, "mdd", options_.seed};
    setting.run.preemption = preemption;
    TuneOptions tune;
    tune.evaluations = options_.evaluations;
    tune.folds = 0;
    tune.also_to_fit = test_;
    tune.seed = options_.seed;
    tune.threads = options_.threads;
    tune.progress = [this](double part) { at(part); };
    return tune_mix(tune_, setting, tune);
  };
  stage(0, options_.checkpoint_cost ? 0.2 : 0.35);
  const auto none = search(kNoPreemption);
  if (!none) {
    no_static_ = none.error().message;
    return;
  }
  tuned_ = to_text(none->plan);
  uniform_ = to_text(none->start);
  if (!options_.checkpoint_cost) return;
  stage(0.2, 0.35);
  const auto pays = search({Mode::kPays, *options_.checkpoint_cost});
  tuned_pays_ = pays ? to_text(pays->plan) : tuned_;
}

// Where no static mix will do: instances made as jobs come, by what they ask for.
std::vector<AdvisedPolicy> Adviser::on_demand_portfolio() const {
  std::vector<AdvisedPolicy> policies;
  const auto add = [&](const std::string& name, const char* scheduler, const std::string& rule) {
    policies.push_back({name, scheduler, rule, kNoPreemption});
    if (!options_.checkpoint_cost) return;
    policies.push_back({name + ", preemption that pays",
                        scheduler,
                        rule,
                        {Mode::kPays, *options_.checkpoint_cost}});
  };
  const std::string rule = "ondemand:least-fragmenting";
  add("mdd/on demand", "mdd+requested", rule);
  add("sjf/on demand", "sjf+requested", rule);
  add("mdd/on demand, half speed", "mdd+half-speed", rule + ",half-speed");
  add("mdd/whole GPUs", "mdd", "none");
  for (const std::string& adaptive : options_.repartitioners) {
    add("mdd/" + adaptive, "mdd", adaptive);
  }
  return policies;
}

// The rules that win somewhere (docs/concepts/evidence.md) on the layouts that were found.
std::vector<AdvisedPolicy> Adviser::portfolio() const {
  if (!no_static_.empty()) return on_demand_portfolio();
  std::vector<AdvisedPolicy> policies;
  const auto add = [&](std::string name, const char* scheduler, const std::string& repartition,
                       decide::Preemption preemption) {
    AdvisedPolicy policy{std::move(name), scheduler, repartition, preemption};
    if (std::ranges::find(policies, policy) == policies.end()) policies.push_back(policy);
  };
  for (const char* scheduler : {"mdd", "mdd-fastest", "atc", "sjf", "cedf"}) {
    add(fmt::format("{}/tuned mix", scheduler), scheduler, tuned_, kNoPreemption);
  }
  add("mdd/one layout for all", "mdd", uniform_, kNoPreemption);
  add("mdd/whole GPUs", "mdd", "none", kNoPreemption);
  if (options_.look_ahead) {
    add("mdd/looking ahead", "mdd", looking_ahead(tuned_), kNoPreemption);
  }
  for (const std::string& adaptive : options_.repartitioners) {
    add("mdd/" + adaptive, "mdd", adaptive, kNoPreemption);
  }
  if (!options_.checkpoint_cost) return policies;
  const decide::Preemption pays{Mode::kPays, *options_.checkpoint_cost};
  for (const char* scheduler : {"mdd", "atc", "sjf"}) {
    add(fmt::format("{}/tuned mix, preemption that pays", scheduler), scheduler, tuned_pays_, pays);
  }
  add("mdd/mix tuned without, preemption that pays", "mdd", tuned_, pays);
  add("mdd/whole GPUs, preemption that pays", "mdd", "none", pays);
  if (options_.look_ahead) {
    add("mdd/looking ahead, preemption that pays", "mdd", looking_ahead(tuned_pays_), pays);
  }
  for (const std::string& adaptive : options_.repartitioners) {
    add("mdd/" + adaptive + ", preemption that pays", "mdd", adaptive, pays);
  }
  return policies;
}

// First come first served, as a queue of Slurm or Kubernetes without tuning.
std::vector<AdvisedPolicy> Adviser::todays() const {
  if (!options_.today.empty()) return options_.today;
  std::vector<AdvisedPolicy> usual{
      {"whole GPUs", "fifo", "none", kNoPreemption},
      {"on demand", "fifo+requested", "ondemand:least-fragmenting", kNoPreemption}};
  if (no_static_.empty()) {
    usual.insert(usual.begin(), {"static by hand", "fifo", uniform_, kNoPreemption});
  }
  return usual;
}

std::vector<TriedPolicy> Adviser::run_all(const std::vector<AdvisedPolicy>& policies, Role role,
                                          double error) {
  const Windows& windows = role == Role::kTune ? tune_ : test_;
  sim::RunOptions run = options_.run;
  run.estimate_error = error;
  run.estimate_seed = options_.seed;
  std::vector<Result<OneRun>> results(policies.size() * windows.size(), Error{""});
  std::atomic<std::size_t> done = 0;
  for_each_index(results.size(), options_.threads, [&](std::size_t i, std::size_t) {
    results[i] = run_once(windows[i % windows.size()], policies[i / windows.size()], run,
                          options_.seed, i % windows.size(), role);
    at(static_cast<double>(++done) / static_cast<double>(results.size()));
  });
  std::vector<TriedPolicy> tried;
  for (std::size_t p = 0; p < policies.size(); ++p) {
    TriedPolicy each;
    each.policy = policies[p];
    for (std::size_t w = 0; w < windows.size(); ++w) {
      const Result<OneRun>& result = results[p * windows.size() + w];
      if (!result) {
        each.cannot_run = result.error().message;
        each.runs.clear();
        each.p95_wait_s.clear();
        break;
      }
      each.runs.push_back(result->record);
      each.p95_wait_s.push_back(result->p95_wait_s);
    }
    tried.push_back(std::move(each));
  }
  return tried;
}

// The best with the fewest moving parts, and from there on only to what is worth it; nothing when
// none can run every job. REQUIRES: best first.
TriedPolicy* Adviser::choose(std::vector<TriedPolicy>& tried) const {
  TriedPolicy* chosen = nullptr;
  for (int parts = 0; parts <= 3; ++parts) {
    const auto best = std::ranges::find_if(tried, [&](const TriedPolicy& each) {
      return each.ran() && (is_todays(each.policy) ? 0 : moving_parts(each.policy)) == parts;
    });
    if (best == tried.end()) continue;
    if (chosen == nullptr) {
      chosen = &*best;
      continue;
    }
    const auto change =
        relative_difference(best->values(&RunRecord::et), chosen->values(&RunRecord::et));
    const bool decided = change && change->interval && change->interval->high < 0;
    if (change && change->share < -kWorthwhile && decided) {
      chosen->remark = fmt::format("the best with fewer moving parts; {} is {:.1f} % lower",
                                   best->policy.name, -100 * change->share);
      chosen = &*best;
    } else if (change && change->share < -kWorthwhile && change->interval) {
      best->remark =
          fmt::format("{:+.1f} % ({:+.1f} to {:+.1f}) against {}: not decided by {} windows",
                      100 * change->share, 100 * change->interval->low,
                      100 * change->interval->high, chosen->policy.name, tune_.size());
    } else if (change) {
      best->remark = fmt::format("{:+.1f} % against {}: not worth more moving parts",
                                 100 * change->share, chosen->policy.name);
    }
  }
  if (chosen != nullptr) chosen->remark = "chosen";
  return chosen;
}

// What cannot run the windows kept back is left out as what cannot run the others is.
Status Adviser::choose_and_judge(Advice& advice) {
  std::vector<AdvisedPolicy> policies = portfolio();
  // What runs already competes too, and needs nothing new.
  for (AdvisedPolicy policy : todays()) {
    policy.name = kToday + policy.name;
    policies.push_back(std::move(policy));
  }
  stage(0.35, 0.6);
  advice.portfolio = run_all(policies, Role::kTune);
  while (true) {
    for (TriedPolicy& each : advice.portfolio) each.remark.clear();
    std::ranges::stable_sort(advice.portfolio, {}, [](const TriedPolicy& each) {
      return each.ran() ? each.mean_et() : std::numeric_limits<double>::infinity();
    });
    TriedPolicy* const chosen = choose(advice.portfolio);
    if (chosen == nullptr) {
      return Error{"nothing that was tried can run every job: " +
                   advice.portfolio.front().cannot_run};
    }
    advice.advised = chosen->policy;
    judge(advice);
    if (advice.judged.ran()) break;
    chosen->cannot_run = advice.judged.cannot_run;
    chosen->runs.clear();
    chosen->p95_wait_s.clear();
  }
  advice.static_is_enough = moving_parts(advice.advised) < 2;
  advice.keep_today = is_todays(advice.advised);
  return {};
}

void Adviser::judge(Advice& advice) {
  std::vector<AdvisedPolicy> policies = todays();
  policies.push_back(advice.advised);
  stage(0.6, 0.7);
  std::vector<TriedPolicy> tried = run_all(policies, Role::kTest);
  advice.judged = std::move(tried.back());
  tried.pop_back();
  advice.today = std::move(tried);
  if (!advice.judged.ran()) return;
  // Batches of jobs have no length of their own.
  const double length = options_.run.horizon.to_seconds();
  advice.overrun = length > 0 ? mean(advice.judged.values(&RunRecord::makespan_s)) / length : 0;
  double best = std::numeric_limits<double>::infinity();
  advice.compared_with.reset();
  for (std::size_t i = 0; i < advice.today.size(); ++i) {
    if (!advice.today[i].ran() || advice.today[i].mean_et() >= best) continue;
    best = advice.today[i].mean_et();
    advice.compared_with = i;
  }
}

// Each part is today's or the advised one: eight policies, of which two are known.
void Adviser::find_drivers(Advice& advice) {
  const TriedPolicy* from = nullptr;
  for (const TriedPolicy& each : advice.today) {
    if (!each.ran() || makes_on_demand(each.policy)) continue;
    if (from == nullptr || each.mean_et() < from->mean_et()) from = &each;
  }
  if (from == nullptr || from->policy == advice.advised || makes_on_demand(advice.advised)) return;
  const AdvisedPolicy& today = from->policy;
  const AdvisedPolicy& advised = advice.advised;
  std::vector<AdvisedPolicy> mixed;
  for (unsigned parts = 0; parts < 8; ++parts) {
    mixed.push_back({"", (parts & 1U) != 0 ? advised.scheduler : today.scheduler,
                     (parts & 4U) != 0 ? advised.repartition : today.repartition,
                     (parts & 2U) != 0 ? advised.preemption : today.preemption});
  }
  stage(0.7, 0.8);
  const std::vector<TriedPolicy> tried = run_all(mixed, Role::kTest);
  if (!std::ranges::all_of(tried, &TriedPolicy::ran)) return;
  const auto gain = [&](unsigned with, unsigned without) {
    return std::log(tried[with].mean_et()) - std::log(tried[without].mean_et());
  };
  constexpr std::array<const char*, 3> kParts{"order", "preemption", "layout"};
  advice.drivers_from = today.name;
  for (unsigned part = 0; part < kParts.size(); ++part) {
    const unsigned bit = 1U << part;
    const unsigned a = 1U << ((part + 1) % 3);
    const unsigned b = 1U << ((part + 2) % 3);
    const double value =
        (2 * gain(bit, 0) + gain(bit | a, a) + gain(bit | b, b) + 2 * gain(bit | a | b, a | b)) / 6;
    advice.drivers.push_back({kParts[part], std::exp(value) - 1});
  }
}

void Adviser::try_wrong_estimates(Advice& advice) {
  std::vector<AdvisedPolicy> policies{advice.advised};
  if (advice.compared_with) policies.push_back(advice.today[*advice.compared_with].policy);
  double from = 0.8;
  for (const double error : kWrongBy) {
    stage(from, from + 0.1 / static_cast<double>(kWrongBy.size()));
    from = stage_to_;
    const auto tried = run_all(policies, Role::kTest, error);
    if (!std::ranges::all_of(tried, &TriedPolicy::ran)) continue;
    advice.wrong.push_back({error, tried[0].mean_et(), {}});
    if (advice.compared_with) advice.wrong.back().et_today = tried[1].mean_et();
  }
}

Status Adviser::find_bounds(Advice& advice) {
  const std::size_t count = std::min<std::size_t>(test_.size(), options_.bound_windows);
  if (count == 0) return {};
  BoundLimit limit;
  if (options_.clock) limit.clock = options_.clock;
  // So many windows in turn on each thread share the time.
  const std::size_t in_turn =
      (count + options_.threads - 1) / std::max<std::size_t>(1, options_.threads);
  limit.seconds_max = options_.bound_seconds / static_cast<double>(in_turn);
  stage(0.9, 1);
  std::vector<Result<BoundOfDay>> found(count, Error{""});
  std::atomic<std::size_t> done = 0;
  for_each_index(count, options_.threads, [&](std::size_t i, std::size_t) {
    found[i] =
        bound_within(limit, test_[i], options_.run, advice.advised.preemption.mode != Mode::kNone);
    at(static_cast<double>(++done) / static_cast<double>(count));
  });
  double et = 0;
  double bound = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!found[i]) return found[i].error();
    RunRecord& record = found[i]->record;
    record.experiment = "advise";
    record.setting = advice.judged.runs[i].setting;
    record.seed = advice.judged.runs[i].seed;
    et += advice.judged.runs[i].et;
    bound += record.et;
    advice.bounds_cut_short += found[i]->cut_short ? 1 : 0;
    advice.bounds.push_back(std::move(record));
  }
  advice.bound_gap = bound > 0 ? et / bound - 1 : 0;
  return {};
}

Result<Advice> Adviser::run() {
  auto tune = make_windows(Role::kTune, days_.tune_days_max);
  if (!tune) return tune.error();
  auto test = make_windows(Role::kTest, days_.test_days_max);
  if (!test) return test.error();
  tune_ = *std::move(tune);
  test_ = *std::move(test);
  search_mixes();
  Advice advice;
  advice.window = days_.window;
  advice.tune_windows = tune_.size();
  advice.test_windows = test_.size();
  advice.no_static = no_static_;
  if (const Status chosen = choose_and_judge(advice); !chosen) return chosen.error();
  find_drivers(advice);
  try_wrong_estimates(advice);
  if (const Status bounded = find_bounds(advice); !bounded) return bounded.error();
  return advice;
}

}  // namespace

std::vector<double> TriedPolicy::values(double RunRecord::*figure) const {
  std::vector<double> values;
  for (const RunRecord& run : runs) values.push_back(run.*figure);
  return values;
}

double TriedPolicy::mean_et() const {
  return mean(values(&RunRecord::et));
}

Result<DaySource> days_to_advise_on(const workload::Trace& trace, const std::string& name,
                                    double share) {
  constexpr std::array kHours{24.0, 12.0, 6.0, 3.0, 1.0, 0.5, 0.25, 1.0 / 12};
  constexpr std::uint64_t kTuneWindowsWanted = 4;
  Result<DaySource> best = Error{""};
  for (const double hours : kHours) {
    auto days =
        trace_days(trace, name, {.length = micros_from_seconds(hours * 3600), .share = share});
    if (!days) {
      if (best) break;  // shorter ones have fewer jobs still
      best = days.error();
      continue;
    }
    if (!best || days->tune_days_max > best->tune_days_max) best = *std::move(days);
    if (best->tune_days_max >= kTuneWindowsWanted) break;
  }
  return best;
}

Result<Advice> advise(const DaySource& days, const AdviseOptions& options) {
  return Adviser(days, options).run();
}

}  // namespace partita::experiment
