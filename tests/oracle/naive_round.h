// One pass of placing waiting jobs, as the second simulator does it.
#pragma once

#include <vector>

#include "oracle/naive_rules.h"
#include "oracle/naive_state.h"

namespace partita::oracle {

// Compute slices of the instances that hold a job.
int busy_compute(const mig::GpuModel& model, const Gpu& gpu);

// The instances that exist and do not close, GPU by GPU and slot by slot; with `idle_only` those
// that hold no job, else all as if every instance were free.
std::vector<Free> free_slices(const Setup& setup, const std::vector<Gpu>& gpus, bool idle_only);

// By key, then by arrival.
std::vector<Waiting> in_order(const Setup& setup, std::vector<Waiting> jobs, const Round& round);

// Takes the slice out of the free ones and tells the others of its GPU.
Seat take(const mig::GpuModel& model, std::vector<Free>& free, std::size_t index, std::size_t job);

// Where waiting jobs go that only idle instances are given to. Keys are computed anew for every
// instance that is filled.
std::vector<Seat> fill_idle(const Setup& setup, const std::vector<Gpu>& gpus,
                            std::vector<Waiting> waiting, Micros now, Rng& rng);

}  // namespace partita::oracle
