#include "policies/registry.h"

#include <fmt/format.h>

#include <optional>

#include "base/named.h"
#include "policies/learned/learned_scheduler.h"
#include "policies/orders/apparent_tardiness.h"
#include "policies/orders/average_laxity.h"
#include "policies/orders/category.h"
#include "policies/orders/earliest_deadline.h"
#include "policies/orders/first_come.h"
#include "policies/orders/least_laxity.h"
#include "policies/orders/modified_due_date.h"
#include "policies/orders/shortest.h"
#include "policies/placements/marginal_et.h"
#include "policies/placements/most_packed.h"
#include "policies/placements/random_slice.h"
#include "policies/placements/ranked.h"
#include "policies/placements/requested.h"
#include "policies/schedulers/composed.h"

namespace partita::policies {
namespace {

template <typename Order>
std::unique_ptr<JobOrder> make_order() {
  return std::make_unique<Order>();
}

template <typename Rule>
std::unique_ptr<SliceRule> make_rule(std::uint64_t) {
  return std::make_unique<Rule>();
}

using Otherwise = RankedRuleTraits::Otherwise;

std::unique_ptr<SliceRule> make_slowest(std::uint64_t) {
  return std::make_unique<RankedRule>(
      RankedRuleTraits{smaller_first, true, Otherwise::kEarliestFinish});
}
std::unique_ptr<SliceRule> make_wide_first(std::uint64_t) {
  return std::make_unique<RankedRule>(
      RankedRuleTraits{wide_gpus_first, true, Otherwise::kEarliestFinish});
}
std::unique_ptr<SliceRule> make_fastest(std::uint64_t) {
  return std::make_unique<RankedRule>(
      RankedRuleTraits{larger_first, false, Otherwise::kEarliestFinish});
}
std::unique_ptr<SliceRule> make_earliest(std::uint64_t) {
  return std::make_unique<RankedRule>(
      RankedRuleTraits{smaller_first, false, Otherwise::kEarliestFinish});
}
std::unique_ptr<SliceRule> make_largest(std::uint64_t) {
  return std::make_unique<RankedRule>(RankedRuleTraits{larger_first, false, Otherwise::kFirst});
}
std::unique_ptr<SliceRule> make_smallest(std::uint64_t) {
  return std::make_unique<RankedRule>(RankedRuleTraits{smaller_first, false, Otherwise::kFirst});
}
std::unique_ptr<SliceRule> make_first(std::uint64_t) {
  return std::make_unique<RankedRule>(RankedRuleTraits{lower_gpu_first, false, Otherwise::kFirst});
}
std::unique_ptr<SliceRule> make_requested(std::uint64_t) {
  return std::make_unique<Requested>(only_requested_profile, lower_gpu_first);
}
std::unique_ptr<SliceRule> make_half_speed(std::uint64_t) {
  return std::make_unique<Requested>(half_speed_profile, lower_gpu_first);
}
std::unique_ptr<SliceRule> make_tightest(std::uint64_t) {
  return std::make_unique<Requested>(tightest_profiles, larger_first);
}
std::unique_ptr<SliceRule> make_random(std::uint64_t seed) {
  return std::make_unique<RandomSlice>(seed);
}

constexpr bool kTimes = true;
constexpr bool kDeadlines = true;

decide::PolicyFacts facts(std::string name, std::string summary, bool times, bool deadlines) {
  decide::PolicyFacts made;
  made.name = std::move(name);
  made.summary = std::move(summary);
  made.needs_run_times = times;
  made.needs_deadlines = deadlines;
  return made;
}

decide::PolicyFacts requested_facts() {
  decide::PolicyFacts made = facts(
      "requested", "a slice of the profile the job asks for, or it waits", kTimes, kDeadlines);
  made.may_wait = true;
  return made;
}

decide::PolicyFacts half_speed_facts() {
  decide::PolicyFacts made =
      facts("half-speed", "a slice of the smallest profile at least half as fast, or it waits",
            kTimes, !kDeadlines);
  made.may_wait = true;
  return made;
}

decide::PolicyFacts tightest_facts() {
  decide::PolicyFacts made =
      facts("tightest", "a slice of the least memory that holds the job, or it waits", !kTimes,
            !kDeadlines);
  made.may_wait = true;
  return made;
}

decide::PolicyFacts random_facts() {
  decide::PolicyFacts made = facts("random", "any free slice that fits", !kTimes, !kDeadlines);
  made.needs_seed = true;
  return made;
}

decide::PolicyFacts marginal_et_facts() {
  decide::PolicyFacts made =
      facts("marginal-et", "the slice that adds least to energy and tardiness", kTimes, kDeadlines);
  made.needs_power_curve = true;
  return made;
}

// Of a row of orders or placements.
constexpr auto kNameOf = [](const auto& row) -> const std::string& { return row.facts.name; };

struct Composition {
  const OrderRow* order = nullptr;
  const PlacementRow* placement = nullptr;
  const SchedulerRow* named = nullptr;  // null for "order+placement"
};

// The path of "learned:FILE", or nothing when the name is another.
std::optional<std::string> learned_path(std::string_view name) {
  const std::size_t at = scheduler_file_at(name);
  if (at == std::string_view::npos) return {};
  return std::string(name.substr(at));
}

Result<Composition> resolve(std::string_view name) {
  const auto named = find_named("scheduler", name, schedulers(), &SchedulerRow::name);
  const auto plus = name.find('+');
  if (!named && plus == std::string_view::npos) {
    return Error{named.error().message + ", or ORDER+PLACEMENT as in mdd+slowest, or learned:FILE"};
  }
  Composition composition;
  if (named) composition.named = *named;
  const auto order = find_named("order of jobs", named ? (*named)->order : name.substr(0, plus),
                                orders(), kNameOf);
  if (!order) return order.error();
  composition.order = *order;
  const auto placement = find_named(
      "placement", named ? (*named)->placement : name.substr(plus + 1), placements(), kNameOf);
  if (!placement) return placement.error();
  composition.placement = *placement;
  return composition;
}

}  // namespace

const std::vector<OrderRow>& orders() {
  static const std::vector<OrderRow> kRows = {
      {facts("atc", "apparent tardiness cost, k = 2", kTimes, kDeadlines),
       make_order<ApparentTardiness>},
      {facts("category", "jobs that need large slices first, then earliest deadline", kTimes,
             kDeadlines),
       make_order<Category>},
      {facts("edf", "earliest deadline first", !kTimes, kDeadlines), make_order<EarliestDeadline>},
      {facts("fifo", "first come, first served", !kTimes, !kDeadlines), make_order<FirstCome>},
      {facts("lalf", "least laxity first, needed time averaged over slice sizes", kTimes,
             kDeadlines),
       make_order<AverageLaxity>},
      {facts("llf", "least laxity first, needed time on the fastest slice", kTimes, kDeadlines),
       make_order<LeastLaxity>},
      {facts("mdd",
             "modified due date: deadline or completion on the slice to be filled, the later",
             kTimes, kDeadlines),
       make_order<ModifiedDueDate>},
      {facts("mdd-fastest", "modified due date: deadline or earliest completion, the later", kTimes,
             kDeadlines),
       make_order<FastestModifiedDueDate>},
      {facts("sjf", "shortest job first", kTimes, !kDeadlines), make_order<Shortest>},
  };
  return kRows;
}

const std::vector<PlacementRow>& placements() {
  static const std::vector<PlacementRow> kRows = {
      {facts("earliest", "earliest finish, ties to the smaller slice", kTimes, !kDeadlines),
       make_earliest},
      {facts("fastest", "earliest finish, ties to the larger slice", kTimes, !kDeadlines),
       make_fastest},
      {facts("first", "first free slice, GPUs and slots by number", !kTimes, !kDeadlines),
       make_first},
      {half_speed_facts(), make_half_speed},
      {facts("largest", "largest free slice", !kTimes, !kDeadlines), make_largest},
      {marginal_et_facts(), make_rule<MarginalEt>},
      {facts("most-packed", "busiest GPU with a slice that is on time, slowest such slice", kTimes,
             kDeadlines),
       make_rule<MostPacked>},
      {random_facts(), make_random},
      {requested_facts(), make_requested},
      {facts("slowest", "slowest slice that is on time, else earliest finish", kTimes, kDeadlines),
       make_slowest},
      {facts("smallest", "smallest free slice", !kTimes, !kDeadlines), make_smallest},
      {tightest_facts(), make_tightest},
      {facts("wide-first", "as slowest, but GPU by GPU, those with the largest slices first",
             kTimes, kDeadlines),
       make_wide_first},
  };
  return kRows;
}

const std::vector<SchedulerRow>& schedulers() {
  static const std::string kA = "Lipe et al., CCGrid 2025";
  static const std::string kAReconstructed = kA + " (reconstructed: the rule is not published)";
  static const std::string kB = "SMART-MIG, IPDPS 2026";
  static const std::string kC = "Hisaria et al., technical report 2025";
  static const std::vector<SchedulerRow> kRows = {
      {"edf-ss", "edf", "slowest", "earliest deadline, slowest slice that is on time", kA},
      {"edf-fs", "edf", "fastest", "earliest deadline, fastest free slice", kAReconstructed},
      {"llf", "llf", "slowest", "least laxity, slowest slice that is on time", kAReconstructed},
      {"lalf", "lalf", "slowest", "least average laxity, slowest slice that is on time",
       kAReconstructed},
      {"mp-edf", "edf", "most-packed", "earliest deadline, most packed GPU first", kB},
      {"met", "edf", "marginal-et", "earliest deadline, least marginal energy and tardiness", kB},
      {"cedf", "category", "wide-first", "categorical earliest deadline, widest GPUs first", kB},
      {"random", "edf", "random", "earliest deadline, random free slice", kB},
      {"largest-first", "edf", "largest", "earliest deadline, largest free slice", kC},
      {"smallest-first", "edf", "smallest", "earliest deadline, smallest free slice", kC},
      {"eft", "edf", "earliest", "earliest deadline, slice with the earliest finish", kC},
      {"first-fit", "edf", "first", "earliest deadline, first free slice that fits", kC},
      {"fifo", "fifo", "first", "first come first served, first free slice that fits", "textbook"},
      {"sjf", "sjf", "slowest", "shortest job, slowest slice that is on time", "textbook"},
      {"mdd", "mdd", "slowest", "modified due date, slowest slice that is on time",
       "Baker and Bertrand 1982"},
      {"mdd-fastest", "mdd-fastest", "slowest",
       "modified due date by the fastest size, slowest slice that is on time",
       "Baker and Bertrand 1982"},
      {"atc", "atc", "slowest", "apparent tardiness cost, slowest slice that is on time",
       "Vepsalainen and Morton 1987"},
  };
  return kRows;
}

std::size_t scheduler_file_at(std::string_view name) {
  constexpr std::string_view kPrefix = "learned:";
  return name.starts_with(kPrefix) ? kPrefix.size() : std::string_view::npos;
}

bool waits_for_one_profile(std::string_view scheduler) {
  const Result<Composition> composition = resolve(scheduler);
  return composition.ok() && composition->placement->facts.may_wait;
}

Result<decide::PolicyFacts> scheduler_facts(std::string_view name) {
  if (const auto path = learned_path(name)) {
    return learned_scheduler_facts(std::string(name), *path);
  }
  const Result<Composition> composition = resolve(name);
  if (!composition) return composition.error();
  const decide::PolicyFacts& order = composition->order->facts;
  const decide::PolicyFacts& placement = composition->placement->facts;
  decide::PolicyFacts both;
  both.name = std::string(name);
  if (composition->named != nullptr) {
    both.summary = composition->named->summary;
    both.source = composition->named->source;
  } else {
    both.summary = fmt::format("{}; {}", order.summary, placement.summary);
  }
  both.needs_run_times = order.needs_run_times || placement.needs_run_times;
  both.needs_deadlines = order.needs_deadlines || placement.needs_deadlines;
  both.needs_power_curve = placement.needs_power_curve;
  both.needs_seed = placement.needs_seed;
  return both;
}

Result<std::unique_ptr<decide::Scheduler>> make_scheduler(std::string_view name,
                                                          std::uint64_t seed) {
  if (const auto path = learned_path(name)) return load_learned_scheduler(*path);
  const Result<Composition> composition = resolve(name);
  if (!composition) return composition.error();
  return std::unique_ptr<decide::Scheduler>(std::make_unique<ComposedScheduler>(
      composition->order->make(), composition->placement->make(seed)));
}

}  // namespace partita::policies
