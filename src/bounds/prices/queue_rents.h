// What a second of a GPU is worth when jobs queue: prices to begin a search with.
#pragma once

#include <vector>

#include "bounds/problem.h"
#include "bounds/slots/job_response.h"

namespace partita::bounds {

// One machine with the speed of the fleet serves the jobs by modified due date, each with its least
// work and to its end. A second more of it would end all late jobs that follow without a break a
// second sooner: by interval, how many those are, for each GPU. The tail has none. Work is the jobs
// times those that wait.
std::vector<double> queue_rents(const Problem& problem, const PriceGrid& grid);

}  // namespace partita::bounds
