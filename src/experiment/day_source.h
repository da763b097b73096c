// DaySource: where the days of a setting come from: a generator and a seed, or pieces of a trace.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/seeds.h"
#include "workload/generators/migm.h"
#include "workload/generators/papers.h"
#include "workload/generators/poisson.h"
#include "workload/generators/realistic.h"
#include "workload/job.h"

namespace partita::experiment {

struct DaySource {
  std::string text = {};  // all that a day depends on beside its seed, for the definition
  Micros window = {};     // energy is counted at least up to here
  std::uint64_t test_days_max = kDaysMax;
  std::uint64_t tune_days_max = kDaysMax;  // and as many to train on
  // The day of a seed (seeds.h) below these limits. May be called on any thread; the same seed
  // gives the same day.
  std::function<Result<workload::Trace>(std::uint64_t seed)> make = {};
};

// The seed in the options is not used: each day has its own.
DaySource migm_days(const workload::MigmOptions& options);
DaySource papers_days(const workload::PapersOptions& options);
DaySource poisson_days(const workload::PoissonOptions& options);
DaySource realistic_days(const workload::RealisticOptions& options);

// The first `count` days of one role, or as many as the source has.
Result<std::vector<workload::Trace>> make_days(const DaySource& source, Role role,
                                               std::uint64_t count);

// The same jobs as if their speed were proportional to the slices, from the time on one slice;
// deadlines stay as tight. REQUIRES: every job has a time on one slice and on the whole GPU.
DaySource linearised(const DaySource& days);

struct Windows {
  Micros length = Micros::seconds(86'400);
  // Of the jobs, this share is kept, chosen by position: a fleet smaller than the one that the
  // trace is of. The same share of one trace always keeps the same jobs.
  double share = 1;
  std::uint64_t jobs_min = 20;  // a window with fewer says nothing and is passed over
};

// All windows with enough jobs, in order, each with its time beginning at 0. `name` is for
// messages. Fails when no window has enough jobs.
Result<std::vector<workload::Trace>> trace_windows(const workload::Trace& trace,
                                                   const std::string& name, const Windows& windows);

// A day is one of these windows. Every third of them is a day to tune (and train) on, the others
// are test days, so that no day is both.
Result<DaySource> trace_days(const workload::Trace& trace, const std::string& name,
                             const Windows& windows);

}  // namespace partita::experiment
