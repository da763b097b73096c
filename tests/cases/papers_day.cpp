#include "cases/papers_day.h"

#include "base/check.h"
#include "workload/generators/papers.h"

namespace partita::cases {

workload::Trace papers_day(const PapersDay& day, std::uint64_t seed) {
  workload::PapersOptions options;
  options.hours = day.hours;
  options.rate = day.rate;
  options.mix.deadline_low = day.deadline_low;
  options.mix.deadline_high = day.deadline_high;
  options.seed = seed;
  auto source = workload::make_papers(options);
  CHECK(source.ok());
  Result<workload::Trace> trace = workload::read_all(**source);
  CHECK(trace.ok());
  return *std::move(trace);
}

}  // namespace partita::cases
