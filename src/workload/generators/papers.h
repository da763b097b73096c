// The papers' day: Poisson arrivals whose rate changes by the hour, with the papers' job mix.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "workload/generators/papers_mix.h"

namespace partita::workload {

// Jobs a minute at multiplier 1, by hour of the day: SMART-MIG (IPDPS 2026), Fig. 5 and notebooks.
inline constexpr std::array<double, 24> kPapersHourlyRates{
    .111, .083, .085, .100, .137, .169, .171, .169, .179, .191, .201, .188,
    .170, .177, .168, .171, .163, .138, .120, .111, .129, .116, .106, .104};

struct PapersOptions {
  double hours = 24;  // arrivals in [0, hours); the rates repeat every day
  double rate = 20;   // multiplies the hourly rates
  std::array<double, 24> hourly_rates = kPapersHourlyRates;  // jobs a minute
  PapersMixOptions mix;
  std::uint64_t seed = 1;
};

// Jobs in order of arrival with ids 1, 2, ... Arrivals are thinned from the highest rate, which is
// exact at the boundaries of the hours. (Drawing each gap with the rate of the hour in which the
// last job came, as the notebooks do, lets a slow hour reach into the next.)
Result<std::unique_ptr<JobSource>> make_papers(const PapersOptions& options);

}  // namespace partita::workload
