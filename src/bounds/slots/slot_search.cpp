#include "bounds/slots/slot_search.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <queue>

#include "base/check.h"
#include "bounds/slots/slot_pricing.h"
#include "bounds/solver.h"

namespace partita::bounds {
namespace {

constexpr int kProgramsMax = 300;      // solved for one case
constexpr double kClose = 1e-5;        // of the value: as good as equal
constexpr double kTowardsBest = 0.6;   // prices to try lie between the program's and the best ones
constexpr double kReducedCost = 1e-7;  // below its negative a plan is worth a column
constexpr std::size_t kColumnsMax = 8'000;
constexpr std::size_t kColumnsKept = 3'000;
constexpr double kInertia = 0.5;
constexpr double kFirstAmbition = 0.05;  // of the value
constexpr double kProgress = 0.05;       // of the ambition, in one round
constexpr int kPatience = 4;             // rounds without progress
constexpr int kClimbRounds = 1'000;
constexpr double kForbidden = 1'000;  // times the worst solution, for not doing a job
constexpr double kShare = 1e-6;       // of a job, too little to count
constexpr double kPriceDigits = 1e6;  // prices are written so coarsely that they are short

// Some of the solutions: of each job the slots that are left to finish in.
struct Case {
  std::vector<SlotRange> ranges;
  std::vector<double> prices;  // of a slot of one GPU, the best met
  double bound_s = -std::numeric_limits<double>::infinity();
  // Where it is worth dividing.
  bool divisible = false;
  std::size_t job = 0;
  std::size_t slot = 0;
  // Into the cases; 0: none.
  std::size_t by = 0;
  std::size_t after = 0;
};

// The shares of a job that a solution of the linear program finishes by slot.
struct Split {
  std::vector<std::pair<std::size_t, double>> shares;
};

class Search {
 public:
  Search(const SlotProgram& program, const TreeEffort& effort);
  TreeFound run(const std::vector<double>& prices, double prices_slot);

 private:
  std::size_t jobs() const { return program_.tasks.size(); }
  void begin_columns();
  void add_column(const SlotPlan& plan, double cost);
  double reduced_cost(const SlotPlan& plan, const LpAnswer& answer) const;
  std::vector<double> prices_of(const LpAnswer& answer) const;
  std::vector<SlotPlan> try_prices(Case& each, const std::vector<double>& prices, double& value);
  void climb(Case& each);
  void step(std::vector<double>& prices, std::vector<double>& pace,
            const std::vector<SlotPlan>& plans, double rise) const;
  void offer(const std::vector<SlotPlan>& plans);
  bool add_worthy(const std::vector<SlotPlan>& plans, const LpAnswer& answer);
  void solve(Case& each);
  bool improve(Case& each, const LpAnswer& answer);
  void split(Case& each, const LpAnswer& answer);
  void choose_division(Case& each, const std::vector<Split>& splits) const;
  void try_order(const std::vector<double>& targets);
  void purge(const LpAnswer& answer);
  void divide(std::size_t index);
  bool close(double bound_s) const {
    return std::isfinite(best_s_) && best_s_ - bound_s <= kClose * std::max(1.0, best_s_);
  }
  SlotTree tree() const;

