#include "bounds/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "bounds/exact/tardiness_mip.h"
#include "bounds/prices/ascent.h"
#include "bounds/prices/price_check.h"
#include "bounds/rounding.h"
#include "bounds/simple_bounds.h"

namespace partita::bounds {
namespace {

constexpr std::array<std::string_view, 3> kKindNames{"energy", "tardiness", "et"};
constexpr double kSecondsPerMinute = 60;
// Share of the time limit after which the prices of tardiness must be found.
constexpr double kTardinessUntil = 0.45;
// Of the time for prices of one kind, where those of whole runs are looked for as well.
constexpr double kSplitShare = 0.5;
// Whole runs are quickly priced, and their best prices slowly found.
constexpr int kWholeRoundsByMode = 200;
// The check comes after the search, and is a few evaluations long.
constexpr double kSearchShare = 0.9;
// Of the time left, for the tree that can be checked; the rest is for the solver's word.
constexpr double kTreeShare = 0.5;
constexpr double kMipSlower = 6;  // times as long for twice the slots, about
constexpr int kRounds = 60;
// With so many jobs or fewer the search is given longer, up to so many times: with few jobs every
// hundredth of a percent can be had in a second.
constexpr std::size_t kFewJobs = 1000;
constexpr std::size_t kLongerMax = 7;

class Finder {
 public:
  Finder(const Problem& problem, const Request& request)
      : problem_(problem), request_(request), begin_(request.clock()) {}

  BoundReport run();

 private:
  bool asked(Kind kind) const { return std::ranges::count(request_.kinds, kind) > 0; }
  double elapsed() const { return request_.clock() - begin_; }
  int rounds() const {
    if (request_.rounds > 0) return request_.rounds;
    const std::size_t longer = kFewJobs / problem_.jobs.size();
    return kRounds * static_cast<int>(std::clamp<std::size_t>(longer, 1, kLongerMax));
  }
  int rounds_by_mode() const {
    const int usual = 2 * (request_.rounds > 0 ? request_.rounds : kRounds);
    return std::max(usual, rounds());
  }
  double mean(double total) const {
    return over_below(total, static_cast<double>(problem_.jobs.size()));
  }
  template <typename Find>
  void add(Kind kind, std::string_view name, Find find);
  void add_smart_mig();
  void add_prices(Kind kind, double until);
  void add_searched(Kind kind, double from, double until);
  void add_non_preemptive(Kind kind, double until);
  MipBound best_mip();
  void add_mip();
  void add_sum();

