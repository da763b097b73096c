// A day in detail: who ran where and when, what each GPU offered, power and queue, as
// NAME.day.json holds it (docs/reference/results.md).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/run.h"
#include "workload/job.h"

namespace partita::experiment {

// Which run it is; empty names are left out.
struct DayIdentity {
  std::string setting;
  std::string policy;
  std::string scheduler;
  std::string repartition;
  std::uint64_t seed = 0;
  std::vector<double> jobs_per_hour = {};  // expected, by hour from the begin; empty: not known
};

// A page draws this many pieces at once without stuttering.
inline constexpr std::size_t kDayPiecesMax = 150'000;

// Tables as columns. A run whose arrivals end within 25 hours is there whole. Of a longer one, and
// of one with more than `pieces_max` pieces, it is the 24 hours (12, 6, ... until few enough) with
// the most arrivals, times counted from their begin, and `window_s` says which they were.
// REQUIRES: the run was made with keep_jobs and keep_schedule.
nlohmann::ordered_json day_json(const DayIdentity& identity, const workload::Trace& trace,
                                const sim::RunOptions& options, const sim::RunResult& result,
                                std::size_t pieces_max = kDayPiecesMax);

}  // namespace partita::experiment