  const SlotProgram& program_;
  const TreeEffort& effort_;
  SlotPricing pricing_;
  std::unique_ptr<ColumnProgram> master_;
  std::vector<SlotPlan> plans_;  // one a column
  std::vector<double> costs_;
  std::size_t lasting_ = 0;  // columns that are never dropped
  std::vector<Case> cases_;
  double best_s_ = std::numeric_limits<double>::infinity();
  int programs_ = 0;  // solved
  bool out_of_time_ = false;
  bool out_of_work_ = false;
};

Search::Search(const SlotProgram& program, const TreeEffort& effort)
    : program_(program), effort_(effort), pricing_(program) {
  begin_columns();
}

// Every job is done once, and no slot has more GPUs than there are. A job that is never finished
// costs what it costs; one that is not even that, which some cases forbid, more than any solution.
void Search::begin_columns() {
  std::vector<LinearModel::Limits> rows(jobs(), {1, 1});
  rows.resize(jobs() + program_.slots, {-kNoLimit, program_.gpus});
  master_ = std::make_unique<ColumnProgram>(rows);
  plans_.clear();
  costs_.clear();
  double all = 1;
  for (const SlotTask& task : program_.tasks) all += program_.late_s(task, program_.slots);
  for (std::size_t job = 0; job < jobs(); ++job) {
    const double late = program_.late_s(program_.tasks[job], program_.slots);
    add_column({.job = job, .finish = program_.slots, .late_s = late, .used = {}}, late);
    add_column({.job = job, .finish = program_.slots + 1, .late_s = late, .used = {}},
               kForbidden * all);
  }
  lasting_ = plans_.size();
}

void Search::add_column(const SlotPlan& plan, double cost) {
  std::vector<int> rows{static_cast<int>(plan.job)};
  std::vector<double> values{1};
  for (std::size_t i = 0; i < plan.used.size(); ++i) {
    rows.push_back(static_cast<int>(jobs() + plan.used[i]));
    values.push_back(plan.share(i));
  }
  master_->add_column(cost, rows, values);
  plans_.push_back(plan);
  costs_.push_back(cost);
}

double Search::reduced_cost(const SlotPlan& plan, const LpAnswer& answer) const {
  double cost = plan.late_s - answer.row_prices[plan.job];
  for (std::size_t i = 0; i < plan.used.size(); ++i) {
    cost -= plan.share(i) * answer.row_prices[jobs() + plan.used[i]];
  }
  return cost;
}

std::vector<double> Search::prices_of(const LpAnswer& answer) const {
  std::vector<double> prices;
  for (std::size_t slot = 0; slot < program_.slots; ++slot) {
    prices.push_back(std::max(0.0, -answer.row_prices[jobs() + slot]));
  }
  return prices;
}

// What each job does at these prices, which bounds the case.
std::vector<SlotPlan> Search::try_prices(Case& each, const std::vector<double>& prices,
                                         double& value) {
  std::vector<SlotPlan> plans;
  value = -program_.gpus * std::accumulate(prices.begin(), prices.end(), 0.0);
  for (std::size_t job = 0; job < jobs(); ++job) {
    plans.push_back(pricing_.cheapest(job, each.ranges[job], prices));
    value += plans.back().cost_s();
  }
  if (value > each.bound_s) {
    each.bound_s = value;
    each.prices = prices;
  }
  return plans;
}

// Polyak's rule, as in ascent.cpp: towards a target that is lowered when it is not approached.
void Search::climb(Case& each) {
  double value = 0;
  offer(try_prices(each, each.prices, value));
  if (!std::isfinite(value)) return;
  std::vector<double> now = each.prices;
  std::vector<double> pace(now.size());
  double ambition = kFirstAmbition * (1 + std::fabs(each.bound_s));
  int fruitless = 0;
  for (int round = 0; round < kClimbRounds && effort_.seconds_left() > 0; ++round) {
    if (ambition < kClose * std::max(1.0, each.bound_s)) return;
    const double before = each.bound_s;
    const std::vector<SlotPlan> plans = try_prices(each, now, value);
    const bool progress = value > before + kProgress * ambition;
    fruitless = progress ? 0 : fruitless + 1;
    if (progress) offer(plans);
    if (fruitless > kPatience) {
      ambition /= 2;
      fruitless = 0;
      now = each.prices;
      std::ranges::fill(pace, 0);
      continue;
    }
    step(now, pace, plans, each.bound_s + ambition - value);
  }
}

void Search::step(std::vector<double>& prices, std::vector<double>& pace,
                  const std::vector<SlotPlan>& plans, double rise) const {
  std::vector<double> wanted(prices.size(), -program_.gpus);
  for (const SlotPlan& plan : plans) {
    for (std::size_t i = 0; i < plan.used.size(); ++i) wanted[plan.used[i]] += plan.share(i);
  }
  double steepness = 0;
  for (std::size_t slot = 0; slot < prices.size(); ++slot) {
    pace[slot] = kInertia * pace[slot] + (1 - kInertia) * wanted[slot];
    if (prices[slot] == 0) pace[slot] = std::max(0.0, pace[slot]);
    steepness += pace[slot] * pace[slot];
  }
  if (steepness <= 0) return;
  for (std::size_t slot = 0; slot < prices.size(); ++slot) {
    prices[slot] = std::max(0.0, prices[slot] + rise / steepness * pace[slot]);
  }
}

// Plans for the program to choose from, and for a solution in their order.
void Search::offer(const std::vector<SlotPlan>& plans) {
  std::vector<double> targets;
  for (const SlotPlan& plan : plans) {
    targets.push_back(static_cast<double>(plan.finish));
    if (!plan.used.empty()) add_column(plan, plan.late_s);
  }
  try_order(targets);
}

// Adds the plans that are worth it in the program so answered. True if one was.
bool Search::add_worthy(const std::vector<SlotPlan>& plans, const LpAnswer& answer) {
  bool added = false;
  for (const SlotPlan& plan : plans) {
    if (plan.used.empty() || reduced_cost(plan, answer) > -kReducedCost) continue;
    add_column(plan, plan.late_s);
    added = true;
  }
  return added;
}

// First between the program's prices and the best ones, which keeps them from swinging to and fro.
bool Search::improve(Case& each, const LpAnswer& answer) {
  const std::vector<double> theirs = prices_of(answer);
  std::vector<double> between = theirs;
  for (std::size_t i = 0; i < between.size(); ++i) {
    between[i] = kTowardsBest * each.prices[i] + (1 - kTowardsBest) * theirs[i];
  }
  double value = 0;
  const bool added = add_worthy(try_prices(each, between, value), answer);
  return add_worthy(try_prices(each, theirs, value), answer) || added;
}

void Search::solve(Case& each) {
  for (std::size_t column = 0; column < plans_.size(); ++column) {
    const SlotPlan& plan = plans_[column];
    const bool lasts = plan.finish > program_.slots;
    master_->allow(column, lasts || each.ranges[plan.job].holds(plan.finish));
  }
  climb(each);
  if (close(each.bound_s)) return;
  LpAnswer answer;
  for (int i = 0; i < kProgramsMax && std::isfinite(each.bound_s); ++i) {
    if (programs_++ == effort_.programs_max) {
      out_of_work_ = true;
      return;
    }
    if (effort_.seconds_left() <= 0) {
      out_of_time_ = true;
      return;
    }
    answer = master_->solve();
    if (!answer.optimal) return;
    const bool added = improve(each, answer);
    if (!added || answer.value - each.bound_s <= kClose * std::max(1.0, answer.value)) break;
  }
  if (!answer.optimal) return;
  answer.columns.resize(plans_.size());  // the latest columns have no value yet
  split(each, answer);
  if (plans_.size() > kColumnsMax) purge(answer);
}

// Jobs in the order in which the program finishes them, on average, make a solution; and where one
// is finished partly sooner and partly later, the case can be divided.
void Search::split(Case& each, const LpAnswer& answer) {
  std::vector<Split> splits(jobs());
  std::vector<double> targets(jobs());
  bool possible = true;
  for (std::size_t column = 0; column < plans_.size(); ++column) {
    const double share = answer.columns[column];
    if (share <= kShare) continue;
    const SlotPlan& plan = plans_[column];
    possible = possible && plan.finish <= program_.slots;
    splits[plan.job].shares.push_back({plan.finish, share});
    targets[plan.job] += share * static_cast<double>(plan.finish);
  }
  try_order(targets);
  choose_division(each, splits);
  if (possible && !each.divisible) best_s_ = std::min(best_s_, answer.value);
}

// The job whose lateness is the least decided.
void Search::choose_division(Case& each, const std::vector<Split>& splits) const {
  double most = kShare;
  for (std::size_t job = 0; job < jobs(); ++job) {
    const auto late = [&](std::size_t slot) {
      return program_.late_s(program_.tasks[job], std::min(slot, program_.slots));
    };
    double mean = 0;
    double all = 0;
    for (const auto& [slot, share] : splits[job].shares) {
      mean += share * late(slot);
      all += share;
    }
    if (all <= 0) continue;
    mean /= all;
    double spread = 0;
    std::size_t slot_before = 0;
    for (const auto& [slot, share] : splits[job].shares) {
      spread += share * std::fabs(late(slot) - mean);
      if (late(slot) <= mean) slot_before = std::max(slot_before, slot);
    }
    if (spread <= most || slot_before >= program_.slots) continue;
    most = spread;
    each.divisible = true;
    each.job = job;
    each.slot = slot_before;
  }
}

// In each slot as much as can be done of the jobs with the earliest targets.
void Search::try_order(const std::vector<double>& targets) {
  std::vector<std::size_t> order(jobs());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t job) { return targets[job]; });
  std::vector<double> left;
  for (const SlotTask& task : program_.tasks) left.push_back(task.length / program_.slot);
  double cost = 0;
  for (std::size_t slot = 0; slot < program_.slots; ++slot) {
    double free = program_.gpus;
    for (const std::size_t job : order) {
      if (left[job] <= 0 || program_.tasks[job].first > slot) continue;
      const double done = std::min({1.0, left[job], free});
      free -= done;
      left[job] -= done;
      if (left[job] <= 0) cost += program_.late_s(program_.tasks[job], slot);
    }
  }
  for (std::size_t job = 0; job < jobs(); ++job) {
    if (left[job] > 0) cost += program_.late_s(program_.tasks[job], program_.slots);
  }
  best_s_ = std::min(best_s_, cost);
}

