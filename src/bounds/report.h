// All bounds of one problem: each with its name, its value, its time and what became of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bounds/prices/price_bound.h"
#include "bounds/problem.h"
#include "bounds/slots/job_response.h"
#include "bounds/slots/slot_tree.h"

namespace partita::bounds {

// What is bounded from below, in joules, mean seconds a job, and the unit of ET.
enum class Kind : std::uint8_t { kEnergy, kTardiness, kEt };
std::string_view name_of(Kind kind);
std::optional<Kind> kind_named(std::string_view name);

// What a solver claims and nothing proves.
struct SolverWord {
  std::string solver;
  double value = 0;
  std::string status;
};

// A bound and what proves it. `name` says how it was found; docs/concepts/bounds.md has a section
// for each.
struct Bound {
  Kind kind = Kind::kEnergy;
  std::string name;
  double value = 0;
  double seconds = 0;               // it took
  std::string status = "done";      // or "time limit", "skipped: ..."
  std::optional<PriceGrid> prices;  // of the names "prices" and "non-preemptive"
  std::optional<SlotTree> tree;     // of "mip"
  std::optional<SolverWord> word;   // of "mip"

  bool skipped() const { return status.starts_with("skipped"); }
};

// The name of the bounds that hold only of schedules that never interrupt a job.
inline constexpr std::string_view kNonPreemptive = "non-preemptive";

struct Request {
  std::vector<Kind> kinds{Kind::kEnergy, Kind::kTardiness, Kind::kEt};
  double et_a = 2e-7;
  double seconds_max = 60;  // for all of them
  bool use_mip = true;
  // kWhole only where a job that was started runs to its end: then there are also bounds that hold
  // of such schedules alone.
  Runs runs = Runs::kSplit;
  // Evaluations of prices on each grid; 0: sixty, and more where there are few jobs to evaluate.
  int rounds = 0;
  // Seconds since some instant. Without one, nothing is timed and no limit strikes.
  std::function<double()> clock = [] { return 0.0; };
};

struct BoundReport {
  std::vector<Bound> bounds;
  // The largest bound of the kind, if one was asked for.
  const Bound* best(Kind kind) const;
};

BoundReport find_bounds(const Problem& problem, const Request& request);

// What a price bound minimises, and how its value becomes one of the kind.
Weights weights_of(Kind kind, const Problem& problem, double et_a);
double from_value(Kind kind, const Problem& problem, double et_a, double value);

// ET from a bound on energy and one on mean tardiness, joules and seconds.
double sum_of(double et_a, double energy_j, double tardiness_s);

// The value that the certificate of a bound proves, found anew in exact or directed arithmetic; an
// error says why it proves none. Bounds by formula are computed again.
Result<double> check_bound(const Problem& problem, double et_a, const Bound& bound);

}  // namespace partita::bounds
