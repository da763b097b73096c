// A day of the papers' generator as a trace.
#pragma once

#include <cstdint>

#include "workload/job.h"

namespace partita::cases {

struct PapersDay {
  double rate = 20;
  double deadline_low = 1.0;
  double deadline_high = 1.5;
  double hours = 24;
};

workload::Trace papers_day(const PapersDay& day, std::uint64_t seed);

}  // namespace partita::cases