// Columns that are worth the least go; what they bounded stays bounded by the prices of each case.
void Search::purge(const LpAnswer& answer) {
  std::vector<std::pair<double, std::size_t>> ranked;
  for (std::size_t column = lasting_; column < plans_.size(); ++column) {
    ranked.emplace_back(reduced_cost(plans_[column], answer), column);
  }
  std::ranges::sort(ranked);
  const std::vector<SlotPlan> plans = std::move(plans_);
  begin_columns();
  for (std::size_t i = 0; i < std::min(kColumnsKept, ranked.size()); ++i) {
    add_column(plans[ranked[i].second], plans[ranked[i].second].late_s);
  }
}

void Search::divide(std::size_t index) {
  for (const bool by : {true, false}) {
    Case part;
    part.ranges = cases_[index].ranges;
    part.prices = cases_[index].prices;
    SlotRange& range = part.ranges[cases_[index].job];
    (by ? range.high : range.low) = cases_[index].slot + (by ? 0 : 1);
    solve(part);
    (by ? cases_[index].by : cases_[index].after) = cases_.size();
    cases_.push_back(std::move(part));
  }
}

SlotTree Search::tree() const {
  SlotTree tree{static_cast<std::int64_t>(program_.slot), program_.slots};
  std::vector<std::size_t> open{0};
  while (!open.empty()) {
    const Case& each = cases_[open.back()];
    open.pop_back();
    SlotTreeNode node{.job = each.job, .slot = each.slot, .leaf = each.by == 0};
    if (!node.leaf) {
      open.push_back(each.after);
      open.push_back(each.by);
    } else {
      node.job = node.slot = 0;
      for (const double price : each.prices) {
        const double a_second = price / program_.slot_s();
        node.prices.push_back(std::round(a_second * kPriceDigits) / kPriceDigits);
      }
      while (!node.prices.empty() && node.prices.back() == 0) node.prices.pop_back();
    }
    tree.nodes.push_back(std::move(node));
  }
  return tree;
}