  const Problem& problem_;
  const Request& request_;
  double begin_;
  BoundReport report_;
};

template <typename Find>
void Finder::add(Kind kind, std::string_view name, Find find) {
  Bound bound{.kind = kind, .name = std::string(name), .prices = {}, .tree = {}, .word = {}};
  const double start = elapsed();
  find(bound);
  bound.seconds = elapsed() - start;
  report_.bounds.push_back(std::move(bound));
}

void Finder::add_smart_mig() {
  add(Kind::kEnergy, "smart-mig", [&](Bound& bound) {
    const Result<double> value = smart_mig_energy_j(problem_);
    if (value) bound.value = *value;
    if (!value) bound.status = "skipped: " + value.error().message;
  });
}

void Finder::add_prices(Kind kind, double until) {
  add(kind, "prices", [&](Bound& bound) {
    const Weights weights = weights_of(kind, problem_, request_.et_a);
    if (kind == Kind::kEnergy) {
      bound.prices = steady_prices(problem_, weights);
    } else {
      Effort effort{.rounds = rounds(), .rounds_by_mode = rounds_by_mode()};
      effort.seconds_left = [this, until] {
        return until * kSearchShare * request_.seconds_max - elapsed();
      };
      Found found = search_prices(problem_, weights, effort);
      if (found.out_of_time) bound.status = "time limit";
      bound.prices = std::move(found.grid);
    }
    const Result<double> value = check_bound(problem_, request_.et_a, bound);
    CHECK(value.ok());
    bound.value = *value;
  });
}

void Finder::add_non_preemptive(Kind kind, double until) {
  const PriceGrid start = *report_.bounds.back().prices;
  add(kind, kNonPreemptive, [&](Bound& bound) {
    Effort effort{.rounds = rounds(),
                  .rounds_by_mode = std::max(kWholeRoundsByMode, rounds_by_mode()),
                  .runs = Runs::kWhole,
                  .start = &start};
    effort.seconds_left = [this, until] {
      return until * kSearchShare * request_.seconds_max - elapsed();
    };
    Found found = search_prices(problem_, weights_of(kind, problem_, request_.et_a), effort);
    if (found.out_of_time) bound.status = "time limit";
    bound.prices = std::move(found.grid);
    const Result<double> value = check_bound(problem_, request_.et_a, bound);
    if (value) bound.value = *value;
    if (!value) bound.status = "skipped: " + value.error().message;
  });
}

// Prices over time, between these shares of the time limit.
void Finder::add_searched(Kind kind, double from, double until) {
  const bool whole = request_.runs == Runs::kWhole;
  add_prices(kind, whole ? from + kSplitShare * (until - from) : until);
  if (whole) add_non_preemptive(kind, until);
}

// With finer and finer slots, as long as the next can be hoped to be solved in the time left.
MipBound Finder::best_mip() {
  MipBound best;
  for (std::size_t finer = 1; finer <= kMipFinerMax; finer *= 2) {
    const double begin = elapsed();
    const MipBound mip = mip_tardiness(problem_, request_.seconds_max - begin, finer);
    const double took = elapsed() - begin;
    if (finer == 1 || mip.total_s > best.total_s) best = mip;
    const bool hope = took > 0 && kMipSlower * took < request_.seconds_max - elapsed();
    if (mip.status != MipStatus::kOptimal || !hope) break;
  }
  return best;
}

void Finder::add_mip() {
  add(Kind::kTardiness, "mip", [&](Bound& bound) {
    if (!request_.use_mip) {
      bound.status = "skipped: not asked for";
      return;
    }
    if (problem_.jobs.size() > kMipJobsMax) {
      bound.status = fmt::format("skipped: more than {} jobs", kMipJobsMax);
      return;
    }
    TreeEffort effort;
    const double until = (1 - kTreeShare) * (request_.seconds_max - elapsed());
    effort.seconds_left = [this, until] { return request_.seconds_max - until - elapsed(); };
    TreeBound ours = tree_tardiness(problem_, effort);
    const MipBound theirs = best_mip();
    const SlotTree& tree = ours.found.tree;
    const std::size_t leaves = tree.leaves();
    const std::string cases = fmt::format("{} {}", leaves, leaves == 1 ? "case" : "cases");
    bound.value = mean(ours.total_s);
    bound.word = {"cbc", theirs.total_s / static_cast<double>(problem_.jobs.size()),
                  fmt::format("{}, slots of {:.3g} s", name_of(theirs.status), theirs.slot_s)};
    bound.status = fmt::format("{}, slots of {:.3g} s, {}; Cbc's word: {:.1f} s, {}",
                               name_of(ours.found.end), static_cast<double>(tree.slot_us) * 1e-6,
                               cases, bound.word->value, bound.word->status);
    bound.tree = std::move(ours.found.tree);
  });
}

void Finder::add_sum() {
  add(Kind::kEt, "sum", [&](Bound& bound) {
    bound.value = sum_of(request_.et_a, report_.best(Kind::kEnergy)->value,
                         report_.best(Kind::kTardiness)->value);
  });
}

BoundReport Finder::run() {
  const bool both = asked(Kind::kEnergy) && asked(Kind::kTardiness);
  if (asked(Kind::kEnergy)) {
    add_smart_mig();
    add(Kind::kEnergy, "linear", [&](Bound& b) { b.value = linear_energy_j(problem_); });
    add_prices(Kind::kEnergy, 1);
  }
  if (asked(Kind::kTardiness)) {
    add(Kind::kTardiness, "fastest",
        [&](Bound& b) { b.value = mean(fastest_tardiness_s(problem_)); });
    add(Kind::kTardiness, "matching",
        [&](Bound& b) { b.value = mean(matching_tardiness_s(problem_)); });
    add_searched(Kind::kTardiness, 0, asked(Kind::kEt) ? kTardinessUntil : 1);
  }
  if (asked(Kind::kEt)) add_searched(Kind::kEt, asked(Kind::kTardiness) ? kTardinessUntil : 0, 1);
  // It takes all the time there is, and gives the least for it.
  if (asked(Kind::kTardiness)) add_mip();
  if (asked(Kind::kEt) && both) add_sum();
  // The sum before the joint bound, which knows more.
  std::ranges::stable_sort(report_.bounds, {}, [](const Bound& bound) {
    return std::pair(bound.kind, bound.kind == Kind::kEt && bound.name != "sum");
  });
  return std::move(report_);
}

}  // namespace

std::string_view name_of(Kind kind) {
  return kKindNames.at(static_cast<std::size_t>(kind));
}

std::optional<Kind> kind_named(std::string_view name) {
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    if (kKindNames[i] == name) return static_cast<Kind>(i);
  }
  return {};
}

