// Where a job could run soonest, on an instance that exists or could be made.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "decide/view.h"

namespace partita::decide {

// First memory slices of instances, bit i for slice i.
using InstanceStarts = std::uint16_t;

// What a job that waits needs on a slice of the size, with its restart.
Micros need_on(const ActiveJob& job, std::size_t size_index);
std::size_t size_index_of(const mig::GpuModel& model, std::size_t profile);
// The least over all profiles that fit it.
Micros least_need(const mig::GpuModel& model, const ActiveJob& job);

struct FoundPlace {
  GpuId gpu;
  mig::Placement place;
  Micros drained;  // when the jobs that are in the way will have ended
  Micros start;    // and the instance is there
  Micros end;
  int busy = 0;  // instances in the way that hold a job
  bool exists = false;

  bool better_than(const FoundPlace& other) const {
    if (exists != other.exists) return exists;
    return end != other.end ? end < other.end : busy < other.busy;
  }
};

struct PlaceSearch {
  // GPUs that may be used.
  std::function<bool(GpuId)> usable;
  // What the place must leave room for on a GPU.
  std::function<mig::Layout(GpuId)> beside;
};

// Where the job is expected to end first; of equal ones where less is in the way, then by number.
// An instance that exists and stays is taken before one that would have to be made: emptying a part
// of a GPU for a job costs others more than giving it the next slice that fits.
// One look at every place of the fleet.
std::optional<FoundPlace> find_place(const View& view, const ActiveJob& job,
                                     const PlaceSearch& search);

// Instances of the GPU that exist or are being made or unmade and cannot stay beside the place.
InstanceStarts in_the_way(const View& view, GpuId gpu, mig::Placement place);

}  // namespace partita::decide