// Best first: the case with the least bound is divided, because that is the bound of the whole.
// Whenever it stops, what it has proven holds; dividing further only raises it.
TreeFound Search::run(const std::vector<double>& prices, double prices_slot) {
  Case whole;
  whole.ranges.assign(jobs(), {0, program_.slots});
  for (std::size_t slot = 0; slot < program_.slots; ++slot) {
    const auto at =
        static_cast<std::size_t>(static_cast<double>(slot) * program_.slot / prices_slot);
    whole.prices.push_back(at < prices.size() ? prices[at] * program_.slot_s() : 0);
  }
  std::vector<double> dues;
  for (const SlotTask& task : program_.tasks) dues.push_back(task.due);
  try_order(dues);
  solve(whole);
  cases_.push_back(std::move(whole));
  using Ranked = std::pair<double, std::size_t>;
  std::priority_queue<Ranked, std::vector<Ranked>, std::greater<>> open;
  open.emplace(cases_[0].bound_s, 0);
  TreeFound found;
  for (;;) {
    const auto [bound, index] = open.top();
    found.bound_s = bound;
    found.end = TreeEnd::kOptimal;
    if (close(bound) || !std::isfinite(bound)) break;
    found.end = out_of_time_ ? TreeEnd::kTimeLimit : TreeEnd::kWorkLimit;
    if (out_of_time_ || out_of_work_ || !cases_[index].divisible) break;
    if (cases_.size() + 2 > std::min(effort_.nodes_max, kTreeNodesMax)) break;
    open.pop();
    divide(index);
    open.emplace(cases_[cases_.size() - 2].bound_s, cases_.size() - 2);
    open.emplace(cases_[cases_.size() - 1].bound_s, cases_.size() - 1);
  }
  found.incumbent_s = best_s_;
  found.tree = tree();
  return found;
}

}  // namespace

std::string_view name_of(TreeEnd end) {
  switch (end) {
    case TreeEnd::kOptimal:
      return "optimal";
    case TreeEnd::kTimeLimit:
      return "time limit";
    case TreeEnd::kWorkLimit:
      break;
  }
  return "work limit";
}

TreeFound search_tree(const SlotProgram& program, const TreeEffort& effort,
                      const std::vector<double>& prices, double prices_slot) {
  CHECK(!program.tasks.empty() && prices_slot > 0);
  return Search(program, effort).run(prices, prices_slot);
}

}  // namespace partita::bounds