const Bound* BoundReport::best(Kind kind) const {
  const Bound* best = nullptr;
  for (const Bound& bound : bounds) {
    if (bound.kind != kind || bound.skipped()) continue;
    // Of equal ones the later, which knows more of the problem.
    if (best == nullptr || bound.value >= best->value) best = &bound;
  }
  return best;
}

// ET times 60 n (1 + a) is the sum of tardiness in seconds and a n times the joules.
Weights weights_of(Kind kind, const Problem& problem, double et_a) {
  switch (kind) {
    case Kind::kEnergy:
      return {0, 1};
    case Kind::kTardiness:
      return {1, 0};
    case Kind::kEt:
      break;
  }
  return {1, et_a * static_cast<double>(problem.jobs.size())};
}

double from_value(Kind kind, const Problem& problem, double et_a, double value) {
  const auto jobs = static_cast<double>(problem.jobs.size());
  if (kind == Kind::kTardiness) return over_below(value, jobs);
  const double idle = idle_energy_j(problem);
  if (kind == Kind::kEnergy) return add_below(value, idle);
  const double idle_cost = times_below(below(et_a * jobs), idle);
  return over_below(add_below(value, idle_cost),
                    above(above(kSecondsPerMinute * jobs) * (1 + et_a)));
}

double sum_of(double et_a, double energy_j, double tardiness_s) {
  const double energy = times_below(et_a, over_below(energy_j, kSecondsPerMinute));
  const double tardiness = over_below(tardiness_s, kSecondsPerMinute);
  return over_below(add_below(energy, tardiness), above(et_a + 1));
}

Result<double> check_bound(const Problem& problem, double et_a, const Bound& bound) {
  const double jobs = static_cast<double>(problem.jobs.size());
  if (bound.prices) {
    const Runs runs = bound.name == kNonPreemptive ? Runs::kWhole : Runs::kSplit;
    const Result<double> value =
        proven_value(problem, weights_of(bound.kind, problem, et_a), *bound.prices, runs);
    if (!value) return value.error();
    return std::max(0.0, from_value(bound.kind, problem, et_a, *value));
  }
  if (bound.tree && bound.kind == Kind::kTardiness) {
    const Result<double> total = proven_tardiness_s(problem, *bound.tree);
    if (!total) return total.error();
    return over_below(*total, jobs);
  }
  if (bound.kind == Kind::kEnergy && bound.name == "smart-mig") return smart_mig_energy_j(problem);
  if (bound.kind == Kind::kEnergy && bound.name == "linear") return linear_energy_j(problem);
  if (bound.kind == Kind::kTardiness && bound.name == "fastest") {
    return over_below(fastest_tardiness_s(problem), jobs);
  }
  if (bound.kind == Kind::kTardiness && bound.name == "matching") {
    return over_below(matching_tardiness_s(problem), jobs);
  }
  return Error{fmt::format("{} {} has no certificate", name_of(bound.kind), bound.name)};
}

BoundReport find_bounds(const Problem& problem, const Request& request) {
  return Finder(problem, request).run();
}

}  // namespace partita::bounds
