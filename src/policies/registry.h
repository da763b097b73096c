// The tables of policies: every name, what it says of itself, and how it is made.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "decide/policy_facts.h"
#include "decide/repartitioner.h"
#include "decide/scheduler.h"
#include "policies/job_order.h"
#include "policies/slice_rule.h"

namespace partita::policies {

struct OrderRow {
  decide::PolicyFacts facts;
  std::unique_ptr<JobOrder> (*make)();
};

struct PlacementRow {
  decide::PolicyFacts facts;
  std::unique_ptr<SliceRule> (*make)(std::uint64_t seed);
};

// A name for one order with one placement.
struct SchedulerRow {
  std::string name;
  std::string order;
  std::string placement;
  std::string summary;
  std::string source;
};

const std::vector<OrderRow>& orders();
const std::vector<PlacementRow>& placements();
const std::vector<SchedulerRow>& schedulers();
// Repartitioners by the word before the colon; `summary` shows the whole syntax.
const std::vector<decide::PolicyFacts>& repartitioners();

// When a repartitioner changes layouts.
enum class LayoutHabit : std::uint8_t {
  kNever,
  kOnDemand,  // an instance for each job, as it comes
  kForQueue,  // for the jobs that wait, and never from under one that runs
  kPlanned,   // by the clock or by what is expected; an instance may go while jobs want it
};

// What a repartitioner is like, for those who choose among them or run one live.
struct RepartitionerTraits {
  LayoutHabit habit = LayoutHabit::kNever;
  bool whole_gpus = false;      // every GPU is one slice
  std::string budget_key = {};  // of what it may simulate at a turn; empty: it does not look ahead
  // What stands between the colon and the name of a file, where it can be read from one.
  std::optional<std::string> file_mark = {};

  bool looks_ahead() const { return !budget_key.empty(); }
};
// By the word before the colon; an unknown one has those of nothing in particular.
const RepartitionerTraits& repartitioner_traits(std::string_view text);

// Where the name of the file begins that the policy is read from; npos where it is read from none.
std::size_t scheduler_file_at(std::string_view name);
std::size_t repartitioner_file_at(std::string_view text);

// Whether jobs wait for a slice of exactly the profile that the placement asks for.
bool waits_for_one_profile(std::string_view scheduler);

// What the named scheduler, the composition "order+placement" or the model of "learned:FILE" needs.
Result<decide::PolicyFacts> scheduler_facts(std::string_view name);

Result<std::unique_ptr<decide::Scheduler>> make_scheduler(std::string_view name,
                                                          std::uint64_t seed);

// "none", "static:1,2,2", "timetable:08:00=9,20:00=2".
Result<std::unique_ptr<decide::Repartitioner>> make_repartitioner(std::string_view text,
                                                                  const mig::GpuModel& model,
                                                                  std::uint32_t gpus);

}  // namespace partita::policies
