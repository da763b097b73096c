// The training of systems that place jobs, on the layouts of the run.
#pragma once

#include "learn/trainer.h"

namespace partita::learn {

// REQUIRES: the system decides placements. Fails when a day cannot be run, a checkpoint does not
// fit, or a piece to leave out is not known.
Result<Trained> train_placement(const TrainOptions& options);

}  // namespace partita::learn
